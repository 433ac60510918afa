import { InvalidError, NoMatchError, NotFoundError } from '../errors.js'
import { type Said, say } from '../messages.js'
import { FIRST } from '../modes.js'
import { type Match, matchableGroups, refuseMatch } from '../request/match.js'
import type { Payload, RowPayload } from '../request/payload.js'
import { type ActionState, RowState } from '../request/state.js'
import { comparedTypeOf } from '../request/filter-query.js'
import type { Row } from '../resource/row.js'
import type { Scalar } from '../schema/types.js'
import { ownMember } from '../util/own-property.js'
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
  const matched: RowPayload[] = []
  const seen = new Set<string>()
  for (const given of rows) {
    try {
      if (given.payload === undefined) throw given.fault
      const values = readValues(given.payload, match, target)
      const found = await find(values, target, state)
      const key = found === undefined ? JSON.stringify(values) : `id ${found.id}`
      if (seen.has(key)) throw refuseValues(match.names, 'is given more than once')
      seen.add(key)
      matched.push(found === undefined || await isHidden(given.payload, found, { state, rows: rows.length })
        ? { ...given, payload: readNew(given, given.payload, { values, match, state }) }
        : { ...given, payload: copy(given.payload, { id: found.id }), found })
    } catch (fault) {
      matched.push({ ...given, payload: undefined, fault })
    }
  }
  return matched
}

/** The unique values of a row, by attribute. */
type Values = Readonly<Record<string, NonNullable<Scalar>>>

/**
 * Returns the values by which a row is found. What the scope gives takes precedence, as in each write.
 * @throws InvalidError
 */
function readValues ({ attributes, issues }: Payload, { names }: Match, { scope }: Target): Values {
  const values = names.map((name): [string, unknown] => [name, ownMember(scope, name) ?? ownMember(attributes, name)])
  const lacking = values.filter(([, value]) => value == null).map(([name]) => name)
  if (lacking.some((name) => issues.isAbout(name))) throw new InvalidError(Object.fromEntries(issues.messages))
  if (lacking.length > 0) throw refuseValues(lacking, say('mustBeGiven'))
  const structures = values.filter(([, value]) => typeof value === 'object').map(([name]) => name)
  if (structures.length > 0) throw refuseValues(structures, 'must be a single value, because it finds the row')
  return Object.fromEntries(values) as Values
}

function refuseValues (names: readonly string[], message: Said): InvalidError {
  return new InvalidError(Object.fromEntries(names.map((name) => [name, [message]])))
}

async function find (values: Values, target: Target, state: ActionState): Promise<Row | undefined> {
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
  readonly values: Values
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
