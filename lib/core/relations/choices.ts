import type { AccessContext } from '../actions/authorize/level.js'
import { list } from '../actions/list.js'
import { compileOpenList, type OpenedList, readSome } from './include/first-rows.js'
import { InvalidQueryError, isConditionError } from '../errors.js'
import type { ChoiceRow, ChoicesView, RowChoices, RowSearch, Writer } from '../formats/format.js'
import { say } from '../messages.js'
import { referenceTo } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import { isLegalText } from '../schema/legal-text.js'
import { abbreviate, findNear } from '../util/words.js'
import { guardsMore } from './hook-guards.js'
import { type ListQueryParser, writeCursor } from '../request/list-query.js'
import type { FormQuery, QueryParameters } from '../request/filter-query.js'
import type { ListQuery } from '../actions/outcome.js'
import type { ListedResource } from './related-lists.js'
import { addLinks, findPageWriter, findTitle, type FoundLinks } from './row-links.js'

/** Finds rows that a form can reference. */
export type ChoiceFinder = Pick<RowChoices, 'list' | 'search'>

/** The most rows that a form lists. */
const MOST_CHOICES = 50
/** The most rows of one page of a search. */
const MOST_FOUND = 20

// The root of all languages, because the names of rows can have any.
const BY_NAME = new Intl.Collator('und', { numeric: true })

/**
 * Compiles the finding of the rows that a form can reference. Returns `undefined` if there is no list of them, if rows
 * have no names, or if only a request of their own path can tell which ones it may list.
 */
export function compileChoiceFinder (listed: ListedResource, from: ListedResource): ChoiceFinder | undefined {
  const { target, resource, resourcePaths: { collection: { names: parameters } }, accessChecks, options } = listed
  const title = findTitle(listed)
  const choices = findPageWriter(listed)?.choices
  const isHandled = options.routing.handlers.has('list')
  if (title === undefined || isHandled || !resource.actions.has('list')) return undefined
  if (guardsMore(listed, from, 'list')) return undefined
  const open = compileOpenList({ target, checkAccess: accessChecks.collection, parameters })
  const search = choices && compileSearch(listed, choices)
  return {
    async list (context) {
      const opened = await open(context)
      if (opened === undefined) return undefined
      const { store, scope } = opened.target
      const { rows, hasMore } = await readSome(store, { ...ALL, scope, limit: MOST_CHOICES }, context)
      if (hasMore) return search && { rows: undefined }
      const named = rows.map((row) => ({ id: referenceTo(row, resource) as Id, name: title(row, context) }))
      return { rows: named.filter(canSend).sort((a, b) => BY_NAME.compare(a.name, b.name)) }
    },
    async search (query, context) {
      const opened = await open(context)
      return opened && search?.(query, opened, context)
    }
  }
}

/** Returns whether a form can send a value. The empty text stands for null, and a browser changes a carriage return. */
function canSend ({ id }: Pick<ChoiceRow, 'id'>): boolean {
  return typeof id === 'number' || (id !== '' && !id.includes('\r') && isLegalText(id))
}

const ALL = { order: BY_ID, after: undefined, filter: [], search: undefined } as const

type SearchChoices = (asked: QueryParameters, opened: OpenedList, context: AccessContext) => Promise<RowSearch>

/** Compiles the search for the rows of a query. */
function compileSearch (listed: ListedResource, choices: NonNullable<Writer['choices']>): SearchChoices {
  const { resource, listQuery, findLocation, relations } = listed
  const isChoice = (row: Row): boolean => canSend({ id: referenceTo(row, resource) as Id })
  return async (asked, { request, target }, context) => {
    const state = {
      request,
      get signal () { return context.signal },
      attempt: { target },
      choice: { format: { pageSize: MOST_FOUND } }
    }

    /** Parses the query. If a condition is refused, it is left out, and its fields show the error. */
    async function parse ({ query, open }: FormQuery): Promise<ParsedChoices> {
      try {
        const parsed = await listQuery.parse(query, state)
        return { parameters: query, openCondition: open, query: { ...parsed, count: undefined } }
      } catch (error) {
        if (!isConditionError(error) || open?.error !== undefined) throw error
        const { parameter, reason } = error
        const { [parameter]: value = '', ...others } = query
        return parse({ query: others, open: { parameter, value, error: reason } })
      }
    }

    checkNames(asked, listQuery)
    const { parameters, openCondition, query } = await parse(listQuery.readForm(asked))
    const { rows, more, first, last } = await list(target, query, context)
    await more?.return?.()
    const end = more === undefined ? last : rows.at(-1)
    const links: FoundLinks = new Map()
    await addLinks(relations.links, rows, state, links)
    // A link would leave the form, and lose what was typed.
    for (const named of links.values()) for (const [id, { name }] of named) named.set(id, { name, href: undefined })
    const { after: _after, before: _before, ...repeated } = parameters
    const pageAt = (end: 'after' | 'before', row: Row): string =>
      new URLSearchParams({ ...repeated, [end]: writeCursor(row, query.order, resource) }).toString()
    const view = {
      request,
      location: findLocation(request.params),
      links,
      parameters: repeated,
      openCondition,
      prev: first === undefined || first === 'end' ? undefined : pageAt('before', first),
      next: end && pageAt('after', end),
      valueOf: (row: Row) => referenceTo(row, resource) as Id
    }
    return { write: (nameOf, boxes) => choices(rows.filter(isChoice), { ...view, nameOf, boxes }) }
  }
}

/** @throws InvalidQueryError if a parameter is unknown: no page of ours sends one */
function checkNames (query: QueryParameters, { parameters }: ListQueryParser): void {
  const unknown = Object.keys(query).find((name) => !parameters.includes(name))
  if (unknown === undefined) return
  const near = findNear(unknown, parameters)
  throw new InvalidQueryError(say('parameterUnknown', { name: abbreviate(unknown), near }))
}

/** The query of a list that rows are chosen from. */
interface ParsedChoices extends Pick<ChoicesView, 'parameters' | 'openCondition'> {
  readonly query: ListQuery
}
