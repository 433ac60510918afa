import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, ownerOf } from '../errors.js'
import { nameTypes } from '../messages.js'
import type { JsonWriter, ListWriter, PageWriter, TextWriter, Writer } from '../formats/format.js'
import { declareAttributes } from '../resource/attributes.js'
import type { Resource } from '../resource/resource.js'
import { describeTypes } from '../schema/convert-text.js'
import { withoutRowKeywords } from '../schema/row-keywords.js'
import type { AttributesSchema } from '../schema/types.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import { noStore, type Store } from '../stores/store.js'
import { didYouMean } from '../util/words.js'

/**
 * Checks that the store keeps each type that an attribute may have. It would refuse values of other types.
 * @throws InvalidOptionError
 */
export function checkTypesKept ({ plural, attributes }: Resource, kept: AttributesSchema | undefined): void {
  if (kept === undefined) return
  const stored = declareAttributes(plural, withoutRowKeywords({ ...kept }))
  for (const { name, shape } of attributes.values()) {
    const types = stored.get(name)?.shape.types
    const other = [...shape.types].find((type) => types?.has(type) === false)
    if (types !== undefined && other !== undefined) {
      throw new InvalidOptionError(
        'attributes',
        `declares "${name}", which may be ${nameTypes([other])}, but in the store it ` +
          describeTypes(types).text
      )
    }
  }
}

/**
 * Checks that the store has an attribute for the parent's id.
 * @throws InvalidOptionError
 */
export function checkForeignKey (
  { plural, foreignKey }: Resource,
  parent: Resource,
  kept: AttributesSchema | undefined
): void {
  if (kept === undefined) return
  const name = foreignKey as string
  const type = parent.idType === 'integer' ? 'integer' : 'string'
  const stored = declareAttributes(plural, withoutRowKeywords({ ...kept })).get(name)
  if (stored?.shape.types.has(type) !== true) {
    throw new InvalidOptionError(
      'store',
      `must keep "${name}", the id of the ${parent.singular} to which a row belongs; declare it in the "attributes" ` +
        'of the store as ' +
        `${nameTypes([type])}${parent.idType === 'uuid' ? ' of the format uuid' : ''}`
    )
  }
}

/**
 * Checks that the store can keep the time of deletions, and find deleted rows.
 * @throws InvalidOptionError
 */
export function checkSoftDelete (
  { store, store: { attributes, capabilities: { filter = false } = {} } }: ResolvedOptions,
  { attribute, rows }: NonNullable<ResolvedOptions['softDelete']>
): void {
  const refuse = (reason: string): never => { throw new InvalidOptionError('softDelete', reason) }
  if (store === noStore) refuse('needs a "store", whose rows it keeps')
  if (attributes !== undefined && !Object.hasOwn(attributes.properties, attribute)) {
    refuse(`names "${attribute}", which is not an attribute of the store; add a column for dates and times to it`)
  }
  if (rows === 'deleted' && filter !== true && !(filter !== false && filter.includes('null'))) {
    refuse('needs a store that can filter rows by "null", because "authorize" may allow lists of deleted rows')
  }
}

/**
 * Warns of the unique groups of a resource with a `scope` that have no attribute of it. Their 409 tells what rows
 * beyond the scope have. A group of several attributes may have one, unless `scopeAttributes` names those of the scope.
 */
export function warnOfOpenGroups (
  { log }: FastifyInstance,
  { name, store, unique: declared, scopeAttributes, routing, softDelete }: ResolvedOptions
): void {
  const { unique = declared } = store
  const isLive = softDelete?.rows === 'live'
  // The time of a deletion is null in each row of the scope, and null is never taken.
  if (routing.scope.length === (isLive ? 1 : 0)) return
  const isUnknown = Object.keys(scopeAttributes).every((name) => isLive && name === softDelete.attribute)
  for (const group of unique.map((group) => [group].flat())) {
    const isOpen = isUnknown ? group.length === 1 : !group.some((name) => Object.hasOwn(scopeAttributes, name))
    if (!isOpen) continue
    log.warn(
      `${ownerOf(name)}: "unique" has [${group.map((name) => `'${name}'`).join(', ')}] without an attribute of its ` +
        '"scope", so a 409 tells which values rows outside the scope have; if it must not, add the attribute to the ' +
        'group'
    )
  }
}

/**
 * Checks that the store has the method of each capability.
 * @throws InvalidOptionError
 */
export function checkCapabilities ({ capabilities, count }: Store): void {
  if (capabilities?.count !== true || count !== undefined) return
  throw new InvalidOptionError(
    'store',
    'declares "capabilities.count", but has no method "count"; add the method, or leave out the capability'
  )
}

/**
 * Checks that requests with a key can be kept.
 * @param isGuarded whether the answers depend on the user
 * @throws InvalidOptionError
 */
export function checkKeptRequests ({ idempotency, store }: ResolvedOptions, isGuarded: boolean): void {
  if (idempotency === undefined) return
  if (store.transaction === undefined || store.requests === undefined) {
    throw new InvalidOptionError('idempotency', 'needs a store with transactions that keeps requests (docs/stores.md)')
  }
  if (isGuarded && idempotency.principal === undefined) {
    throw new InvalidOptionError(
      'idempotency',
      'needs "principal", because "authorize", "scope" or "roles" tell users apart: a function that returns the user ' +
        'of a request, such as (request) => request.user.id'
    )
  }
}

/**
 * Checks that each name of an option for pages is a declared attribute, and is not `writeOnly`.
 * @throws InvalidOptionError
 */
export function checkShown (
  { open, attributes }: Resource,
  option: string,
  names: readonly string[]
): void {
  for (const name of open ? [] : names) {
    const attribute = attributes.get(name)
    if (attribute === undefined) {
      throw new InvalidOptionError(
        option,
        `names "${name}", which is not among the attributes declared${didYouMean(name, [...attributes.keys()])}`
      )
    }
    if (attribute.writeOnly) {
      throw new InvalidOptionError(option, `names "${name}", which is writeOnly and is never shown`)
    }
  }
}

/**
 * Checks that the writer of an app's own format has the required members.
 * @throws InvalidOptionError
 */
export function checkWriter (name: string, writer: Partial<Writer> | null | undefined): void {
  const { document, record, problem, list, page } = (writer ?? {}) as Partial<
    Record<keyof TextWriter | keyof JsonWriter | keyof PageWriter, unknown>
  > & { readonly list?: Partial<ListWriter> }
  const hasList =
    typeof list?.open === 'string' &&
    typeof list.row === 'function' &&
    typeof list.separator === 'string' &&
    typeof list.close === 'string'
  const hasRecord = document !== undefined || (typeof record === 'function' && typeof problem === 'function')
  if (!hasRecord) {
    throw new InvalidOptionError(
      'formats',
      `has "${name}", whose writer must have the functions "record" and "problem"`
    )
  }
  if (!hasList && typeof page !== 'function') {
    throw new InvalidOptionError(
      'formats',
      `has "${name}", whose writer must have "list", made of open, row, separator and close, or the function "page"`
    )
  }
}
