import type { FastifyRequest } from 'fastify'
import { nameOf, type Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { all, andThen, catchError, type MaybePromise } from '../../util/maybe-promise.js'
import type { Parameters } from '../../resource/path-pattern.js'
import { requestFor } from '../../relations/include/relation.js'
import type { AccessContext, Authorize, AuthorizeContext } from './level.js'
import type { AccessRequest } from './authorize.js'

/** The names of actions that `authorize` refuses. The set is shared by answers with the same names. */
export type Refused = ReadonlySet<string>

/** The set for a page about which `authorize` was not asked. */
export const NONE_REFUSED: Refused = new Set()

/** Finds which of the actions that a page offers `authorize` refuses to a request. */
export interface Refusals {
  /** Finds them for the page of a list. */
  ofCollection (request: FastifyRequest): MaybePromise<Refused>
  /** Finds them for the page of a row that does not exist. */
  ofNothing (request: FastifyRequest): MaybePromise<Refused>
  /** Finds them for the page of a row. A singleton has no id. */
  ofRow (request: FastifyRequest, id: Id | undefined): MaybePromise<Refused>
}

interface NamedAction {
  readonly name: string
}

/** The most sets that are kept, one for each combination of actions. */
const MOST_KEPT = 100

/** Compiles the search for refused actions. Returns `undefined` without `authorize`, so that pages cost nothing. */
export function compileRefusals (
  authorize: readonly Authorize[],
  resource: Resource,
  collectionActions: readonly NamedAction[],
  memberActions: readonly NamedAction[]
): Refusals | undefined {
  if (authorize.length === 0) return undefined
  const kept = new Map<string, Refused>()
  const offers = (
    usual: ReadonlyArray<'create' | 'new' | 'update' | 'edit' | 'delete'>,
    own: readonly NamedAction[]
  ): readonly string[] => [
    ...new Set([...usual.filter((action) => resource.actions.has(action)), ...own.map(({ name }) => name)])
  ]
  const ofCollection = offers(['create', 'new'], collectionActions)
  const ofRow = offers(['update', 'edit', 'delete'], memberActions)

  function keep (names: readonly string[]): Refused {
    const key = names.join(' ')
    const known = kept.get(key)
    if (known !== undefined) return known
    if (kept.size >= MOST_KEPT) kept.clear()
    const refused = new Set(names)
    kept.set(key, refused)
    return refused
  }

  function find (
    actions: readonly string[],
    ask: (action: string) => ReadonlyArray<MaybePromise<boolean>>
  ): MaybePromise<Refused> {
    const answers = actions.map((action) => any(ask(action)))
    const choose = (answers: readonly boolean[]): Refused => keep(actions.filter((_, index) => answers[index]))
    return andThen(all(answers), choose)
  }

  const withoutRow =
    (actions: readonly string[]) =>
      (request: FastifyRequest): MaybePromise<Refused> =>
        find(actions, (action) =>
          authorize.map((isAllowed) => refuses(isAllowed, request, { action, resource: nameOf(resource) }))
        )

  return {
    ofCollection: withoutRow(ofCollection),
    ofNothing: withoutRow(offers(['create'], [])),
    ofRow: (request, id) =>
      find(ofRow, (action) =>
        authorize.map((isAllowed) =>
          refusesRow(isAllowed, request, { action, resource: nameOf(resource), ...(id !== undefined && { id }) })
        )
      )
  }
}

function any (answers: ReadonlyArray<MaybePromise<boolean>>): MaybePromise<boolean> {
  return andThen(all(answers), (answers) => answers.includes(true))
}

/** Returns whether `authorize` certainly refuses. An error decides nothing. */
function refuses (isAllowed: Authorize, request: FastifyRequest, attempt: AuthorizeContext): MaybePromise<boolean> {
  return catchError(() => andThen(isAllowed(request, attempt), (answer) => answer !== true), () => false)
}

/** Returns the same for a row, without reading it. If `authorize` asks for the row, nothing is decided. */
function refusesRow (isAllowed: Authorize, request: FastifyRequest, attempt: AuthorizeContext): MaybePromise<boolean> {
  let needsRow = false
  const row = (): Promise<never> => {
    needsRow = true
    // A rejected promise, because a throw would abandon promises that `authorize` already waits for.
    const refused = Promise.reject(new Error('resources: authorize has no row when a page asks which buttons to show'))
    refused.catch(() => {})
    return refused
  }
  return andThen(refuses(isAllowed, request, { ...attempt, row }), (refused) => refused && !needsRow)
}

/** The question whether a request may open the list of a resource, or the only record of a singleton. */
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
export function findUnlisted (
  checks: readonly ListCheck[],
  context: AccessContext,
  parameters: Parameters
): MaybePromise<ReadonlySet<Resource>> {
  const answers = checks.map(({ resource, action, parameters: names, check }) => {
    const request = requestFor(context, [], Object.fromEntries(names.map((name) => [name, parameters[name]])))
    const ask = (): MaybePromise<unknown> =>
      check({ action, id: undefined, isCustom: false }, { request, get signal () { return context.signal } })
    return catchError<Resource | undefined>(() => andThen(ask(), () => undefined), () => resource)
  })
  return andThen(all(answers), (refused) => new Set(refused.filter((resource) => resource !== undefined)))
}
