import type { ParentLocation } from '../../../resource/location.js'
import type { Resource } from '../../../resource/resource.js'
import { memberPath } from '../../../resource/row-path.js'
import type { Id } from '../../../resource/row.js'
import { nameMarked } from '../../byte-order-mark.js'
import type { View, WriterContext } from '../../format.js'
import { chooseLinks, type Navigation, type PossibleNavigation, type Unlisted } from '../../navigation.js'
import { hasChooseButton } from '../forms/field-builder.js'
import { compile, html, readLater, type Markup, readNow, type ReadContext } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { directionOf } from '../languages/language.js'
import type { Translate } from '../languages/phrases.js'
import { wordsOf } from '../names.js'
import type { HtmlOptions, PageOptions } from '../options.js'
import { type Brand, dependsOnRequest, type PageBrand, resolveBrand } from '../style/brand.js'
import { renderNotices } from '../views/frame-view.js'
import type { Alternate, Form, Link, Page, PageFrame } from '../views/model.js'
import type { ResolvedViews, Views } from '../views/types.js'
import { resolveViews } from '../views/views.js'
import { capitalize } from '../../../util/capitalize.js'
import { nameInWords } from './action-buttons.js'

const XHTML = 'application/xhtml+xml'

/** The links from a page to others. */
interface OtherPages {
  readonly crumbs?: readonly Link[]
  readonly alternates?: readonly Alternate[]
}

/** The context that fills a page. */
export interface PageContext {
  readonly view: View
  readonly paths: PagePaths
}

/** The paths for the links of a page, at one location. */
export interface PagePaths {
  /** The path of the list, or of the singleton. */
  readonly collection: string
  /** Whether there is a list. */
  readonly isListed: boolean
  /** The path before the ids of rows. */
  readonly members: string
  /** The links to the rows above, and to the lists that they are in, from the outermost to the nearest. */
  readonly parents: readonly Link[]
}

// The links of a page share this function, so `compile` calls it once.
export const collectionOf = ({ paths }: PageContext): string => paths.collection

/** The dependencies of all pages of a resource. */
export interface PageSource {
  readonly resource: Resource
  readonly context: WriterContext
  readonly messages: PageMessages
  readonly translate: Translate
}

export type Write<C> = (context: C) => string

/** The views that render a list. */
const LIST_VIEWS: ReadonlyArray<keyof Views> = ['layout', 'list', 'form', 'field']

/** Returns `false` if the app replaces a view of lists, or if no schema declares the columns of a list. */
export function canPrepareFrame ({ open }: Pick<Resource, 'open'>, { views }: Pick<HtmlOptions, 'views'>): boolean {
  return !open && LIST_VIEWS.every((name) => views[name] === undefined)
}

/** Compiles a function that makes the brand of a page. It is the same on every page if no part of it is a function. */
function compileBrand (brand: Brand, lang: string): (of: ReadContext<PageContext>) => PageBrand {
  const make = (of: ReadContext<PageContext>): PageBrand => resolveBrand(brand, (part) =>
    of(({ view: { request } }) => html`${part({ request, lang })}`))
  if (dependsOnRequest(brand)) return make
  const fixed = make(readLater())
  return () => fixed
}

/** Compiles a function that makes the bar of a page. Unless the page is an error, it may always be the same. */
function compileNavigation (
  possible: PossibleNavigation | undefined
): (of: ReadContext<PageContext>, context: PageContext) => Navigation | undefined {
  if (possible === undefined) return () => undefined
  const isGuarded = possible.links.some(({ isGuarded }) => isGuarded)
  const fixed = chooseLinks(possible, new Set())
  return (of, { view: { unlisted } }) => unlisted !== undefined && !isGuarded
    ? fixed
    : of(({ view: { unlisted } }) => chooseLinks(possible, unlisted))
}

/** Makes the parts that all pages of a resource share: the document around the content, links and views. */
export class PageFrames {
  readonly #resource: Resource
  readonly #messages: PageMessages
  readonly #translate: Translate
  readonly #suffixes: readonly string[]
  readonly #views: ResolvedViews
  readonly #document: Pick<PageFrame, 'stylesheet' | 'lang' | 'dir' | 'paths'>
  readonly #makeNavigation: ReturnType<typeof compileNavigation>
  readonly #makeBrand: (of: ReadContext<PageContext>) => PageBrand
  readonly #notices: Markup
  readonly #hasOwnRecord: boolean
  readonly #canFrame: boolean
  readonly #others: ReadonlyArray<Omit<Alternate, 'href'> & { readonly suffix: string }>

  constructor (
    { resource, context, messages, translate }: PageSource,
    { language: { tag: lang }, views, brand }: PageOptions,
    stylesheet: string
  ) {
    this.#resource = resource
    this.#messages = messages
    this.#translate = translate
    this.#suffixes = context.formats.map(({ name }) => name)
    this.#others = context.formats.filter(({ name }) => name !== 'html').map(({ name, mediaTypes, spreadsheet }) => {
      const suffix = spreadsheet === true ? `?format=${nameMarked(name)}` : `.${name}`
      return { label: name.toUpperCase(), suffix, mediaType: mediaTypes[0] as string }
    })
    this.#views = resolveViews(views)
    this.#document = { stylesheet, lang, dir: directionOf(lang), paths: context.paths }
    this.#makeNavigation = compileNavigation(context.navigation(lang))
    this.#makeBrand = compileBrand(brand, lang)
    this.#notices = renderNotices(messages)
    this.#canFrame = canPrepareFrame(resource, { views })
    this.#hasOwnRecord = views.record !== undefined
  }

  /** Makes the members of every page. */
  frame (of: ReadContext<PageContext>, title: string, { view, paths }: PageContext, links: OtherPages = {}): PageFrame {
    const { crumbs = this.crumbsOf(of, paths), alternates = [] } = links
    const { plural, singular, singleton } = this.#resource
    return {
      ...this.#document,
      brand: this.#makeBrand(of),
      navigation: this.#makeNavigation(of, { view, paths }),
      title,
      parent: crumbs.at(-1),
      crumbs,
      resource: { plural, singular, path: of(collectionOf), singleton },
      alternates,
      messages: this.#messages,
      translate: this.#translate,
      xhtml: view.mediaType === XHTML,
      request: of(({ view }) => view.request)
    }
  }

  render (page: Page): Markup {
    const views = this.#views
    // The compiler does not know that the view of each kind takes pages of that kind.
    const view = views[page.kind] as (page: Page, views: ResolvedViews) => Markup
    return views.layout(page, html`${this.#notices}${view(page, views)}`, views)
  }

  /** Returns a number for the combination of parts on a page. It is negative if they are not known beforehand. */
  keyOf ({ view, paths: { parents, isListed } }: PageContext, kind: Page['kind']): number {
    const { mediaType, refused, choices } = view
    if (!this.#canFrame || refused.size > 0 || (kind === 'record' && this.#hasOwnRecord)) return -1
    const hasButtons = hasChooseButton(choices)
    return (mediaType === XHTML ? 1 : 0) | (hasButtons ? 2 : 0) | (isListed ? 4 : 0) | parents.length << 10
  }

  /** Writes a page. The first page with a key is compiled into the template for the others. */
  write<C> (templates: Array<Write<C>>, key: number, make: (of: ReadContext<C>) => Page, context: C): string {
    if (key < 0) return this.render(make(readNow(context))).toString()
    const write = templates[key] ??= compile(this.render(make(readLater())))
    return write(context)
  }

  pathsOf ({ location, parents, unlisted }: Pick<View, 'location' | 'parents' | 'unlisted'>): PagePaths {
    const { collection, isListed = true, members, parent } = location
    const { singleton, actions } = this.#resource
    return {
      collection,
      isListed: isListed && !singleton && actions.has('list') && unlisted?.has(this.#resource) !== true,
      members,
      parents: this.#linksAbove(parent, parents, unlisted)
    }
  }

  #linksAbove (
    parent: ParentLocation | undefined,
    [name, ...names]: readonly string[],
    unlisted: Unlisted
  ): readonly Link[] {
    if (parent === undefined) return []
    const { resource, id, path, list } = parent
    const { plural, singular, singleton } = resource
    const isListed = list !== undefined && unlisted?.has(resource) !== true
    const words = this.#translate(wordsOf(singular))
    const label = name ?? capitalize(singleton ? words : this.#messages.record(words, id))
    return [
      ...this.#linksAbove(parent.parent, names, unlisted),
      ...(isListed ? [{ label: this.#translate(nameInWords(plural)), href: list }] : []),
      { label, href: path }
    ]
  }

  /** Returns the path of a row. */
  pathOf ({ collection, members }: PagePaths, id: Id): string {
    return this.#resource.singleton ? collection : memberPath(members, id, this.#suffixes)
  }

  /** Returns the path that the forms of a row are posted to. */
  actionOf ({ members }: PagePaths, member: string): string {
    return this.#resource.singleton || this.#resource.memberWrites ? member : members
  }

  /** Returns the links to the pages above the list, or above a singleton. */
  outerCrumbs (of: ReadContext<PageContext>, { parents }: PagePaths): Link[] {
    const at = ({ paths }: PageContext, index: number): Link => paths.parents[index] as Link
    return parents.map((_, index) => ({
      label: of((context) => at(context, index).label),
      href: of((context) => at(context, index).href)
    }))
  }

  /** Returns the links to the pages above a row, and to the row itself if the page is below it. */
  crumbsOf (of: ReadContext<PageContext>, paths: PagePaths, row?: Link): Link[] {
    const list = paths.isListed ? [{ label: this.#messages.plural, href: of(collectionOf) }] : []
    return [...this.outerCrumbs(of, paths), ...list, ...row === undefined ? [] : [row]]
  }

  /** Returns the form of a page that has no other content, with a link that leaves it. */
  withCancel (form: Form, href: string | undefined): Form {
    return { ...form, cancel: href === undefined ? undefined : { label: this.#messages.cancel, href } }
  }

  /**
   * Returns the links to the same content in other formats.
   * @param link returns the link of a format that is chosen by a suffix of the path, or by the first parameter
   */
  alternatesOf (link: (suffix: string) => string): Alternate[] {
    return this.#others.map(({ label, suffix, mediaType }) => ({ label, href: link(suffix), mediaType }))
  }
}
