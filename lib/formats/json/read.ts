import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { InvalidError, MalformedBodyError } from '../../errors.js'
import type { Resource } from '../../resource/resource.js'
import { describeInexact } from '../../schema/convert-text.js'
import { countValues, MAX_DEPTH, MAX_VALUES } from '../../schema/limits.js'
import { isExactNumber } from '../../util/decimal.js'
import { identity } from '../../util/identity.js'
import { asObject, isStructure } from '../../util/own-property.js'
import { abbreviate } from '../../util/truncate.js'
import type { Reader } from '../format.js'

/** Compiles the reader of `{"id":1,"post":{…}}`, which converts no value. */
export function compileJsonReader ({ singular }: Resource): Reader {
  return {
    form: false,
    typed: true,
    parse (body) {
      const text = decode(body)
      const value = parseJson(text)
      // Each value takes at least two characters, so most bodies need no count.
      if (text.length > MAX_VALUES) countValues(value)
      const entries = asObject(value)
      const inexact = findInexactNumber(text)
      if (inexact !== undefined) {
        throw new InvalidError({ [abbreviate(nameOf(text, inexact, singular))]: [describeInexact(inexact.text)] })
      }
      if (entries === undefined) throw new InvalidError({ body: [`must be an object that contains "${singular}"`] })
      return entries
    },
    entries: asObject,
    scalar: identity,
    compile: () => identity
  }
}

function decode (body: Buffer): string {
  if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
  return body.toString()
}

/** Parses a JSON text (RFC 8259). */
function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new MalformedBodyError(`the body is not valid JSON: ${(error as Error).message}`)
  }
}

/**
 * Returns the name of the attribute that has a number, such as `author.age`. Returns `body` if the parsed value does
 * not have the number, because a later duplicate of its key has replaced it.
 */
function nameOf (json: string, { text, index }: NumberToken, singular: string): string {
  // Two numbers may have the same double, so a unique text replaces this one.
  const mark = randomUUID()
  const value = parseJson(`${json.slice(0, index)}"${mark}"${json.slice(index + text.length)}`)
  return findPath(asObject(value)?.[singular], mark) ?? findPath(value, mark) ?? 'body'
}

/** Returns the path of a text in a value, or `undefined` if the value does not have it. */
function findPath (value: unknown, mark: string, depth = 0): string | undefined {
  if (!isStructure(value) || depth > MAX_DEPTH) return undefined
  for (const [name, part] of Object.entries(value)) {
    if (part === mark) return name
    const path = findPath(part, mark, depth + 1)
    if (path !== undefined) return `${name}.${path}`
  }
  return undefined
}

// Matches a number with its fraction and exponent, or the quote that begins a string.
const JSON_TOKENS = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Returns the index of the quote that ends the string which begins at `start`. A regular expression for a whole string
 * would keep a stack frame for each of its characters, and overflow with a string of 12 MB.
 */
function findEndOfString (json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

/** Returns whether an odd number of backslashes precedes this position. */
function isEscaped (json: string, index: number): boolean {
  let first = index
  while (json[first - 1] === '\\') first--
  return (index - first) % 2 === 1
}

// Matches sixteen digits or points in a row. They are written out, because V8 skips text that cannot match only if the
// expression has no counted repetition. That takes a sixth of the time.
const LONG = /[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]/
// Matches an exponent of three or more digits. In a string, such as a UUID, a quote or a letter usually follows it.
const FAR = /\d[eE][+-]?\d\d\d+(?:[\s,\]}]|$)/

/** A number of a JSON text, and its position there. */
interface NumberToken {
  readonly text: string
  readonly index: number
}

/** Returns the first number of a JSON text that a double does not keep exactly, or `undefined` if there is none. */
export function findInexactNumber (json: string): NumberToken | undefined {
  if (!LONG.test(json) && !FAR.test(json)) return undefined
  // A copy, because a global expression keeps its position.
  const tokens = new RegExp(JSON_TOKENS)
  for (let found = tokens.exec(json); found !== null; found = tokens.exec(json)) {
    const { 0: text, index } = found
    if (text === '"') tokens.lastIndex = findEndOfString(json, index) + 1
    else if (!isExactNumber(text)) return { text, index }
  }
  return undefined
}
