import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { InvalidError, MalformedBodyError } from '../../errors.js'
import type { Resource } from '../../resource/resource.js'
import { describeInexact, findInexactNumber, type NumberToken } from '../../schema/convert-text.js'
import { countValues, MAX_DEPTH, MAX_VALUES } from '../../schema/limits.js'
import { isObject, isStructure } from '../../util/own-property.js'
import { abbreviate } from '../../util/truncate.js'
import type { Entries, Reader } from '../format.js'

/** Reads `{"id":1,"post":{…}}`, and takes every value as it stands. */
export function compileJsonReader ({ singular }: Resource): Reader {
  return {
    form: false,
    typed: true,
    parse (body) {
      const text = decode(body)
      const value = parseJson(text)
      // Each takes two characters at the least, so that nearly all need not be counted.
      if (text.length > MAX_VALUES) countValues(value)
      const entries = asEntries(value)
      const inexact = findInexactNumber(text)
      if (inexact !== undefined) {
        throw new InvalidError({ [abbreviate(nameOf(text, inexact, singular))]: [describeInexact(inexact.text)] })
      }
      if (entries === undefined) throw new InvalidError({ body: [`must be an object that holds "${singular}"`] })
      return entries
    },
    entries: asEntries,
    scalar: (node) => node,
    compile: () => (node) => node
  }
}

function decode (body: Buffer): string {
  if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
  return body.toString()
}

/** RFC 8259 */
function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new MalformedBodyError(`the body is not valid JSON: ${(error as Error).message}`)
  }
}

/**
 * Returns the name of the attribute that has a number, as `author.age`. Returns `body` if the parsed value does not
 * have the number, since its name is given twice.
 */
function nameOf (json: string, { text, index }: NumberToken, singular: string): string {
  // Two numbers may have the same double: a text that nobody can have sent stands in for this one.
  const mark = randomUUID()
  const value = parseJson(`${json.slice(0, index)}"${mark}"${json.slice(index + text.length)}`)
  return findPath(asEntries(value)?.[singular], mark) ?? findPath(value, mark) ?? 'body'
}

/** Returns where a text stands, or undefined if it stands nowhere. */
function findPath (value: unknown, mark: string, depth = 0): string | undefined {
  if (!isStructure(value) || depth > MAX_DEPTH) return undefined
  for (const [name, part] of Object.entries(value)) {
    if (part === mark) return name
    const path = findPath(part, mark, depth + 1)
    if (path !== undefined) return `${name}.${path}`
  }
  return undefined
}

function asEntries (value: unknown): Entries | undefined {
  return isObject(value) ? value : undefined
}
