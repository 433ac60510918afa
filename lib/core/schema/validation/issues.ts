import type { ErrorObject } from 'ajv'
import { type Message, type Said, say } from '../../messages.js'
import { abbreviate } from '../../util/words.js'
import { BASE64, describeShape, describeTypes, ORDERED_FORMATS } from '../convert-text.js'
import type { Shape } from '../shape.js'
import type { TypeName } from '../types.js'
import { TooManyValuesError } from '../../errors.js'
import { isStructure } from '../../util/own-property.js'

/** The most paths with messages, and messages of one path. It bounds the answer to a body with a million faults. */
const LIMIT = 100
/** The most characters of all paths and messages. What comes after is not noted. */
const MOST_CHARACTERS = 8000
/** The length at which a path is cut, in characters. */
const MAX_PATH_LENGTH = 500

/** The messages about a payload, by the path of the attribute. They are collected while it is read and checked. */
export class Issues {
  readonly #messages = new Map<string, Said[]>()
  readonly #faulty = new Map<string, unknown>()
  readonly #whole = new Set<string>()
  #values = 0
  #characters = 0

  /** The messages by path. */
  get messages (): ReadonlyMap<string, readonly Said[]> {
    return this.#messages
  }

  /** The number of paths with messages. */
  get size (): number {
    return this.#messages.size
  }

  /** Whether the limit is reached. Further faults are not noted, so that the search for them can end. */
  get isFull (): boolean {
    return this.size >= LIMIT || this.#characters >= MOST_CHARACTERS
  }

  /** The values of attributes of which some parts have issues. Code that walks through them may overflow the stack. */
  get faulty (): ReadonlyMap<string, unknown> {
    return this.#faulty
  }

  /** The names of the `faulty` attributes that were read whole. Code may walk through their values. */
  get whole (): ReadonlySet<string> {
    return this.#whole
  }

  /** Notes a message about the value at `path` (`title`, `author.name`, `tags.0`), unless the limit is reached. */
  add (path: string, message: Said): void {
    if (this.isFull) return
    const text = String(message)
    const at = abbreviate(path, MAX_PATH_LENGTH)
    const messages = this.#messages.get(at)
    if (messages === undefined) this.#messages.set(at, [message])
    else if (messages.length < LIMIT && !messages.some((other) => String(other) === text)) messages.push(message)
    else return
    this.#characters += at.length + text.length
  }

  /** Returns a copy, whose messages can be changed apart from these. */
  copy (): Issues {
    const copy = new Issues()
    for (const [path, messages] of this.#messages) copy.#messages.set(path, [...messages])
    for (const [name, value] of this.#faulty) copy.#faulty.set(name, value)
    for (const name of this.#whole) copy.#whole.add(name)
    copy.#characters = this.#characters
    copy.#values = this.#values
    return copy
  }

  /** Returns whether there is a message about an attribute or a part of it. */
  isAbout (attribute: string): boolean {
    for (const path of this.messages.keys()) if (isWithin(path, attribute)) return true
    return false
  }

  /** Adds the messages about parts that have none yet, and are not in or around a part that has one. */
  addFurther ({ messages: further }: Issues): void {
    const known = [...this.messages.keys()]
    for (const [path, messages] of further) {
      if (known.some((other) => isWithin(path, other) || isWithin(other, path))) continue
      for (const message of messages) this.add(path, message)
    }
  }

  /** @param isRead whether the value was read without an issue, so that only a check of it has found one */
  addFaulty (name: string, value: unknown, isRead: boolean): void {
    this.#faulty.set(name, value)
    if (isRead && !isDeeper(value, MAX_DEPTH)) this.#whole.add(name)
  }

  /** Removes the messages about an attribute and its parts. */
  remove (attribute: string): void {
    for (const path of this.messages.keys()) if (isWithin(path, attribute)) this.#messages.delete(path)
  }

  /**
   * Counts further values of a body: those that the text of one of its fields contains.
   * @throws TooManyValuesError if a body has too many of them
   */
  countValues (more: number): void {
    checkValueCount(this.#values += more)
  }
}

/** Returns whether a path is `outer` or leads into it. */
export function isWithin (path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`)
}

/** Returns whether an attribute was sent back as it was shown. `value` is `undefined` if it could not be converted. */
export type IsUntouched = (name: string, value: unknown) => boolean

/** Returns the attributes that an update changes: those that were not sent back as they were shown. */
export function findChanges (supplied: Record<string, unknown>, isUntouched: IsUntouched): Record<string, unknown> {
  // An attribute that is removed was shown as null.
  return Object.fromEntries(Object.entries(supplied).filter(([name, value]) => !isUntouched(name, value ?? null)))
}

/**
 * Removes those of the named attributes that have issues although they were sent back as they were shown, and these
 * issues. Nothing is removed if further attributes may be unread, because the limit is reached.
 */
export function dropUntouched (
  names: Iterable<string>,
  supplied: Record<string, unknown>,
  issues: Issues,
  isUntouched: IsUntouched
): void {
  if (issues.isFull) return
  for (const name of names) {
    if (!issues.isAbout(name)) continue
    if (!isUntouched(name, issues.whole.has(name) ? issues.faulty.get(name) : supplied[name])) continue
    delete supplied[name]
    issues.remove(name)
  }
}

/** The message about an attribute without content. */
export const BLANK: Message = say('mustNotBeBlank')

/** The most errors of Ajv to describe for one attribute. Nested alternatives each report their own errors. */
export const MAX_ERRORS = 1000

interface Described {
  readonly path: string
  readonly message: Said
}

/**
 * Describes the errors of Ajv for one attribute. The errors of alternatives that differ only in type, or at one place
 * only in `const`, become one message. The errors of `anyOf`, `oneOf`, `if` and `not` themselves say nothing and are
 * left out.
 */
export function describeErrors (errors: readonly ErrorObject[], shape: Shape): Described[] {
  const reported = errors.filter(({ keyword }) => !WRAPPERS.has(keyword))
  const other = reported.filter(({ keyword, instancePath }) => keyword !== 'type' || instancePath !== '')
  if (other.length === 0) {
    return [
      { path: '', message: errors.some(({ keyword }) => keyword === 'type') ? describeShape(shape) : say('isInvalid') }
    ]
  }
  const places = new Map<string, ErrorObject[]>()
  for (const error of other) places.set(error.instancePath, [...places.get(error.instancePath) ?? [], error])
  return [...places.values()].flatMap(describePlace)
}

/** Describes the errors at one place of a value. */
function describePlace (errors: readonly ErrorObject[]): Described[] {
  if (errors.every(({ keyword }) => keyword === 'const')) {
    const choices = errors.map(({ params }) => (params as Params).allowedValue)
    return [{ path: pathOf(errors[0] as ErrorObject), message: describeChoices(choices) }]
  }
  return errors.map((error) => ({ path: pathOf(error), message: describeFailure(error) }))
}

const WRAPPERS = new Set(['anyOf', 'oneOf', 'if', 'not'])

/** Converts `/0/name` to `.0.name`, and adds the name of a missing or unknown property. */
function pathOf ({ instancePath, params }: ErrorObject): string {
  const last: unknown = params.missingProperty ?? params.additionalProperty
  const path = instancePath.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return last === undefined ? path : `${path}.${String(last)}`
}

function describeFailure ({ keyword, params, message }: ErrorObject): Said {
  const describe = MESSAGES[keyword]
  return describe === undefined ? message as string : describe(params as Params)
}

/** The parameters of an error of Ajv. Each keyword has some of them. */
interface Params {
  readonly type: TypeName | readonly TypeName[]
  readonly limit: number
  readonly multipleOf: number
  readonly pattern: string
  readonly format: string
  readonly allowedValue: unknown
  readonly allowedValues: readonly unknown[]
}

type Describe = (params: Params) => Message

const MESSAGES: Readonly<Record<string, Describe>> = {
  type: ({ type }) => describeTypes([type].flat() as TypeName[]),
  required: () => say('mustBeGiven'),
  additionalProperties: () => say('isUnknown', { near: undefined }),
  minLength: ({ limit }) => limit === 1 ? BLANK : say('mustHaveAtLeastCharacters', { least: limit }),
  maxLength: ({ limit }) => say('mustHaveAtMostCharacters', { most: limit }),
  minimum: ({ limit }) => say('mustBeAtLeast', { least: limit }),
  maximum: ({ limit }) => say('mustBeAtMost', { most: limit }),
  exclusiveMinimum: ({ limit }) => say('mustBeMoreThan', { limit }),
  exclusiveMaximum: ({ limit }) => say('mustBeLessThan', { limit }),
  multipleOf: ({ multipleOf }) => say('mustBeMultipleOf', { factor: multipleOf }),
  minItems: ({ limit }) => say('mustHaveAtLeastItems', { least: limit }),
  maxItems: ({ limit }) => say('mustHaveAtMostItems', { most: limit }),
  uniqueItems: () => say('mustNotRepeatItems'),
  pattern: ({ pattern }) => say('mustMatch', { pattern }),
  enum: ({ allowedValues }) => describeChoices(allowedValues),
  const: ({ allowedValue }) => describeChoices([allowedValue]),
  precision: ({ limit }) => limit === 0 ? say('mustHaveNoDigitsBefore') : say('mustHaveDigitsBefore', { most: limit }),
  scale: ({ limit }) => limit === 0 ? say('mustBeWhole') : say('mustHaveDigitsAfter', { most: limit }),
  contentEncoding: () => BASE64.wants,
  contentMediaType: ({ format }) => say('mustHaveMediaType', { type: format }),
  format: ({ format }) => ORDERED_FORMATS.get(format)?.wants ?? FORMATS[format] ?? say('mustHaveFormat', { format })
}

const FORMATS: Readonly<Record<string, Message>> = {
  email: say('mustBeEmail'),
  uri: say('mustBeUrl'),
  url: say('mustBeUrl'),
  uuid: say('mustBeUuid')
}

function describeChoices (values: readonly unknown[]): Message {
  const choices = values.map((value) => JSON.stringify(value)).join(', ')
  return values.length === 1 ? say('mustEqual', { value: choices }) : say('mustBeOneOf', { values: choices })
}

/** The largest number of values in a body: XML elements, JSON values or form items. */
export const MAX_VALUES = 50_000

/**
 * The deepest nesting of a document or a value. Without a limit, it could overflow the stack of recursive functions.
 */
export const MAX_DEPTH = 32

/** Throws `TooManyValuesError` if the count is greater than `MAX_VALUES`. */
export function checkValueCount (count: number): void {
  if (count > MAX_VALUES) throw new TooManyValuesError(MAX_VALUES)
}

/**
 * Counts a JSON value and all values inside it.
 * @throws TooManyValuesError if there are more than `MAX_VALUES`
 */
export function countValues (value: unknown): number {
  let count = 1
  // This is a loop, because a value may be nested too deep for recursion.
  const structures = [value].filter(isStructure)
  for (const structure of structures) {
    const parts: readonly unknown[] = Array.isArray(structure) ? structure : Object.values(structure)
    checkValueCount(count += parts.length)
    for (const part of parts) if (isStructure(part)) structures.push(part)
  }
  return count
}

/** Returns whether a value has more levels of arrays and objects. */
export function isDeeper (value: unknown, levels: number): boolean {
  if (!isStructure(value)) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}
