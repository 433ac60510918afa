import { InvalidQueryError } from '../errors.js'
import type { Resource } from '../resource/resource.js'
import type { Store } from '../stores/store.js'
import type { UniqueGroups } from '../stores/unique.js'
import type { QueryParameters } from './filter-query.js'

/** The query parameter that names the unique attributes by which an update finds its rows, joined by commas. */
export const MATCH = 'match'

/** The query parameter that says by `true` to create the rows that `match` does not find. */
export const CREATE = 'create'

/** How an update finds its rows, if not by their ids. */
export interface Match {
  /** The attributes that find a row. */
  readonly names: readonly string[]
  /** The other attributes of the unique groups with these names. The scope must give those of one group. */
  readonly others: ReadonlyArray<readonly string[]>
  /** Whether a row that is not found is created. */
  readonly creates: boolean
}

/** A resource, and what is declared unique. */
export interface MatchableResource {
  readonly resource: Resource
  readonly options: {
    readonly store: Store
    readonly unique: UniqueGroups
    readonly routing: { readonly scope: readonly unknown[] }
  }
}

/**
 * Returns the attributes of each unique group that clients can send and see. The scope, or the path of a nested
 * resource, must give the others.
 */
export function matchableGroups (compiled: MatchableResource): ReadonlyArray<readonly string[]> {
  return uniqueGroups(compiled)
    .map((group) => group.filter((name) => isKnown(name, compiled.resource)))
    .filter((names) => names.length > 0)
}

/** Returns the unique groups by which rows can be found. */
function uniqueGroups ({ resource, options }: MatchableResource): ReadonlyArray<readonly string[]> {
  const { store: { capabilities: { filter = false } = {}, unique = options.unique }, routing: { scope } } = options
  if (filter === false) return []
  const mayBeGiven = (name: string): boolean =>
    scope.length > 0 || name === resource.foreignKey || isKnown(name, resource)
  return unique.map((group) => [group].flat()).filter((group) => group.every(mayBeGiven))
}

function isKnown (name: string, { open, attributes }: Resource): boolean {
  const { readOnly, writeOnly } = attributes.get(name) ?? { readOnly: !open, writeOnly: false }
  return !readOnly && !writeOnly
}

/**
 * Reads how the query of an update finds its rows. Returns `undefined` if it finds them by their ids.
 * @param isMember whether the path has rows of several parents, in whose lists no row can be created
 * @throws InvalidQueryError
 */
export function readMatch (query: QueryParameters, compiled: MatchableResource, isMember: boolean): Match | undefined {
  const { [MATCH]: match, [CREATE]: create = 'false' } = query
  if (create !== 'true' && create !== 'false') throw new InvalidQueryError(`"${CREATE}" must be true or false`)
  const creates = create === 'true'
  if (match === undefined) {
    if (creates) throw new InvalidQueryError(`"${CREATE}" is about rows that "${MATCH}" does not find; send both`)
    return undefined
  }
  if (creates && (isMember || !compiled.resource.actions.has('create'))) {
    throw new InvalidQueryError(`"${CREATE}" needs a path on which rows can be created`)
  }
  const names = match.split(',')
  const others = uniqueGroups(compiled)
    .filter((group) => names.every((name) => group.includes(name) && isKnown(name, compiled.resource)))
    .map((group) => group.filter((name) => !names.includes(name)))
  if (others.length === 0 || new Set(names).size < names.length) throw refuseMatch(matchableGroups(compiled))
  return { names, others, creates }
}

/** Makes the error about attributes that do not find a single row. */
export function refuseMatch (groups: ReadonlyArray<readonly string[]>): Error {
  const known = groups.map((group) => group.join(','))
  return new InvalidQueryError(known.length === 0
    ? `"${MATCH}" needs an attribute that is declared unique`
    : `"${MATCH}" must be ${known.join(' or ')}`)
}
