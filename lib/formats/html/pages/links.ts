import type { Location } from '../../../resource/location.js'
import type { Resource } from '../../../resource/resource.js'
import { memberPath } from '../../../resource/row-path.js'
import type { Id } from '../../../resource/row.js'
import type { PageView, WriterContext } from '../../format.js'
import { capitalize, type PageMessages, wordsOf } from '../messages.js'
import type { Translate } from '../translate.js'
import type { Alternate, Link } from '../views/model.js'

type ListAddress = Pick<PageView, 'path' | 'parameters'>
type Changes = Readonly<Record<string, string | undefined>>

/** A link to the beginning of the list that was asked for, with some parameters changed; undefined takes one away. */
export function linkTo ({ path, parameters }: ListAddress, changes: Changes): string {
  const names = new Set([...Object.keys(parameters), 'after', ...Object.keys(changes)])
  let query = ''
  for (const name of names) {
    const value = name === 'after' || Object.hasOwn(changes, name) ? changes[name] : parameters[name]
    if (value !== undefined) query += `${query === '' ? '?' : '&'}${encode(name)}=${encode(value)}`
  }
  return path + query
}

/** As URLSearchParams does it, which takes long. */
function encode (text: string): string {
  return /^[\w.*-]*$/.test(text) ? text : new URLSearchParams({ '': text }).toString().slice(1)
}

/** What the links of a page are made of, for one place. */
export interface PagePaths {
  /** Of the list, or of a singleton. */
  readonly collection: string
  /** Whether there is a list. */
  readonly isListed: boolean
  /** Under which the rows are. */
  readonly members: string
  /** To the row that these belong to. */
  readonly parent: Link | undefined
}

/** The links of a resource's pages. */
export class PageLinks {
  readonly #resource: Resource
  readonly #messages: PageMessages
  readonly #translate: Translate
  readonly #suffixes: readonly string[]
  readonly #others: ReadonlyArray<Omit<Alternate, 'href'> & { readonly suffix: string }>

  constructor (resource: Resource, { formats }: WriterContext, messages: PageMessages, translate: Translate) {
    this.#resource = resource
    this.#messages = messages
    this.#translate = translate
    this.#suffixes = formats.map(({ name }) => name)
    this.#others = formats.filter(({ name }) => name !== 'html').map(({ name, mediaTypes }) =>
      ({ label: name.toUpperCase(), suffix: `.${name}`, mediaType: mediaTypes[0] as string }))
  }

  pathsOf ({ collection, isListed = true, members, parent }: Location): PagePaths {
    const { singleton, actions } = this.#resource
    return {
      collection,
      isListed: isListed && !singleton && actions.has('list'),
      members,
      parent: parent && { label: this.#parentTitle(parent), href: parent.path }
    }
  }

  #parentTitle ({ resource: { singular, singleton }, id }: NonNullable<Location['parent']>): string {
    const words = this.#translate(wordsOf(singular))
    return singleton ? capitalize(words) : this.#messages.record(words, id)
  }

  /** Where a row is. */
  pathOf ({ collection, members }: PagePaths, id: Id): string {
    return this.#resource.singleton ? collection : memberPath(members, id, this.#suffixes)
  }

  /** Where the forms of a row are sent. */
  actionOf ({ members }: PagePaths, member: string): string {
    return this.#resource.singleton || this.#resource.memberWrites ? member : members
  }

  /** What a row is called. */
  titleOf (id: Id): string {
    const { record, singular } = this.#messages
    return this.#resource.singleton ? capitalize(singular) : record(singular, id)
  }

  /** What is in front of the list, or of a singleton. */
  outerCrumbs ({ parent }: PagePaths): Link[] {
    return parent === undefined ? [] : [parent]
  }

  /** What is in front of a row. */
  crumbsOf (paths: PagePaths): Link[] {
    const outer = this.outerCrumbs(paths)
    return paths.isListed ? [...outer, { label: this.#messages.plural, href: paths.collection }] : outer
  }

  /** The same at other paths. */
  alternatesOf (link: (suffix: string) => string): Alternate[] {
    return this.#others.map(({ label, suffix, mediaType }) => ({ label, href: link(suffix), mediaType }))
  }
}
