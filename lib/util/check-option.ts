import { InvalidOptionError } from '../errors.js'
import { didYouMean } from './did-you-mean.js'
import { isObject } from './own-property.js'

export function checkOneOf<T extends string> (option: string, value: unknown, known: readonly T[]): T {
  if (!known.includes(value as T)) {
    throw new InvalidOptionError(option, `must be ${joinChoices(known)}, not ${show(value)}`)
  }
  return value as T
}

/** `'a', 'b' or 'c'` */
function joinChoices (choices: readonly string[]): string {
  const quoted = choices.map((choice) => `'${choice}'`)
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

export function checkBoolean (option: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new InvalidOptionError(option, `must be true or false, not ${show(value)}`)
  return value
}

export function checkNames (option: string, names: unknown): readonly string[] | undefined {
  if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string'))) {
    throw new InvalidOptionError(option, "must be a list of attributes such as ['title']")
  }
  return names
}

/** @param wanted what the message asks for */
export function checkObject (option: string, given: unknown, wanted: string): Readonly<Record<string, unknown>> {
  if (!isObject(given)) throw new InvalidOptionError(option, `must be ${wanted}, not ${show(given)}`)
  return given
}

/** Checks a name in the value of an option. */
export function checkKnown (option: string, name: string, known: readonly string[]): void {
  if (!known.includes(name)) {
    throw new InvalidOptionError(
      option,
      `has "${name}", which is none of ${known.join(', ')}${didYouMean(name, known)}`
    )
  }
}

/** Each member must be one of those known, and of the same type. */
export function checkMembers<T extends object> (option: string, given: unknown, known: T): Partial<T> {
  const names = Object.keys(known)
  for (const [name, value] of Object.entries(checkObject(option, given, 'an object'))) {
    if (!names.includes(name)) {
      throw new InvalidOptionError(option, `has "${name}", which there is none of${didYouMean(name, names)}`)
    }
    const wanted = typeOf(known[name as keyof T])
    if (typeOf(value) !== wanted) {
      throw new InvalidOptionError(
        option,
        `has "${name}", which must be ${wanted === 'object' ? 'an' : 'a'} ${wanted}, not ${show(value)}`
      )
    }
  }
  return given as Partial<T>
}

function typeOf (value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
}

export function show (value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
