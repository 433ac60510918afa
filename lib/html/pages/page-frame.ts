import type { ParentLocation } from '../../core/resource/location.js'
import type { Resource } from '../../core/resource/resource.js'
import { memberPath } from '../../core/resource/path-pattern.js'
import type { Id } from '../../core/resource/row.js'
import type { ListWriter, WriterContext } from '../../core/formats/format.js'
import type { HtmlView } from '../content.js'
import { chooseLinks, nameInWords } from './links.js'
import type { PossibleNavigation, Unlisted } from '../../core/formats/view.js'
import { markup, type Markup } from '../html-tag.js'
import type { PageMessages, Translate } from '../messages.js'
import { directionOf } from '../languages/language.js'
import { makeMessages } from '../languages/make-messages.js'
import { capitalize, wordsOf } from '../../core/util/words.js'
import { sayNotice } from '../notices.js'
import type { PageOptions } from '../options.js'
import { type Brand, resolveBrand } from '../style/brand.js'
import type { Alternate, Form, Link, ListPage, Page, PageFrame } from '../views/model.js'
import { renderNotice, splitList } from '../views/page-views.js'
import type { ResolvedViews } from '../views/types.js'
import { resolveViews } from '../views/views.js'

const XHTML = 'application/xhtml+xml'

/** The links from a page to others. */
interface OtherPages {
  readonly crumbs?: readonly Link[]
  readonly alternates?: readonly Alternate[]
}

/** The request of a page, and its paths. */
export interface PageContext {
  readonly view: HtmlView
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

/** The dependencies of all pages of a resource. */
export interface PageSource {
  readonly resource: Resource
  readonly context: WriterContext
  readonly messages: PageMessages
  readonly translate: Translate
  /** The language of the pages. */
  readonly lang: string
}

/** Makes the parts that all pages of a resource share: the document around the content, links and views. */
export class PageFrames {
  readonly #source: PageSource
  readonly #suffixes: readonly string[]
  readonly #views: ResolvedViews
  readonly #document: Pick<PageFrame, 'stylesheet' | 'lang' | 'dir' | 'paths' | 'messages' | 'translate'>
  readonly #navigation: PossibleNavigation | undefined
  readonly #brand: Brand
  /** The heading of the list whose deleted rows this list has. */
  readonly #liveHeading: string | undefined
  readonly #others: ReadonlyArray<Omit<Alternate, 'href'> & { readonly suffix: string }>

  constructor (source: PageSource, options: PageOptions, stylesheet: string) {
    const { context: { formats, paths, navigation }, messages, translate } = source
    const { language, language: { tag: lang }, names: { live }, views, brand } = options
    this.#source = source
    this.#liveHeading = live && makeMessages(live, language).heading
    this.#suffixes = formats.map(({ name }) => name)
    this.#others = formats.filter(({ name }) => name !== 'html').map(({ name, mediaTypes, spreadsheet }) => {
      const suffix = spreadsheet === undefined ? `.${name}` : `?format=${spreadsheet.name}`
      return { label: name.toUpperCase(), suffix, mediaType: mediaTypes[0] as string }
    })
    this.#views = resolveViews(views)
    this.#document = { stylesheet, lang, dir: directionOf(lang), paths, messages, translate }
    this.#navigation = navigation(lang)
    this.#brand = brand
  }

  /** Makes the members of every page. */
  frame (title: string, { view, paths }: PageContext, links: OtherPages = {}): PageFrame {
    const { request, unlisted, notice } = view
    const { crumbs = this.crumbsOf(paths), alternates = [] } = links
    const { plural, singular, singleton } = this.#source.resource
    const { lang, messages } = this.#document
    return {
      ...this.#document,
      brand: resolveBrand(this.#brand, { request, lang }),
      navigation: this.#navigation && chooseLinks(this.#navigation, unlisted),
      title,
      parent: crumbs.at(-1),
      crumbs,
      resource: { plural, singular, path: paths.collection, singleton },
      alternates,
      notice: notice && sayNotice(notice, messages, lang),
      xhtml: view.mediaType === XHTML,
      request
    }
  }

  render (page: Page): string {
    const views = this.#views
    // The compiler does not know that the view of each kind takes pages of that kind.
    const view = views[page.kind] as (page: Page, views: ResolvedViews) => Markup
    return views.layout(page, markup`${renderNotice(page.notice)}${view(page, views)}`, views).toString()
  }

  /** Renders the page of a list around its rows, by the default views. */
  split (page: ListPage): Pick<ListWriter, 'open' | 'close'> {
    const { open, close } = splitList(page, this.#views)
    return { open: open.toString(), close: close.toString() }
  }

  pathsOf ({ location, parents, unlisted }: Pick<HtmlView, 'location' | 'parents' | 'unlisted'>): PagePaths {
    const { collection, isListed = true, members, parent } = location
    const { singleton, actions } = this.#source.resource
    return {
      collection,
      isListed: isListed && !singleton && actions.has('list') && unlisted?.has(this.#source.resource) !== true,
      members,
      parents: [...this.#linksAbove(parent, parents, unlisted), ...this.#linkToLive(collection)]
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
    const words = this.#source.translate(wordsOf(singular))
    const label = name ?? capitalize(singleton ? words : this.#source.messages.record(words, id))
    return [
      ...this.#linksAbove(parent.parent, names, unlisted),
      ...(isListed ? [{ label: this.#source.translate(nameInWords(plural)), href: list }] : []),
      { label, href: path }
    ]
  }

  /** Returns the link from the list of deleted rows to that of the others. */
  #linkToLive (collection: string): readonly Link[] {
    const label = this.#liveHeading
    return label === undefined ? [] : [{ label, href: collection.slice(0, collection.lastIndexOf('/')) }]
  }

  /** Returns the path of a row. */
  pathOf ({ collection, members }: PagePaths, id: Id): string {
    return this.#source.resource.singleton ? collection : memberPath(members, id, this.#suffixes)
  }

  /** Returns the path that the forms of a row are posted to. */
  actionOf ({ members }: PagePaths, member: string): string {
    return this.#source.resource.singleton || this.#source.resource.memberWrites ? member : members
  }

  /** Returns the links to the pages above a row, and to the row itself if the page is below it. */
  crumbsOf ({ parents, isListed, collection }: PagePaths, row?: Link): Link[] {
    const list = isListed ? [{ label: this.#source.messages.heading, href: collection }] : []
    return [...parents, ...list, ...row === undefined ? [] : [row]]
  }

  /** Returns the form of a page that has no other content, with a link that leaves it. */
  withCancel (form: Form, href: string | undefined): Form {
    return { ...form, cancel: href === undefined ? undefined : { label: this.#source.messages.cancel, href } }
  }

  /**
   * Returns the links to the same content in other formats.
   * @param link returns the link of a format that is chosen by a suffix of the path, or by the first parameter
   */
  alternatesOf (link: (suffix: string) => string): Alternate[] {
    return this.#others.map(({ label, suffix, mediaType }) => ({ label, href: link(suffix), mediaType }))
  }
}
