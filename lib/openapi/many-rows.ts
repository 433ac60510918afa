import type { CompiledResource } from '../core/compiled-resource.js'
import { CREATE, MATCH, matchableGroups } from '../core/request/match.js'
import { DRY_RUN, IDS } from '../core/request/rows.js'
import { ID_SCHEMAS } from '../core/resource/resource.js'
import type { Route, RoutePath } from '../core/routes/route.js'
import { inQuery } from './parameters.js'
import { membersOf, type Part } from './part.js'
import { VERSION } from './resource-schemas.js'

/** How a body has many rows. */
export interface ManyRows {
  /** The list of rows. */
  readonly list: Part
  /** Returns the group of XML that has several ids inside. @default the group of one row may have several */
  readonly group?: () => Part
}

/** Returns whether a request to a path may have many rows for an action. */
export function takesMany (compiled: CompiledResource, { param }: RoutePath, action: string): boolean {
  const { resource: { singleton }, options: { maxRows } } = compiled
  return !singleton && param === undefined && maxRows > 0 && isTransactional(compiled, action)
}

/** Returns whether an action takes part in a transaction. A handler of the app says so by `many`. */
function isTransactional ({ options: { store, routing } }: CompiledResource, action: string): boolean {
  return store.transaction !== undefined && (!routing.handlers.has(action) || routing.manyRows.has(action))
}

/** Returns whether the first action of a route may be a dry run, which no page shows. */
export function mayBeDryRun (
  compiled: CompiledResource,
  { actions: [{ name }], parameters }: Route
): boolean {
  return parameters.includes(DRY_RUN) && isTransactional(compiled, name) &&
    compiled.representations.some(({ browser }) => browser !== true)
}

/** Describes a list of rows in a body. */
export function listRows ({ options: { maxRows } }: CompiledResource, row: Part): Part {
  return { type: 'array', items: row, maxItems: maxRows }
}

/** Describes several ids. */
export function describeIds ({ resource: { idType }, options: { maxRows } }: CompiledResource): Part {
  return { type: 'array', items: ID_SCHEMAS[idType], maxItems: maxRows }
}

/** Names several ids for XML: `<id type="array"><id>1</id></id>`. */
export function nameIds (ids: Part): Part {
  return { ...ids, items: { ...membersOf(ids.items), xml: { name: 'id' } }, xml: { wrapped: true } }
}

/** Describes the parameter for several ids. */
export function describeQueriedIds (ids: Part): Part {
  return inQuery(IDS, ids, 'Several ids, if they are not in the body.', { style: 'form', explode: true })
}

/** Describes the parameters of an update that finds its rows by unique attributes, if there are any. */
export function describeMatch (compiled: CompiledResource, { isMember }: RoutePath): readonly Part[] {
  const groups = matchableGroups(compiled).map((group) => group.join(','))
  if (groups.length === 0) return []
  const mayCreate = !isMember && compiled.resource.actions.has('create') && isTransactional(compiled, 'create')
  return [
    inQuery(
      MATCH,
      { type: 'string', examples: groups },
      'The unique attributes, joined by commas, that find each row of a list in place of its id.'
    ),
    ...(mayCreate ? [inQuery(CREATE, { type: 'boolean' }, 'Whether a row that is not found is created.')] : [])
  ]
}

/** Describes the group of a delete, which ignores attributes: of one row, or of these ids. */
export function describeDeleted (
  { resource: { singular, idType, singleton } }: CompiledResource,
  { ids, isItem = false }: { readonly ids?: Part | undefined, readonly isItem?: boolean }
): Part {
  const one = ID_SCHEMAS[idType]
  const id = ids === undefined ? one : { oneOf: [one, nameIds(ids)] }
  return {
    type: 'object',
    ...(isItem && { required: ['id'] }),
    properties: { ...(!singleton && { id }), ...VERSION },
    xml: { name: singular }
  }
}
