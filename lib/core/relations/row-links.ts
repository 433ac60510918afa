import type { AccessContext } from '../actions/authorize/level.js'
import type { FindReferenced } from './include/load-many.js'
import type { FindLinks, LinkedRow, ResourceWords, RowLinks, TextWriter, Writer } from '../formats/format.js'
import { nameOf } from '../modes.js'
import type { ResourcePaths } from '../resource/location.js'
import { memberPath, type Parameters } from '../resource/path-pattern.js'
import { hasPage, parseId, referenceTo, type Resource } from '../resource/resource.js'
import { type Id, isId, type Row } from '../resource/row.js'
import { capitalize, wordsOf } from '../util/words.js'
import { guardsMore, type HookedResource } from './hook-guards.js'

/** What a link to a row needs of its resource. */
export interface LinkedResource extends HookedResource {
  readonly resource: Resource
  readonly resourcePaths: ResourcePaths
  readonly representations: ReadonlyArray<{
    readonly name: string
    readonly browser?: boolean
    readonly writer: Writer
  }>
  readonly isId: ((id: Id) => boolean) | undefined
}

/** The links of a page, while they are found. */
export type FoundLinks = Map<string, Map<unknown, LinkedRow>>

/** The most rows that one query finds. */
const PORTION = 1000

/** Compiles the function that finds the links from the rows of a resource to those of another one. */
export function compileFindLinks (linked: LinkedResource, from: HookedResource, findRows: FindReferenced): FindLinks {
  const findPath = compileRowPath(linked)
  const title = findTitle(linked)
  // Hooks and a handler of the app may hide rows in ways that only a request of their own path passes.
  if (title === undefined || linked.options.routing.handlers.has('show') || guardsMore(linked, from, 'show')) {
    return async function * (ids, { request }) {
      for (const id of ids) {
        const href = findPath(id, request)
        if (href !== undefined) yield [id, { name: undefined, href }]
      }
    }
  }
  return async function * (ids, context) {
    for (let start = 0; start < ids.length; start += PORTION) {
      for await (const row of findRows(ids.slice(start, start + PORTION), context)) {
        const value = referenceTo(row, linked.resource) as Id
        yield [value, { name: title(row, context), href: findPath(row.id, context.request) }]
      }
    }
  }
}

/** Returns the writer of the pages of a resource, or `undefined` if it has none. */
export function findPageWriter ({ representations }: Pick<LinkedResource, 'representations'>): Writer | undefined {
  return representations.find(({ browser }) => browser === true)?.writer
}

/** Returns the names of a resource in a language, as its pages have them. */
export function wordsFor (named: Pick<LinkedResource, 'resource' | 'representations'>, lang: string): ResourceWords {
  const { resource, resource: { plural, singular } } = named
  return findPageWriter(named)?.words?.(lang) ?? {
    heading: capitalize(wordsOf(nameOf(resource))),
    plural: capitalize(wordsOf(plural)),
    singular: wordsOf(singular)
  }
}

/** Returns the function that names the rows of a resource on its pages, or `undefined` if it has no pages. */
export function findTitle (resource: Pick<LinkedResource, 'representations'>): TextWriter['title'] {
  const writer = findPageWriter(resource)
  return writer?.title?.bind(writer)
}

/** Adds the links of these rows to those of the page, with one query for each relation. */
export async function addLinks (
  relations: readonly RowLinks[],
  rows: readonly Row[],
  context: AccessContext,
  links: FoundLinks
): Promise<void> {
  await Promise.all(relations.map(async ({ attribute, valuesIn, find }) => {
    const known = links.get(attribute) ?? new Map<unknown, LinkedRow>()
    const values = rows.flatMap(({ attributes }) => valuesIn(attributes)).map(({ value }) => value)
    const ids = new Set(values.filter(isId).filter((id) => !known.has(id)))
    if (ids.size === 0) return
    links.set(attribute, known)
    for await (const [id, row] of find([...ids], context)) known.set(id, row)
  }))
}

/** Compiles the function that finds the paths of rows. */
function compileRowPath (linked: LinkedResource): (id: Id, request: AccessContext['request']) => string | undefined {
  const { resource, resourcePaths: { members }, representations, isId: isAllowed } = linked
  const suffixes = representations.map(({ name }) => name)
  return (id, { params }) =>
    parseId(resource.idType, String(id)) === id && hasPage(resource, id) && isAllowed?.(id) !== false
      ? memberPath(members.fill(params as Parameters), id, suffixes)
      : undefined
}
