import type { FastifyRequest } from 'fastify'
import type { AccessContext } from '../core/actions/authorize/level.js'
import { canCount, type Target } from '../core/actions/list.js'
import type { CompiledResource } from '../core/compiled-resource.js'
import { guardsMore, type PassedHooks } from '../core/relations/hook-guards.js'
import { BY_ID } from '../core/stores/order.js'
import type { Count } from '../core/stores/store.js'
import { openingOf } from '../core/relations/navigation.js'
import { compileNewPath } from '../core/relations/related-lists.js'
import { findPageWriter, wordsFor } from '../core/relations/row-links.js'

/** A resource as the home page shows it. */
export interface Entry {
  readonly name: string
  readonly title: string
  readonly path: string
  /** The number of rows that the request may see. Absent if the store does not count, or if hooks guard the list. */
  readonly rows?: number
  /** Whether there are more rows than that. */
  readonly hasMoreRows?: true
}

/** The largest number of rows that is counted. */
const MOST = 10_000
/** The time for counting, in milliseconds. A view of the database may take longer, and is shown without a number. */
export const PATIENCE_MS = 1000

/** The request of a home page. */
interface HomeRequest {
  readonly request: FastifyRequest
  readonly lang: string
  /** The hooks that it has passed. */
  readonly passed: PassedHooks
}

/** Returns what the home page shows of a resource, or `undefined` if the request may not open its list. */
export async function findEntry (
  compiled: CompiledResource,
  { request, lang, passed }: HomeRequest
): Promise<Entry | undefined> {
  const { name, resourcePaths: { collection }, options: { routing: { handlers }, store } } = compiled
  const { action, resource: { singleton } } = openingOf(compiled)
  const entry = { name, title: wordsFor(compiled, lang).heading, path: collection.text }
  // The hooks of the list may be what makes the user known to `authorize`. So the list itself is asked.
  if (guardsMore(compiled, passed, action)) return entry
  const context = { request: request as AccessContext['request'], signal: AbortSignal.timeout(PATIENCE_MS) }
  const target = await findTarget(compiled, action, context)
  if (target === undefined) return undefined
  if (singleton || handlers.has('list') || !canCount(store)) return entry
  return { ...entry, ...await countRows(target, context) }
}

/** Returns the path of the form for a new row, or `undefined` if the request may not, or perhaps not, create one. */
export async function findForm (
  compiled: CompiledResource,
  { request, passed }: Pick<HomeRequest, 'request' | 'passed'>
): Promise<string | undefined> {
  const { resource: { singleton } } = compiled
  // The hooks of an action may be what makes the user known to `authorize`.
  const isGuarded = ['list', 'create', 'new'].some((action) => guardsMore(compiled, passed, action))
  if (singleton || isGuarded || findPageWriter(compiled) === undefined) return undefined
  return compileNewPath(compiled, '')({ request: request as AccessContext['request'] }, '')
}

/** Returns the rows that a request may see, or `undefined` if it may not open the list. */
async function findTarget (
  { accessChecks: { collection: check }, target }: CompiledResource,
  action: string,
  context: AccessContext
): Promise<Target | undefined> {
  try {
    return (await check?.({ action, id: undefined, isCustom: false }, context))?.target ?? target
  } catch {
    return undefined
  }
}

async function countRows (
  { store, scope }: Target,
  context: AccessContext
): Promise<Pick<Entry, 'rows' | 'hasMoreRows'> | undefined> {
  const query = { order: BY_ID, after: undefined, scope, filter: [], most: MOST + 1, estimate: false }
  try {
    const { rows } = await store.count?.(query, context) as Count
    return rows > MOST ? { rows: MOST, hasMoreRows: true } : { rows }
  } catch {
    // The list itself says what is wrong with it.
  }
}
