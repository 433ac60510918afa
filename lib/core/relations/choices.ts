import type { AccessContext } from '../actions/authorize/level.js'
import { compileOpenList, readSome } from './include/first-rows.js'
import { isConditionError } from '../errors.js'
import type { ChoiceRow, ResourceWords, RowChoices } from '../formats/format.js'
import { referenceTo } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import { isLegalText } from '../schema/legal-text.js'
import type { Position, Query } from '../stores/store.js'
import { guardsMore } from './hook-guards.js'
import { parseCursor, writeCursor } from '../request/list-query.js'
import { compileFilter, parseSearch } from '../request/filter-query.js'
import type { ListedResource } from './related-lists.js'
import { findPageWriter, findTitle, wordsFor } from './row-links.js'

/** Finds rows that a form can reference. */
export type FindRows = Pick<RowChoices, 'list' | 'search'>

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
export function compileFindRows (listed: ListedResource, from: ListedResource): FindRows | undefined {
  const { target, resource, resourcePaths: { collection: { names: parameters } }, accessChecks, options } = listed
  const title = findTitle(listed)
  const isHandled = options.routing.handlers.has('list')
  if (title === undefined || isHandled || !resource.actions.has('list')) return undefined
  if (guardsMore(listed, from, 'list')) return undefined
  const open = compileOpenList({ target, checkAccess: accessChecks.collection, parameters })
  const nameRows = (rows: readonly Row[], context: AccessContext): ChoiceRow[] =>
    rows.map((row) => ({ id: referenceTo(row, resource) as Id, name: title(row, context) })).filter(canSend)
  const search = compileSearch(listed)
  const words = (lang: string): ResourceWords => wordsFor(listed, lang)
  return {
    async list (context) {
      const opened = await open(context)
      if (opened === undefined) return undefined
      const { store, scope } = opened.target
      const { rows, hasMore } = await readSome(store, { ...ALL, scope, limit: MOST_CHOICES }, context)
      if (hasMore) return { rows: undefined }
      return { rows: nameRows(rows, context).sort((a, b) => BY_NAME.compare(a.name, b.name)) }
    },
    async search ({ attribute, text, after }, context) {
      const opened = await open(context)
      if (opened === undefined) return undefined
      const { store, scope } = opened.target
      const page = { attribute, name: resource.plural, words, canSearch: search !== undefined, text, error: undefined }
      const position = after === undefined ? undefined : parseCursor('after', after, BY_ID, resource) as Position
      try {
        const conditions = text.trim() === '' ? undefined : search?.(text.trim())
        const query = { ...ALL, ...conditions, after: position, scope, limit: MOST_FOUND }
        const { rows, hasMore } = await readSome(store, query, context)
        const last = hasMore ? rows.at(-1) : undefined
        return { ...page, rows: nameRows(rows, context), next: last && writeCursor(last, BY_ID, resource) }
      } catch (error) {
        if (!isConditionError(error)) throw error
        return { ...page, error: error.reason, rows: [], next: undefined }
      }
    }
  }
}

/** Returns whether a form can send a value. The empty text stands for null, and a browser changes a carriage return. */
function canSend ({ id }: ChoiceRow): boolean {
  return typeof id === 'number' || (id !== '' && !id.includes('\r') && isLegalText(id))
}

const ALL = { order: BY_ID, after: undefined, filter: [], search: undefined } as const

/**
 * Compiles the conditions of a search: that of the list, or else a filter by the title. Returns `undefined` if there is
 * neither.
 */
function compileSearch (
  { listQuery: { searchable, filterable }, representations }: ListedResource
): ((text: string) => Partial<Pick<Query, 'search' | 'filter'>>) | undefined {
  if (searchable.length > 0) return (text) => ({ search: parseSearch(text, searchable) })
  const name = findPageWriter({ representations })?.titleAttribute
  const named = filterable.find(({ attribute }) => attribute.name === name)
  const operator = TEXT_OPERATORS.find((operator) => named?.operators.includes(operator) === true)
  if (named === undefined || operator === undefined) return undefined
  const parse = compileFilter([named])
  return (text) => ({ filter: parse({ [`${name}[${operator}]`]: text }) })
}

const TEXT_OPERATORS = ['contains', 'starts'] as const
