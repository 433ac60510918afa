import { InvalidOptionError, UnknownOptionError } from '../errors.js'
import { didYouMean } from './words.js'
import { isObject } from './own-property.js'

/**
 * Returns a value that passes a test. `wanted` says in the message which values do.
 * @throws InvalidOptionError
 */
export function checkThat<T> (
  option: string,
  value: unknown,
  isRight: (value: unknown) => value is T,
  wanted: string
): T {
  if (isRight(value)) return value
  throw new InvalidOptionError(option, `must be ${wanted}, not ${show(value)}`)
}

export function checkText (option: string, value: unknown, pattern: RegExp, wanted: string): string {
  return checkThat(option, value, (text): text is string => typeof text === 'string' && pattern.test(text), wanted)
}

export function checkBoolean (option: string, value: unknown): boolean {
  return checkThat(option, value, (value) => typeof value === 'boolean', 'true or false')
}

export function checkObject (option: string, given: unknown, wanted: string): Readonly<Record<string, unknown>> {
  return checkThat(option, given, isObject, wanted)
}

export function checkOneOf<T extends string> (option: string, value: unknown, known: readonly T[]): T {
  const quoted = known.map((choice) => `'${choice}'`)
  const wanted = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return checkThat(option, value, (value): value is T => known.some((one) => one === value), wanted)
}

/**
 * Returns a copy of the names, so that the app's later changes have no effect.
 * @throws InvalidOptionError
 */
export function checkNames (option: string, names: unknown): readonly string[] | undefined {
  if (names === undefined) return undefined
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new InvalidOptionError(option, "must be a list of attributes such as ['title']")
  }
  return [...names]
}

/**
 * Returns a name in the value of an option, if it is known.
 * @throws InvalidOptionError
 */
export function checkKnown<T extends string> (option: string, name: string, known: readonly T[]): T {
  const found = known.find((one) => one === name)
  if (found !== undefined) return found
  const others = known.join(', ')
  throw new InvalidOptionError(option, `has "${name}", which is not one of ${others}${didYouMean(name, known)}`)
}

/**
 * Returns a copy of the value of an option. Each member must be known, and have the type of the known one.
 * @throws InvalidOptionError
 */
export function checkMembers<T extends object> (option: string, value: unknown, known: T): Partial<T> {
  const names = Object.keys(known)
  const members = checkObject(option, value, 'an object')
  for (const [name, value] of Object.entries(members)) {
    if (!names.includes(name)) {
      throw new InvalidOptionError(option, `has "${name}", which is unknown${didYouMean(name, names)}`)
    }
    const wanted = typeOf(known[name as keyof T])
    if (typeOf(value) !== wanted) {
      throw new InvalidOptionError(
        option,
        `has "${name}", which must be ${wanted === 'object' ? 'an' : 'a'} ${wanted}, not ${show(value)}`
      )
    }
  }
  // An instance of a class may inherit its members.
  const given = names.filter((name) => name in members)
  return Object.fromEntries(given.map((name) => [name, members[name]])) as Partial<T>
}

/** Checks each member of an option, and returns the results by name. Undefined members are left out. */
export function checkEach<T> (
  given: Readonly<Record<string, unknown>>,
  check: (name: string, value: unknown) => T
): ReadonlyMap<string, T> {
  const all = Object.entries(given).filter(([, value]) => value !== undefined)
  return new Map(all.map(([name, value]) => [name, check(name, value)]))
}

/**
 * Checks that all options have known names.
 * @param owner the function that takes the options, unless a caller names the owner
 * @throws UnknownOptionError
 */
export function checkOptionNames (options: object, known: readonly string[], owner?: string): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    throw new UnknownOptionError(name, didYouMean(name, known), owner === undefined ? '' : ` of ${owner}`)
  }
}

function typeOf (value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
}

export function show (value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** Returns whether a value is a function. The parameters of a function cannot be checked. */
export function isFunction<F extends (...parameters: never[]) => unknown> (value: unknown): value is F {
  return typeof value === 'function'
}
