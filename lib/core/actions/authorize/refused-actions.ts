import type { FastifyRequest } from 'fastify'
import type { Refused } from '../../formats/services.js'
import { nameOf } from '../../modes.js'
import type { Resource } from '../../resource/resource.js'
import type { Id, Row } from '../../resource/row.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import type { Parameters } from '../../resource/path-pattern.js'
import { requestFor } from '../../relations/include/relation.js'
import type { AccessContext, Authorize, AuthorizeContext } from './level.js'
import type { AccessRequest } from './authorize.js'

/** The set for a page about which `authorize` was not asked. */
export const NONE_REFUSED: Refused = new Set()

/** Finds which of the actions that a page offers `authorize` refuses to a request. */
export interface Refusals {
  /** Finds them for the page of a list. */
  ofCollection (request: FastifyRequest): Promise<Refused>
  /** Finds the refused actions about several rows of that page. `authorize` is asked without an id. */
  ofRows (request: FastifyRequest): Promise<Refused>
  /** Finds them for the page of a row that does not exist. */
  ofNothing (request: FastifyRequest): Promise<Refused>
  /**
   * Finds them for the page of a row.
   * @param row the stored row, or `undefined` if it is not known
   */
  ofRow (request: FastifyRequest, id: Id | undefined, row: Row | undefined): Promise<Refused>
}

interface NamedAction {
  readonly name: string
  /** Whether it is also performed on several rows. @default false */
  readonly many?: boolean
}

/** Compiles the search for refused actions. Returns `undefined` without `authorize`, so that pages cost nothing. */
export function compileRefusals (
  authorize: readonly Authorize[],
  resource: Resource,
  collectionActions: readonly NamedAction[],
  memberActions: readonly NamedAction[]
): Refusals | undefined {
  if (authorize.length === 0) return undefined
  const offers = (
    usual: ReadonlyArray<'create' | 'new' | 'update' | 'edit' | 'delete'>,
    own: readonly NamedAction[]
  ): readonly string[] => [
    ...new Set([...usual.filter((action) => resource.actions.has(action)), ...own.map(({ name }) => name)])
  ]
  const ofCollection = offers(['create', 'new'], collectionActions)
  const ofNothing = offers(['create'], [])
  const ofRow = offers(['update', 'edit', 'delete'], memberActions)
  const ofRows = offers(['update', 'delete'], memberActions.filter(({ many }) => many === true))

  async function find (
    request: FastifyRequest,
    actions: readonly string[],
    ask: typeof refuses,
    about: Omit<AuthorizeContext, 'action' | 'resource'> = {}
  ): Promise<Refused> {
    const answers = await Promise.all(actions.map(async (action) => {
      const attempt = { action, resource: nameOf(resource), ...about }
      return Promise.all(authorize.map(async (isAllowed) => ask(isAllowed, request, attempt)))
    }))
    return new Set(actions.filter((_, index) => answers[index]?.includes(true)))
  }

  return {
    ofCollection: async (request) => find(request, ofCollection, refuses),
    ofRows: async (request) => find(request, ofRows, refusesRow, { rows: SEVERAL }),
    ofNothing: async (request) => find(request, ofNothing, refuses),
    ofRow: async (request, id, row) => {
      const about = id === undefined ? {} : { id }
      if (row === undefined) return find(request, ofRow, refusesRow, about)
      return find(request, ofRow, refuses, { ...about, row: async () => row })
    }
  }
}

/** The least number of several rows. */
const SEVERAL = 2

/** Returns whether `authorize` certainly refuses. An error decides nothing. */
async function refuses (isAllowed: Authorize, request: FastifyRequest, attempt: AuthorizeContext): Promise<boolean> {
  try {
    return await isAllowed(request, attempt) !== true
  } catch {
    return false
  }
}

/** Returns the same for a row that is not known. If `authorize` asks for it, nothing is decided. */
async function refusesRow (isAllowed: Authorize, request: FastifyRequest, attempt: AuthorizeContext): Promise<boolean> {
  let needsRow = false
  const row = (): Promise<never> => {
    needsRow = true
    // A rejected promise, because a throw would abandon promises that `authorize` already waits for.
    const refused = Promise.reject(new Error('resources: authorize has no row when a page asks which buttons to show'))
    refused.catch(() => {})
    return refused
  }
  return await refuses(isAllowed, request, { ...attempt, row }) && !needsRow
}

/** The question whether a request may open the list of a resource, or its only record. */
export interface ListCheck {
  readonly resource: Resource
  readonly action: 'list' | 'show'
  /** Whether the bar links to the list. */
  readonly isOfBar: boolean
  /** The names of the parameters in the path of the list. */
  readonly parameters: readonly string[]
  /** Throws if the request may not open the list. */
  check (access: AccessRequest, context: AccessContext): MaybePromise<unknown>
}

/** The set for a page whose links need no question. */
export const NONE_UNLISTED: ReadonlySet<Resource> = new Set()

/**
 * Finds the resources whose lists a request may not open. Each error counts as a refusal, because a page must not fail
 * if a link is missing.
 * @param parameters the parameters in the path of the page
 */
export async function findUnlisted (
  checks: readonly ListCheck[],
  context: AccessContext,
  parameters: Parameters
): Promise<ReadonlySet<Resource>> {
  const refused = await Promise.all(checks.map(async ({ resource, action, parameters: names, check }) => {
    const request = requestFor(context, [], Object.fromEntries(names.map((name) => [name, parameters[name]])))
    try {
      await check({ action, id: undefined, isCustom: false }, { request, get signal () { return context.signal } })
      return undefined
    } catch {
      return resource
    }
  }))
  return new Set(refused.filter((resource) => resource !== undefined))
}
