import { compilePerShape, openShape, type Shape } from '../../core/schema/shape.js'
import { isObject, isStructure } from '../../core/util/own-property.js'
import type { PageMessages } from '../messages.js'
import { labelOf } from '../names.js'
import { makeNumberCompiler, type WriteNumber } from './numbers.js'

/** Writes a value as plain text. */
export type WriteText = (value: unknown) => string

/** The maximum length of a cell of a list, in characters. */
export const CLIPPED = 100

/** Adds a part to a line. */
type JoinLines = PageMessages['listed']

/** What the lines of all shapes share. */
interface LineSource {
  readonly messages: PageMessages
  readonly compileNumber: (shape: Shape) => WriteNumber | undefined
  readonly digits: Intl.NumberFormat
}

/**
 * Makes a compiler of functions that write a value in one line. They write at least as much of a long value as fits
 * into a cell.
 */
export function makeLineCompiler (lang: string, messages: PageMessages): (shape: Shape) => WriteText {
  const source = { messages, compileNumber: makeNumberCompiler(lang), digits: new Intl.NumberFormat(lang) }
  return compilePerShape<WriteText>((shape, compile) => makeLine(shape, compile, source))
}

function makeLine (
  shape: Shape,
  compile: (shape: Shape) => WriteText,
  { messages: { yes, no, items: countItems, listed }, compileNumber, digits }: LineSource
): WriteText {
  const { titles } = shape
  const item = compile(shape.items)
  const writeMembers = makeMembers(shape, compile, listed)
  const writeNumber = compileNumber(shape) ?? String
  return (value) => {
    const title = titles.get(value)
    if (title !== undefined) return title
    if (value === undefined || value === null) return ''
    if (typeof value === 'boolean') return value ? yes : no
    if (Array.isArray(value)) {
      if (!value.some(isStructure)) return startOf(value.values(), item, listed)
      return countItems(value.length, digits.format(value.length))
    }
    return isObject(value) ? writeMembers(value) : writeNumber(value)
  }
}

/** Makes the line of an object: its texts, and its other values after their labels. */
function makeMembers (shape: Shape, compile: (shape: Shape) => WriteText, join: JoinLines): (value: object) => string {
  const rest = compile(shape.rest ?? openShape)
  const members = new Map([...shape.properties.values()].map((property) =>
    [property.name, { label: labelOf(property), write: compile(property.shape) }]))

  function writeMember ([name, value]: [string, unknown]): string {
    const { label = name, write = rest } = members.get(name) ?? {}
    const isText = typeof value === 'string'
    return isText ? write(value.slice(0, CLIPPED + 1)) : `${label} ${write(value)}`
  }

  return (value) => {
    if ('toJSON' in value) return JSON.stringify(value)
    return startOf(Object.entries(value).filter(([, member]) => !isBlank(member)), writeMember, join)
  }
}

/** Returns whether a member has nothing to show. */
function isBlank (value: unknown): boolean {
  return value === undefined || value === null || value === '' ||
    (isStructure(value) && Object.keys(value).length === 0)
}

/** Joins parts until they fill a cell. The rest is not read, because a value may be a megabyte long. */
function startOf<T> (parts: Iterable<T>, write: (part: T) => string, join: JoinLines): string {
  let text: string | undefined
  for (const part of parts) {
    const written = write(part)
    text = text === undefined ? written : join(text, written)
    if (text.length > CLIPPED) break
  }
  return text ?? ''
}
