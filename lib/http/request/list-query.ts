import type { ListQuery } from '../../actions/list.js'
import { InvalidOptionError, InvalidQueryError } from '../../errors.js'
import type { Writer } from '../../formats/format.js'
import type { Resource } from '../../resource/resource.js'
import type { Scope } from '../../resource/row.js'
import type { ResolvedOptions } from '../../routing/resolve-options.js'
import { compileText, describeMismatch, UNCONVERTIBLE } from '../../schema/convert-text.js'
import { MOMENT_FORMATS } from '../../schema/date-time.js'
import { isLegalText } from '../../schema/legal-text.js'
import type { Property } from '../../schema/shape.js'
import type { Scalar, TypeName } from '../../schema/types.js'
import { noStore } from '../../stores/null-store.js'
import { BY_ID, positionOf } from '../../stores/order.js'
import type { Context, OrderBy, Filter, Order, Position, Store } from '../../stores/store.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import { parseCursor } from './cursor.js'

/** The parameters of a request's query, each at most once. */
export type QueryParameters = Readonly<Record<string, string>>

/** Parses the queries of a list. */
export interface ListQueryParser {
  /** The query parameters that the list accepts. */
  readonly parameters: readonly string[]
  /** The attributes by which the list can be sorted. */
  readonly sortable: readonly string[]
  /** The attributes by which the list can be filtered. */
  readonly filterable: readonly string[]
  /**
   * Removes `blank=any` and the attributes without a value from a query. A form sends all its fields, but a blank field
   * is not a filter.
   * @throws InvalidQueryError if `blank` is not `any`
   */
  dropBlanks (query: QueryParameters): QueryParameters
  /**
   * Parses the query of one request.
   * @throws InvalidQueryError
   */
  parse (query: QueryParameters, state: ListState): MaybePromise<ListQuery>
}

/** The parts of a request's state that the parsing of a list query needs. */
export interface ListState extends Context {
  readonly target: { readonly scope: Scope }
  readonly choice: { readonly format: { readonly writer: Pick<Writer, 'list'> } }
}

const PARAMETERS = ['format', 'limit', 'after'] as const
const RESERVED: readonly string[] = [...PARAMETERS, 'sort', 'blank']
const SIMPLE: ReadonlySet<TypeName | undefined> = new Set(['string', 'integer', 'number', 'boolean'])
/** The most attributes in `sort`. Each further one would make a page read the table two more times. */
const MOST_CRITERIA = 5
const EVERYTHING: Filter = Object.freeze({})

/**
 * Compiles the parser of list queries.
 * @throws InvalidOptionError if `sort` or `filter` names an unusable attribute
 */
export function compileListQuery (options: ResolvedOptions, resource: Resource): ListQueryParser {
  const { store, sort } = options
  const sortable = findAttributes('sort', options, resource)
  const filterable = findAttributes('filter', options, resource)
  // A list without a sortable attribute can be sorted by id, unless the app sets `sort: []`.
  const isSorted = sortable.length > 0 || (sort === undefined && canDo('order', store))
  return {
    parameters: [
      ...PARAMETERS,
      ...(isSorted ? ['sort'] : []),
      ...(filterable.length > 0 ? ['blank'] : []),
      ...filterable.map(({ name }) => name)
    ],
    sortable: sortable.map(({ name }) => name),
    filterable: filterable.map(({ name }) => name),
    dropBlanks: compileBlanks(filterable),
    parse: compileParse(options, resource, compileOrder(sortable), compileFilter(filterable))
  }
}

function compileParse (
  { store, maxLimit, pageSize }: ResolvedOptions,
  resource: Resource,
  parseOrder: (sort: string | undefined) => Order,
  parseFilter: (query: QueryParameters) => Filter
): ListQueryParser['parse'] {
  function findPosition (text: string, order: Order, state: ListState): MaybePromise<Position> {
    const place = parseCursor(text, order, resource)
    if (typeof place === 'object') return place
    return andThen(store.get(place, state.target.scope, state), (row) => {
      if (row === undefined) {
        throw new InvalidQueryError('the row at which the page begins has been deleted; start again without "after"')
      }
      return positionOf(row, order)
    })
  }

  return (query, state) => {
    const order = parseOrder(query.sort)
    // Without `limit`, only a format for people has pages.
    const isPage = state.choice.format.writer.list === undefined
    const limit = parseLimit(query.limit, maxLimit) ?? (isPage ? pageSize : undefined)
    const filter = parseFilter(query)
    if (query.after === undefined) return { order, after: undefined, limit, filter }
    return andThen(findPosition(query.after, order, state), (after) => ({ order, after, limit, filter }))
  }
}

/** @throws InvalidQueryError */
function parseLimit (text: string | undefined, maxLimit: number): number | undefined {
  if (text === undefined) return undefined
  const limit = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN
  if (!(limit <= maxLimit)) throw new InvalidQueryError(`"limit" must be a number from 1 to ${maxLimit}`)
  return limit
}

const PURPOSES: Readonly<Record<'sort' | 'filter', Purpose>> = {
  sort: { capability: 'order', without: 'put rows in order by attributes', reserved: [] },
  filter: { capability: 'filter', without: 'find rows by attributes', reserved: RESERVED }
}

interface Purpose {
  readonly capability: 'order' | 'filter'
  readonly without: string
  /** The names that an attribute must not have. */
  readonly reserved: readonly string[]
}

/**
 * Returns the attributes that an option names, or else all usable ones.
 * @throws InvalidOptionError
 */
function findAttributes (
  option: 'sort' | 'filter',
  options: ResolvedOptions,
  { attributes }: Resource
): readonly Property[] {
  const { capability, without, reserved } = PURPOSES[option]
  const can = canDo(capability, options.store)
  const named = options[option]
  const isReserved = (name: string): boolean => reserved.includes(name)
  const usable = [...attributes.values()].filter(
    (attribute) => can && isUsable(attribute) && !isReserved(attribute.name)
  )
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
    if (!isUsable(attribute)) {
      return refuse(
        `names "${name}", which must be a string, an integer, a number or a boolean, or one of them and null`
      )
    }
    return isReserved(name)
      ? refuse(`names "${name}", which is the name of another parameter of lists already`)
      : attribute
  })
}

function canDo (capability: 'order' | 'filter', { capabilities }: Store): boolean {
  return capabilities?.[capability] === true
}

function isUsable ({ writeOnly, shape }: Property): boolean {
  return !writeOnly && SIMPLE.has(shape.only)
}

function compileOrder (sortable: readonly Property[]): (sort: string | undefined) => Order {
  const names: readonly string[] = [...sortable.map(({ name }) => name), 'id']
  const known = new Set(names)

  function parseCriterion (text: string): OrderBy {
    const descending = text.startsWith('-')
    const by = descending ? text.slice(1) : text
    if (by === '') {
      throw new InvalidQueryError(
        `"sort" must be names separated by commas, such as "-${names.slice(0, 2).join(',')}"`
      )
    }
    if (!known.has(by)) {
      throw new InvalidQueryError(`"sort" names "${by}", by which this list cannot be sorted${didYouMean(by, names)}`)
    }
    return { by, descending }
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
    return order.at(-1)?.by === 'id' ? order : [...order, ...BY_ID]
  }
}

function compileBlanks (filterable: readonly Property[]): ListQueryParser['dropBlanks'] {
  const names = new Set(filterable.map(({ name }) => name))
  return ({ blank, ...query }) => {
    if (blank !== 'any') throw new InvalidQueryError('"blank" must be "any", which ignores parameters without a value')
    return Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' || !names.has(name)))
  }
}

function compileFilter (filterable: readonly Property[]): (query: QueryParameters) => Filter {
  const parsers = new Map(filterable.map((attribute) => [attribute.name, compileValue(attribute)]))
  return (query) => {
    let filter: Record<string, Scalar> | undefined
    for (const [name, text] of Object.entries(query)) {
      const parse = parsers.get(name)
      if (parse !== undefined) (filter ??= {})[name] = parse(text)
    }
    return filter ?? EVERYTHING
  }
}

/** Compiles the conversion of a parameter's text to the value that rows must have. */
function compileValue ({ name, shape }: Property): (text: string) => Scalar {
  const convert = compileText(shape)
  const moment = MOMENT_FORMATS.get(shape.format ?? '')
  return (text) => {
    const value = convert(text)
    if (value === UNCONVERTIBLE) throw new InvalidQueryError(`"${name}" ${describeMismatch(shape.types, text)}`)
    if (!isLegalText(text)) {
      throw new InvalidQueryError(`"${name}" must not contain control characters or unpaired surrogates`)
    }
    if (typeof value === 'string' && moment?.isValid(value) === false) {
      throw new InvalidQueryError(`"${name}" ${moment.wants}`)
    }
    return value as Scalar
  }
}
