import { InvalidOptionError } from '../errors.js'
import { checkKnown, checkObject, show } from '../util/check-option.js'
import { TOKEN } from '../util/header-syntax.js'

/** What every answer says unless the app says otherwise: a shared cache would show one user's rows to another. */
export const PRIVATE = 'private, no-cache'

/** The value for the answers of an action; undefined stands for a request that has asked for none. */
export type FindCacheControl = (action: string | undefined, isError: boolean) => string

// RFC 9111 §5.2, with tokens and quoted strings as in RFC 9110 §5.6.
const DIRECTIVE = `${TOKEN}(?:=(?:${TOKEN}|"[\\t !#-\\[\\]-~]*"))?`
const DIRECTIVES = new RegExp(`^${DIRECTIVE}(?:[\\t ]*,[\\t ]*${DIRECTIVE})*$`)

/** @throws InvalidOptionError */
export function checkCacheControl (option: string, given: unknown): string | Readonly<Record<string, string>> {
  if (typeof given === 'string') return checkDirectives(option, given)
  const wanted =
    "directives such as 'public, max-age=60', or directives by action such as { list: 'public, max-age=60' }"
  return Object.fromEntries(
    Object.entries(checkObject(option, given, wanted))
      .filter(([, value]) => value !== undefined)
      .map(([action, value]) => [action, checkDirectives(option, value)])
  )
}

function checkDirectives (option: string, value: unknown): string {
  if (typeof value !== 'string' || !DIRECTIVES.test(value)) {
    throw new InvalidOptionError(
      option,
      `must be directives such as 'public, max-age=60', with commas between them, not ${show(value)}`
    )
  }
  return value
}

/** Whether no cache may keep the answer at all: then errors say the same. */
export function isUnstored (value: string): boolean {
  return /(?:^|[\s,])no-store(?:[\s,]|$)/i.test(value)
}

/**
 * An error never has the value that is meant for its action, unless that forbids to store it: what is refused to one
 * user is not what others get.
 * @param actions all that the resource has
 * @throws InvalidOptionError where an action is named that there is not
 */
export function compileCacheControl (
  given: string | Readonly<Record<string, string>>,
  actions: readonly string[]
): FindCacheControl {
  const byAction = new Map(typeof given === 'string' ? actions.map((action) => [action, given]) : Object.entries(given))
  for (const action of byAction.keys()) checkKnown('cacheControl', action, actions)
  if (byAction.size === 0) return () => PRIVATE
  return (action, isError) => {
    const value = action === undefined ? undefined : byAction.get(action)
    return value === undefined || (isError && !isUnstored(value)) ? PRIVATE : value
  }
}
