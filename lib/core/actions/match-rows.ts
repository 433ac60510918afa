import { InvalidError, NoMatchError, NotFoundError } from '../errors.js'
import { type Said, say } from '../messages.js'
import { FIRST } from '../modes.js'
import { canFind } from '../relations/relations.js'
import { type Match, matchableGroups, refuseMatch } from '../request/match.js'
import type { Payload, RowPayload } from '../request/payload.js'
import { collectRows, limitRows } from '../request/rows.js'
import { type ActionState, RowState } from '../request/state.js'
import { comparedTypeOf } from '../request/filter-query.js'
import type { Row } from '../resource/row.js'
import type { Property } from '../schema/shape.js'
import type { Scalar } from '../schema/types.js'
import { BY_ID } from '../stores/order.js'
import { isDecimal, normalizeDecimal } from '../util/decimal.js'
import { ownMember } from '../util/own-property.js'
import { Slices } from '../util/slices.js'
import { abbreviate } from '../util/words.js'
import { isOfParent } from './authorize/authorize.js'
import { list, type Target } from './list.js'

/**
 * Finds the rows of an update by their unique attributes, within the scope. A row that `authorize` hides is not found.
 * Returns them with the id of the row that was found, as new ones, or with the fault that they are not found.
 * @throws InvalidQueryError if the attributes and the scope find several rows
 */
export async function matchRows (
  rows: readonly RowPayload[],
  match: Match,
  state: ActionState
): Promise<readonly RowPayload[]> {
  const { compiled, checkAccess } = state
  const { action, isCustom } = state
  const target = checkAccess === undefined
    ? compiled.target
    : (await checkAccess({ action, id: undefined, isCustom, isLookup: true }, state)).target
  if (!match.others.some((names) => names.every((name) => Object.hasOwn(target.scope, name)))) {
    throw refuseMatch(matchableGroups(compiled))
  }
  const slices = new Slices()
  const wanted: Wanted[] = []
  for (const given of rows) {
    wanted.push(readWanted(given, match, target))
    if (slices.isOver) await slices.pause()
  }
  const found = await findRows(wanted.flatMap(({ values }) => values === undefined ? [] : [values]), target, state)
  const matched: RowPayload[] = []
  const seen = new Set<string>()
  for (const { given, payload, values, fault } of wanted) {
    if (slices.isOver) await slices.pause()
    try {
      if (values === undefined) throw fault
      const row = found.get(values)
      // Rows that are hidden are told apart by what the request says, as if they did not exist.
      const visible = row === undefined || await isHidden(payload, row, { state, rows: rows.length }) ? undefined : row
      const key = visible === undefined ? JSON.stringify(values) : `id ${visible.id}`
      if (seen.has(key)) throw refuseValues(match.names, 'is given more than once')
      seen.add(key)
      matched.push(visible === undefined
        ? { ...given, payload: readNew(given, payload, { values, match, state }) }
        : { ...given, payload: copy(payload, { id: visible.id }), found: visible })
    } catch (fault) {
      matched.push({ ...given, payload: undefined, fault })
    }
  }
  return matched
}

/** A row of the request with the values that find it, or the fault for which it has none. */
type Wanted = { readonly given: RowPayload } & (
  | { readonly payload: Payload, readonly values: UniqueValues, readonly fault?: never }
  | { readonly payload?: never, readonly values?: never, readonly fault: unknown }
)

function readWanted (given: RowPayload, match: Match, target: Target): Wanted {
  const { payload, fault } = given
  if (payload === undefined) return { given, fault }
  try {
    return { given, payload, values: readValues(payload, match, target) }
  } catch (fault) {
    return { given, fault }
  }
}

/** The unique values of a row, by attribute. */
type UniqueValues = Readonly<Record<string, NonNullable<Scalar>>>

/**
 * Returns the values by which a row is found. What the scope gives takes precedence, as in each write.
 * @throws InvalidError
 */
function readValues ({ attributes, issues }: Payload, { names }: Match, { scope }: Target): UniqueValues {
  const values = names.map((name): [string, unknown] => [name, ownMember(scope, name) ?? ownMember(attributes, name)])
  const lacking = values.filter(([, value]) => value == null).map(([name]) => name)
  if (lacking.some((name) => issues.isAbout(name))) throw new InvalidError(Object.fromEntries(issues.messages))
  if (lacking.length > 0) throw refuseValues(lacking, say('mustBeGiven'))
  const structures = values.filter(([, value]) => typeof value === 'object').map(([name]) => name)
  if (structures.length > 0) throw refuseValues(structures, 'must be a single value, because it finds the row')
  return Object.fromEntries(values) as UniqueValues
}

function refuseValues (names: readonly string[], message: Said): InvalidError {
  return new InvalidError(Object.fromEntries(names.map((name) => [name, [message]])))
}

/** The most rows that are looked up together. */
const MOST_TOGETHER = 500

/** Finds the rows with these values. Those of one attribute are looked up together, as far as the store can. */
async function findRows (
  wanted: readonly UniqueValues[],
  target: Target,
  state: ActionState
): Promise<ReadonlyMap<UniqueValues, Row>> {
  const { resource, store, scope } = target
  const [name = '', ...others] = Object.keys(wanted[0] ?? {}).filter((name) => !Object.hasOwn(scope, name))
  const property = others.length === 0 && canFind(store) ? resource.attributes.get(name) : undefined
  const found = new Map<UniqueValues, Row>()
  const slices = new Slices()
  for (let index = 0; index < wanted.length; index += MOST_TOGETHER) {
    if (slices.isOver) await slices.pause()
    const some = wanted.slice(index, index + MOST_TOGETHER)
    const lookup = { target, state, limit: limitRows('send fewer in each request') }
    if (property?.shape.only !== undefined && await findTogether(some, property, found, lookup)) continue
    for (const values of some) {
      if (slices.isOver) await slices.pause()
      const row = found.get(values) ?? await findOne(values, target, state)
      if (row === undefined || found.has(values)) continue
      lookup.limit(row)
      found.set(values, row)
    }
  }
  return found
}

interface Lookup {
  readonly target: Target
  readonly state: ActionState
  /** Throws if the rows that are found are too large together. */
  readonly limit: (row: Row) => void
}

/**
 * Finds rows by their values of one attribute. Returns whether no other value finds one: a database may take values for
 * the same that are spelled differently.
 */
async function findTogether (
  wanted: readonly UniqueValues[],
  property: Property,
  found: Map<UniqueValues, Row>,
  { target: { store, scope }, state, limit }: Lookup
): Promise<boolean> {
  const { name: attribute } = property
  const type = comparedTypeOf(property)
  const keyOf = (value: unknown): string =>
    type === 'decimal' && isDecimal(value) ? normalizeDecimal(value) : String(value)
  const value = wanted.map((values) => values[attribute] as NonNullable<Scalar>)
  const filter = [{ attribute, operator: 'in', value, type }] as const
  const rows = new Map<string, Row>()
  const query = { order: BY_ID, after: undefined, limit: undefined, scope, filter, search: undefined }
  for (const row of await collectRows(store.list(query, state), limit)) {
    rows.set(keyOf(row.attributes[attribute]), row)
  }
  const used = new Set<Row>()
  for (const values of wanted) {
    const row = rows.get(keyOf(values[attribute]))
    if (row === undefined) continue
    found.set(values, row)
    used.add(row)
  }
  return used.size === rows.size
}

async function findOne (values: UniqueValues, target: Target, state: ActionState): Promise<Row | undefined> {
  const filter = Object.entries(values).map(([attribute, value]) => {
    const property = target.resource.attributes.get(attribute)
    return { attribute, operator: 'eq', value, type: property && comparedTypeOf(property) } as const
  })
  const { rows: [row] } = await list(target, { ...FIRST, filter }, state)
  return row
}

/** Returns whether `authorize` hides a row, which the request must not find then. */
async function isHidden (
  payload: Payload,
  { id }: Row,
  { state, rows }: { readonly state: ActionState, readonly rows: number }
): Promise<boolean> {
  if (state.checkAccess === undefined) return false
  const row = new RowState(state, copy(payload, { id }), { rows, dryRun: undefined }) as ActionState & RowState
  try {
    await state.checkAccess(row, row)
    return false
  } catch (error) {
    // Every other refusal is told when the row is written.
    return error instanceof NotFoundError && !isOfParent(error)
  }
}

/** Copies a payload, which is validated again if the request begins again. */
function copy (payload: Payload, more: Partial<Payload>): Payload {
  return { ...payload, attributes: { ...payload.attributes }, issues: payload.issues.copy(), ...more }
}

interface Unmatched {
  readonly values: UniqueValues
  readonly match: Match
  readonly state: ActionState
}

/**
 * Reads a row as a new one. Its attributes are those that the hooks of the app have seen, but for empty fields, which a
 * create leaves out.
 * @throws NoMatchError if nothing is to be created
 */
function readNew (given: RowPayload, { attributes }: Payload, { values, match, state }: Unmatched): Payload {
  if (!match.creates) {
    const named = Object.entries(values).map(([name, value]) => `the ${name} ${JSON.stringify(value)}`).join(' and ')
    throw new NoMatchError(state.compiled.resource.singular, abbreviate(named))
  }
  const payload = given.readNew?.() as Payload
  const kept = Object.entries(attributes).filter(([name, value]) =>
    Object.hasOwn(payload.attributes, name) || (value != null && value !== ''))
  return { ...payload, attributes: Object.fromEntries(kept.filter(([, value]) => value !== undefined)) }
}
