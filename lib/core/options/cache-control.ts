import { InvalidOptionError } from '../errors.js'
import { checkKnown, checkObject, show } from '../util/check-option.js'
import { TOKEN } from '../util/header-syntax.js'

/** The default value of `Cache-Control`. Without it, a shared cache could show one user's rows to another. */
export const PRIVATE = 'private, no-cache'

/** The values of `Cache-Control` by action, for its answers and for its errors. Other answers get `PRIVATE`. */
export interface CacheControl {
  readonly answers: ReadonlyMap<string | undefined, string>
  readonly errors: ReadonlyMap<string | undefined, string>
}

// A directive (RFC 9111 §5.2), made of tokens and quoted strings (RFC 9110 §5.6).
const DIRECTIVE = `${TOKEN}(?:=(?:${TOKEN}|"[\\t !#-\\[\\]-~]*"))?`
const DIRECTIVES = new RegExp(`^${DIRECTIVE}(?:[\\t ]*,[\\t ]*${DIRECTIVE})*$`)

/**
 * Checks the directives of the option, except the names of actions.
 * @throws InvalidOptionError
 */
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
      `must be directives such as 'public, max-age=60', separated by commas, not ${show(value)}`
    )
  }
  return value
}

/** Returns whether a value forbids caches to store an answer. Errors then have the same value. */
export function isUnstored (value: string): boolean {
  return /(?:^|[\s,])no-store(?:[\s,]|$)/i.test(value)
}

/**
 * Compiles the option `cacheControl`. Errors have the value of their action only if it forbids caches to store them.
 * Otherwise a cache could give the error of one user to others.
 * @param actions all actions of the resource
 * @throws InvalidOptionError if the option names an action that the resource does not have
 */
export function compileCacheControl (
  given: string | Readonly<Record<string, string>>,
  actions: readonly string[]
): CacheControl {
  const answers = new Map(typeof given === 'string' ? actions.map((action) => [action, given]) : Object.entries(given))
  for (const action of answers.keys()) checkKnown('cacheControl', action, actions)
  return { answers, errors: new Map([...answers].filter(([, value]) => isUnstored(value))) }
}
