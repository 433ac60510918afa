import type { Parameters } from '../../resource/path-pattern.js'
import type { Resource } from '../../resource/resource.js'
import { all, andThen, catchError, type MaybePromise } from '../../util/maybe-promise.js'
import { requestFor } from '../../relations/include/relation.js'
import type { AccessRequest } from './authorize.js'
import type { AccessContext } from './level.js'

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
