import { isUtf8 } from 'node:buffer'
import { countValues, MOST_VALUES } from '../../count.js'
import { InvalidError, MalformedBodyError } from '../../errors.js'
import type { Resource } from '../../resource.js'
import { isSchema } from '../../shape.js'
import { abbreviate, findInexactNumber } from '../../text.js'
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
      if (text.length > MOST_VALUES) countValues(value)
      const entries = asEntries(value)
      const inexact = findInexactNumber(text)
      if (inexact !== undefined) throw new InvalidError({ [abbreviate(findPath(entries?.[singular] ?? value, Number(inexact)) ?? 'body')]: [`has the number ${inexact.slice(0, 40)}, which is too large to be exact`] })
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

/** No attribute is deeper, and a body that is must not exhaust the stack. */
const DEPTH = 32

/** Where a number stands, as `author.age`; undefined where it stands nowhere, as in a name that is given twice. */
function findPath (value: unknown, number: number, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || depth > DEPTH) return undefined
  for (const [name, part] of Object.entries(value)) {
    if (part === number) return name
    const path = findPath(part, number, depth + 1)
    if (path !== undefined) return `${name}.${path}`
  }
  return undefined
}

function asEntries (value: unknown): Entries | undefined {
  return isSchema(value) ? value : undefined
}
