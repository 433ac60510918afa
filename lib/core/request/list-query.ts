import { canCount, canReverse, COUNT_OF_PAGES, type ListQuery } from '../actions/list.js'
import type { ListCount } from '../actions/outcome.js'
import { InvalidOptionError, InvalidQueryError } from '../errors.js'
import { say } from '../messages.js'
import { FILTER_FIELDS } from '../formats/form/condition.js'
import { parseId, type Resource } from '../resource/resource.js'
import type { Id, Row, Scope } from '../resource/row.js'
import { isBytesShape, ORDERED_FORMATS } from '../schema/convert-text.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import type { Property, Shape } from '../schema/shape.js'
import { SIMPLE_TYPES } from '../schema/types.js'
import {
  type Context, type Filter, noStore, type Order, type OrderBy, type Position, type Store
} from '../stores/store.js'
import { BY_ID, positionOf } from '../stores/order.js'
import { abbreviate, didYouMean, findNear } from '../util/words.js'
import { NO_PATH } from '../resource/path-pattern.js'
import { isStorableText, isUuid } from '../schema/legal-text.js'
import { isLongInteger } from '../util/decimal.js'
import {
  comparedTypeOf, compileFilter, compileFormQuery, type FilterableAttribute, filterableId, filterParameters, isText,
  operatorsOf, parseSearch, type QueryParameters, type ReadFormQuery
} from './filter-query.js'

/** Parses the queries of a list. */
export interface ListQueryParser {
  /** The query parameters that the list accepts. */
  readonly parameters: readonly string[]
  /** The parameters that only some formats have. */
  readonly ownParameters: readonly string[]
  /** The attributes by which the list can be sorted. */
  readonly sortable: readonly string[]
  /** The attributes by which the list can be filtered. */
  readonly filterable: readonly FilterableAttribute[]
  /** The attributes in which `q` searches. It is empty if the list has no such parameter. */
  readonly searchable: readonly string[]
  /** Reads the query that a form has sent, if it is one. */
  readonly readForm: ReadFormQuery
  /**
   * Parses the query of one request.
   * @throws InvalidQueryError
   */
  parse (query: QueryParameters, state: ListState): Promise<ListQuery>
}

/** The parts of a request's state that the parsing of a list query needs. */
export interface ListState extends Context {
  readonly attempt: { readonly target: { readonly scope: Scope } }
  readonly choice: { readonly format: { readonly pageSize: number | undefined } }
}

const PARAMETERS = ['format', 'limit', 'after'] as const
/** The names of parameters. An attribute with one of them is filtered by a parameter with an operator only. */
const RESERVED: ReadonlySet<string> =
  new Set([...PARAMETERS, 'before', 'offset', 'sort', 'blank', 'q', 'count', 'only', 'include'])
/** The most rows that `offset` leaves out. A store may read each of them. */
export const MOST_OFFSET = 10_000
/** The most attributes in `sort`. Each further one would make a page read the table two more times. */
const MOST_CRITERIA = 5

/**
 * Compiles the parser of list queries.
 * @throws InvalidOptionError if `sort`, `filter` or `search` names an unusable attribute
 */
export function compileListQuery (options: ResolvedOptions, resource: Resource): ListQueryParser {
  const { store, sort, filter, formats, routing: { handlers } } = options
  const ownParameters = handlers.has('list') ? [] : formats.flatMap(({ parameters = [] }) => parameters)
  const sortable = findAttributes('sort', options, resource)
  const filtered = findAttributes('filter', options, resource).map((attribute): FilterableAttribute => ({
    attribute,
    isPlain: !RESERVED.has(attribute.name) && !ownParameters.includes(attribute.name),
    operators: operatorsOf(attribute, store.capabilities?.filter)
  }))
  // As with `sort`, a list takes conditions on the id too, unless the app sets `filter: []`.
  const hasId = canDo('filter', store) && filter?.length !== 0
  const filterable = hasId ? [...filtered, filterableId(resource.idType, store.capabilities?.filter)] : filtered
  const searchable = findAttributes('search', options, resource)
    .filter((attribute) => options.search !== undefined || filterable.some((other) => other.attribute === attribute))
    .map(({ name }) => name)
  const conditions = [...(searchable.length > 0 ? ['q'] : []), ...filterParameters(filterable)]
  // A list without a sortable attribute can be sorted by id, unless the app sets `sort: []`.
  const isSorted = sortable.length > 0 || (sort === undefined && canDo('order', store))
  return {
    parameters: [
      ...PARAMETERS,
      // Without a store, a handler of the app lists the rows.
      ...(canReverse(store) || store === noStore ? ['before'] : []),
      // A handler of the app would have to leave out the rows itself.
      ...(store.capabilities?.offset === true && !handlers.has('list') ? ['offset'] : []),
      ...(canCount(store) ? ['count'] : []),
      ...(isSorted ? ['sort'] : []),
      ...(resource.open ? [] : ['only']),
      ...ownParameters,
      ...(conditions.length > 0 ? ['blank', ...FILTER_FIELDS] : []),
      ...conditions
    ],
    ownParameters,
    sortable: sortable.map(({ name }) => name),
    filterable,
    searchable,
    readForm: compileFormQuery(conditions, filterable),
    parse: compileParse(options, resource, {
      parseOrder: compileOrder(sortable),
      parseFilter: compileFilter(filterable),
      searchable
    })
  }
}

/** The compiled parts of a parser. */
interface ParserParts {
  readonly searchable: readonly string[]
  parseOrder (sort: string | undefined): Order
  parseFilter (query: QueryParameters): Filter
}

function compileParse (
  { store, maxLimit }: ResolvedOptions,
  resource: Resource,
  { parseOrder, parseFilter, searchable }: ParserParts
): ListQueryParser['parse'] {
  async function findPosition (
    parameter: CursorParameter,
    text: string,
    order: Order,
    state: ListState
  ): Promise<Position | undefined> {
    const place = parseCursor(parameter, text, order, resource)
    if (typeof place === 'object') return place
    const row = await store.get(place, state.attempt.target.scope, state)
    if (row !== undefined) return positionOf(row, order)
    throw new InvalidQueryError(say('cursorLost', { end: parameter === 'after' ? 'begins' : 'ends', parameter }))
  }

  return async (query, state) => {
    const order = parseOrder(query.sort)
    // Without `limit`, only a format for people has pages.
    const { pageSize } = state.choice.format
    const limit = parseLimit(query.limit, maxLimit) ?? pageSize
    const filter = parseFilter(query)
    const search = parseSearch(query.q, searchable)
    const count = parseCount(query.count) ?? (pageSize !== undefined && canCount(store) ? COUNT_OF_PAGES : undefined)
    const offset = parseOffset(query, limit)
    const { after, before } = query
    if (after !== undefined && before !== undefined) {
      throw new InvalidQueryError('"after" and "before" exclude each other; send one of them')
    }
    return {
      order,
      after: after === undefined ? undefined : await findPosition('after', after, order, state),
      // The last page ends before no row.
      before: before === undefined
        ? undefined
        : before === '' ? 'end' : await findPosition('before', before, order, state),
      offset,
      limit,
      filter,
      search,
      count
    }
  }
}

/** @throws InvalidQueryError */
function parseLimit (text: string | undefined, maxLimit: number): number | undefined {
  if (text === undefined) return undefined
  const limit = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN
  if (!(limit <= maxLimit)) throw new InvalidQueryError(say('limitInvalid', { most: maxLimit }))
  return limit
}

/** @throws InvalidQueryError */
function parseOffset ({ offset, after, before }: QueryParameters, limit: number | undefined): number | undefined {
  if (offset === undefined) return undefined
  if (!/^(?:0|[1-9]\d{0,4})$/.test(offset) || Number(offset) > MOST_OFFSET) {
    throw new InvalidQueryError(say('offsetInvalid', { most: MOST_OFFSET }))
  }
  const other = after === undefined ? before === undefined ? undefined : 'before' : 'after'
  if (other !== undefined) throw new InvalidQueryError(`"offset" and "${other}" exclude each other; send one of them`)
  if (limit === undefined) throw new InvalidQueryError('"offset" needs "limit"')
  return offset === '0' ? undefined : Number(offset)
}

/** @throws InvalidQueryError */
function parseCount (text: string | undefined): ListCount | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'estimate') {
    throw new InvalidQueryError('"count" must be "true", or "estimate" if an estimate is enough')
  }
  return { most: undefined, estimate: text === 'estimate' }
}

type Purpose = 'sort' | 'filter' | 'search'

/** What a list needs of a store and of an attribute for each of these options. */
const NEEDS = {
  sort: { capability: 'order', without: 'put rows in order by attributes', isUsable: isComparable },
  filter: { capability: 'filter', without: 'find rows by attributes', isUsable: isComparable },
  search: { capability: 'search', without: 'search texts', isUsable: isText }
} as const

const COMPARABLE = 'a string, an integer, a number or a boolean, or one of them and null, and no base64'
const KINDS: Readonly<Record<Purpose, string>> = {
  sort: COMPARABLE,
  filter: COMPARABLE,
  search: 'a string, perhaps with null, and no decimal, date, time, UUID or base64'
}

/**
 * Returns the attributes that an option names, or else all usable ones.
 * @throws InvalidOptionError
 */
function findAttributes (option: Purpose, options: ResolvedOptions, { attributes }: Resource): readonly Property[] {
  const { capability, without, isUsable } = NEEDS[option]
  const can = canDo(capability, options.store)
  const named = options[option]
  const usable = [...attributes.values()].filter((attribute) => can && !attribute.writeOnly && isUsable(attribute))
  if (named === undefined) return usable
  const refuse = (reason: string): never => {
    throw new InvalidOptionError(option, reason)
  }
  if (named.length > 0 && !can && options.store !== noStore) {
    refuse(`names attributes, but the store cannot ${without}: it does not declare "capabilities.${capability}"`)
  }
  return [...new Set(named)].map((name) => {
    const attribute = attributes.get(name)
    if (attribute === undefined) {
      return refuse(
        `names "${name}", which is not among the attributes declared${didYouMean(
          name,
          usable.map(({ name }) => name)
        )}`
      )
    }
    if (attribute.writeOnly) return refuse(`names "${name}", which is writeOnly: its values would be revealed`)
    return isUsable(attribute) ? attribute : refuse(`names "${name}", which must be ${KINDS[option]}`)
  })
}

function canDo (capability: 'order' | 'filter' | 'search', { capabilities }: Store): boolean {
  const declared = capabilities?.[capability]
  return declared === true || Array.isArray(declared)
}

function isComparable ({ shape }: Property): boolean {
  return SIMPLE_TYPES.has(shape.only) && !isBytesShape(shape)
}

function compileOrder (sortable: readonly Property[]): (sort: string | undefined) => Order {
  const names: readonly string[] = [...sortable.map(({ name }) => name), 'id']
  const known = new Set(names)
  const types = new Map(sortable.flatMap((attribute): Array<[string, OrderBy['type']]> => {
    const type = comparedTypeOf(attribute)
    return type === undefined ? [] : [[attribute.name, type]]
  }))

  function parseCriterion (text: string): OrderBy {
    const descending = text.startsWith('-')
    const by = descending ? text.slice(1) : text
    if (by === '') {
      throw new InvalidQueryError(
        `"sort" must be names separated by commas, such as "-${names.slice(0, 2).join(',')}"`
      )
    }
    if (!known.has(by)) {
      throw new InvalidQueryError(say('cannotSortBy', { name: abbreviate(by), near: findNear(by, names) }))
    }
    return types.has(by) ? { by, descending, type: types.get(by) } : { by, descending }
  }

  return (sort) => {
    if (sort === undefined) return BY_ID
    const order: OrderBy[] = []
    const texts = sort.split(',')
    if (texts.length > MOST_CRITERIA) {
      throw new InvalidQueryError(`"sort" must name at most ${MOST_CRITERIA} attributes`)
    }
    for (const text of texts) {
      const criterion = parseCriterion(text)
      if (order.some(({ by }) => by === criterion.by)) {
        throw new InvalidQueryError(`"sort" names "${criterion.by}" twice`)
      }
      if (order.at(-1)?.by === 'id') {
        throw new InvalidQueryError(
          `"sort" names "${criterion.by}" after "id", where it can have no effect: no two rows have the same id`
        )
      }
      order.push(criterion)
    }
    const [first] = order
    if (first?.by === 'id' && !first.descending) return BY_ID
    const { by, descending } = order.at(-1) as OrderBy
    // Ties follow the last criterion, so that an index on (rating, id) serves `-rating` too, read backwards.
    return by === 'id' ? order : [...order, { by: 'id', descending }]
  }
}

/** In characters. A row with a longer position is named by its id, so that every link can be followed. */
const LONGEST = 2_000

/** Writes a cursor, which clients need not understand: the row's position in the order, or else its id. */
export function writeCursor (row: Row, order: Order, resource: Resource): string {
  if (order === BY_ID) return encode([row.id])
  const sort = spellOrder(order)
  const position = positionOf(row, order)
  const whole = encode([sort, ...position])
  // `parseCursor` would refuse a stored value that the schema does not allow.
  return isPosition(position, order, resource) && whole.length <= LONGEST ? whole : encode([sort, [row.id]])
}

/** The parameters that have a cursor, with the relations of the links that they come from. */
const RELATIONS = { after: 'next', before: 'prev' } as const

type CursorParameter = keyof typeof RELATIONS

/**
 * Parses a cursor. Returns the position where a page begins or ends, or the id of the row at that position.
 * @throws InvalidQueryError if `writeCursor` cannot have written the text for this order
 */
export function parseCursor (
  parameter: CursorParameter,
  text: string,
  order: Order,
  resource: Resource
): Position | Id {
  const parts = decode(text)
  const place = findPlace(parts, order, resource, text.length)
  if (place === undefined || encode(parts) !== text) {
    throw new InvalidQueryError(say('cursorInvalid', { parameter, relation: RELATIONS[parameter] }))
  }
  return place
}

function findPlace (parts: unknown, order: Order, resource: Resource, length: number): Position | Id | undefined {
  if (!Array.isArray(parts)) return undefined
  const sort = spellOrder(order)
  if (sort !== '' && parts[0] !== sort) return undefined
  const position: readonly unknown[] = sort === '' ? parts : parts.slice(1)
  const [named] = position
  if (order.length > 1 && position.length === 1 && Array.isArray(named)) {
    return named.length === 1 && isId(named[0], resource) ? named[0] : undefined
  }
  return length <= LONGEST && isPosition(position, order, resource) ? position : undefined
}

/**
 * Returns an order as the parameter `sort` has it, `-rating,title`; empty for the default order. An ascending id is the
 * default at its end, so that only a descending one is spelled out.
 */
function spellOrder (order: Order): string {
  const named = order.at(-1)?.descending === true ? order : order.slice(0, -1)
  return named.map(({ by, descending }) => descending ? `-${by}` : by).join(',')
}

function isPosition (values: readonly unknown[], order: Order, resource: Resource): values is Position {
  return values.length === order.length && order.every(({ by }, index) => {
    const value = values[index]
    return by === 'id' ? isId(value, resource) : value === null || isOfShape(value, resource.attributes.get(by)?.shape)
  })
}

function isId (value: unknown, { idType }: Resource): value is Id {
  // `String` of an object would use members that the client has sent, such as `toString`.
  if (typeof value === 'string' && value.startsWith(NO_PATH)) return idType === 'string' && isStorableText(value)
  return (typeof value === 'number' || typeof value === 'string') && parseId(idType, String(value)) === value
}

function isOfShape (value: unknown, shape: Shape | undefined): boolean {
  if (typeof value === 'string') {
    if (shape?.only === 'integer') return isLongInteger(value)
    return shape?.only === 'string' && isStorableText(value) && isOfFormat(value, shape.format ?? '')
  }
  if (typeof value === 'number') {
    return shape?.only === 'number' ? Number.isFinite(value) : shape?.only === 'integer' && Number.isSafeInteger(value)
  }
  return typeof value === 'boolean' && shape?.only === 'boolean'
}

/** Returns whether a store can compare a text with those of an attribute, which may have a column of another type. */
function isOfFormat (text: string, format: string): boolean {
  return format === 'uuid' ? isUuid(text) : ORDERED_FORMATS.get(format)?.isValid(text) !== false
}

function encode (parts: unknown): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function decode (text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}
