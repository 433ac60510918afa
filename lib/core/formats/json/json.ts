import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { Format, Reader, Writer, WriterContext } from '../format.js'
import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileRead, compileVisible } from '../../resource/visible.js'
import { identity, lazy } from '../../util/functions.js'
import { asObject, isObject, isStructure, setMember } from '../../util/own-property.js'
import { InvalidError, MalformedBodyError } from '../../errors.js'
import { say } from '../../messages.js'
import { describeInexact, isLongShape, LONG_AS_NUMBER } from '../../schema/convert-text.js'
import { countValues, type Issues, MAX_DEPTH, MAX_VALUES } from '../../schema/validation/issues.js'
import { findInexactNumber, type NumberToken } from '../../util/decimal.js'
import { abbreviate } from '../../util/words.js'

/** Compiles the reader of `{"id":1,"post":{…}}`, which converts no value. */
export function compileJsonReader ({ singular, idType, attributes }: Resource): Reader {
  /** Returns whether the name is that of an id, or of a reference to one, which may be the text of a long integer. */
  function isLong (name: string): boolean {
    const shape = attributes.get(name)?.shape
    return shape === undefined ? name === 'id' && idType === 'integer' : isLongShape(shape)
  }

  return {
    form: false,
    typed: true,
    parse (body) {
      const value = parseJsonBody(body, singular, (name, number) =>
        new InvalidError({ [name]: [isLong(name) ? LONG_AS_NUMBER : describeInexact(number)] }))
      if (isObject(value)) return value
      throw new InvalidError({ body: [`must be an object that contains "${singular}"`] })
    },
    entries: asObject,
    items: (node) => Array.isArray(node) ? node : undefined,
    scalar: identity,
    compile: () => identity
  }
}

/**
 * Parses a body as JSON (RFC 8259).
 * @param refuse makes the error about a number that a double cannot keep, from the name of its attribute and its text
 * @throws MalformedBodyError, TooManyValuesError
 */
export function parseJsonBody (
  body: Buffer,
  singular: string,
  refuse: (name: string, number: string) => Error
): unknown {
  if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
  const text = body.toString()
  const value = parseJson(text)
  // Each value takes at least two characters, so most bodies need no count.
  if (text.length > MAX_VALUES) countValues(value)
  const inexact = findInexactNumber(text)
  if (inexact !== undefined) throw refuse(abbreviate(nameOf(text, inexact, singular)), inexact.text)
  return value
}

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

/** Compiles the JSON writer of a resource. */
function compileJsonWriter (whole: Resource, { selection }: Pick<WriterContext, 'selection'>): Writer {
  const resource = selection?.resource ?? whole
  const { plural, singular } = resource
  const makeRecord = lazy(() => compileRecord(resource))
  return {
    document: (row) => ({ [singular]: makeRecord()(row) }),
    serialize: JSON.stringify,
    list: {
      open: `{"${plural}":[`,
      row: (row) => JSON.stringify(makeRecord()(row)),
      // One call for many rows takes half the time.
      rows: (rows) => JSON.stringify(rows.map(makeRecord())).slice(1, -1),
      separator: ',',
      close: ']}'
    },
    problemType: 'application/problem+json'
  }
}

/**
 * Compiles a function that makes `{ id, …attributes }` of a row, in the order of the schema, without undeclared and
 * `writeOnly` attributes. A singleton has no id.
 */
function compileRecord (resource: Resource): (row: Row) => Readonly<Record<string, unknown>> {
  const { open, singleton } = resource
  if (open) return singleton ? ({ attributes }) => ({ ...attributes }) : ({ id, attributes }) => ({ id, ...attributes })
  const visible = [...compileVisible(resource)].map(([name, hide]) => ({ name, read: compileRead(name, hide) }))
  return ({ id, attributes }) => {
    const record: Record<string, unknown> = singleton ? {} : { id }
    for (const { name, read } of visible) {
      const value = read(attributes)
      if (value !== undefined) setMember(record, name, value)
    }
    return record
  }
}

/** The format `application/json` (RFC 8259). Its errors are `application/problem+json` (RFC 9457). */
export const FORMAT: Format = {
  name: 'json',
  mediaTypes: ['application/json'],
  hidesWriteOnly: true,
  compileReader: compileJsonReader,
  compileWriter: compileJsonWriter
}

/** Returns the format `application/json`. */
export function json (): Format {
  return FORMAT
}

const NONCHARACTERS = /[\ufffe\uffff]/g

/** Renders a value as JSON in which every character is legal in XML. */
export function renderJsonText (value: unknown): string {
  return escapeNoncharacters(JSON.stringify(value))
}

/** Escapes the characters of a JSON text that JSON allows, but XML does not. */
export function escapeNoncharacters (json: string): string {
  return json.replace(NONCHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
}

/** Reads the JSON text of an attribute or a part of it. Notes an issue if it is no JSON, or has an inexact number. */
export function readJsonText (text: string, path: string, issues: Issues): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return issues.add(path, say('mustBeJson'))
  }
  issues.countValues(countValues(value))
  const inexact = findInexactNumber(text)
  return inexact === undefined ? value : issues.add(path, describeInexact(inexact.text))
}

export function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns whether a text begins like a JSON object, array or string. */
export function beginsLikeJson (text: string): boolean {
  return /^[ \t\r\n]*[{["]/.test(text)
}

/** The format `application/merge-patch+json` (RFC 7396), which only a PATCH has. It is only read. */
export const mergePatch: Format & Required<Pick<Format, 'compileReader'>> = {
  name: 'json',
  mediaTypes: ['application/merge-patch+json'],
  compileReader: compileMergePatchReader
}

/** Compiles the reader of `{"post":{"rating":null}}`, which removes attributes and merges objects. */
function compileMergePatchReader (resource: Resource): Reader {
  return {
    ...compileJsonReader(resource),
    // Without a schema, null could not be sent in any other meaning that a client needs.
    removes: (node, { types }) => node === null && (resource.open || !types.has('null')),
    merges: isObject
  }
}

/** Applies a merge patch to a value, and returns the result (RFC 7396 §2). The value stays as it is. */
export function applyMergePatch (value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const members = new Map(isObject(value) ? Object.entries(value) : [])
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) members.delete(name)
    else members.set(name, applyMergePatch(members.get(name), part))
  }
  return Object.fromEntries(members)
}
