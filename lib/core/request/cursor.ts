import { InvalidQueryError } from '../errors.js'
import { parseId, type Resource } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { NO_PATH } from '../resource/row-path.js'
import { ORDERED_FORMATS } from '../schema/convert-text.js'
import { isStorableText, isUuid } from '../schema/legal-text.js'
import type { Shape } from '../schema/shape.js'
import { isLongInteger } from '../util/long-integer.js'
import { BY_ID, positionOf } from '../stores/order.js'
import type { Order, Position } from '../stores/store.js'

/** In characters. A row with a longer position is named by its id, so that every link can be followed. */
const LONGEST = 2_000

/** Writes a cursor, which clients need not understand: the row's position in the order, or else its id. */
export function writeCursor (row: Row, order: Order, resource: Resource): string {
  // Fast path: nearly all lists are ordered by id, which costs a third of the general case.
  if (order === BY_ID) return encodeText(typeof row.id === 'number' ? `[${row.id}]` : JSON.stringify([row.id]))
  const sort = spellOrder(order)
  const position = positionOf(row, order)
  const whole = encode([sort, ...position])
  // `parseCursor` would refuse a stored value that the schema does not allow.
  return isPosition(position, order, resource) && whole.length <= LONGEST ? whole : encode([sort, [row.id]])
}

/** The parameters that have a cursor, with the relations of the links that they come from. */
const RELATIONS = { after: 'next', before: 'prev' } as const

export type CursorParameter = keyof typeof RELATIONS

/**
 * Parses a cursor. Returns the position where a page begins or ends, or the id of the row at that position.
 * @throws InvalidQueryError if `writeCursor` cannot have written the text for this order
 */
export function parseCursor (
  parameter: CursorParameter,
  text: string,
  order: Order,
  resource: Resource
): Position | Id {
  const parts = decode(text)
  const place = findPlace(parts, order, resource, text.length)
  if (place === undefined || encode(parts) !== text) {
    throw new InvalidQueryError(
      `"${parameter}" must come from a "${RELATIONS[parameter]}" link of this list with the same order`
    )
  }
  return place
}

function findPlace (parts: unknown, order: Order, resource: Resource, length: number): Position | Id | undefined {
  if (!Array.isArray(parts)) return undefined
  const sort = spellOrder(order)
  if (sort !== '' && parts[0] !== sort) return undefined
  const position: readonly unknown[] = sort === '' ? parts : parts.slice(1)
  const [named] = position
  if (order.length > 1 && position.length === 1 && Array.isArray(named)) {
    return named.length === 1 && isId(named[0], resource) ? named[0] : undefined
  }
  return length <= LONGEST && isPosition(position, order, resource) ? position : undefined
}

/** Returns an order as the parameter `sort` has it, `-rating,title`; empty for the default order. */
function spellOrder (order: Order): string {
  if (order === BY_ID) return ''
  const named = order.at(-1)?.descending === true ? order : order.slice(0, -1)
  return named.map(({ by, descending }) => descending ? `-${by}` : by).join(',')
}

function isPosition (values: readonly unknown[], order: Order, resource: Resource): values is Position {
  return values.length === order.length && order.every(({ by }, index) => {
    const value = values[index]
    return by === 'id' ? isId(value, resource) : value === null || isOfShape(value, resource.attributes.get(by)?.shape)
  })
}

function isId (value: unknown, { idType }: Resource): value is Id {
  // `String` of an object would use members that the client has sent, such as `toString`.
  if (typeof value === 'string' && value.startsWith(NO_PATH)) return idType === 'string' && isStorableText(value)
  return (typeof value === 'number' || typeof value === 'string') && parseId(idType, String(value)) === value
}

function isOfShape (value: unknown, shape: Shape | undefined): boolean {
  if (typeof value === 'string') {
    if (shape?.only === 'integer') return isLongInteger(value)
    return shape?.only === 'string' && isStorableText(value) && isOfFormat(value, shape.format ?? '')
  }
  if (typeof value === 'number') {
    return shape?.only === 'number' ? Number.isFinite(value) : shape?.only === 'integer' && Number.isSafeInteger(value)
  }
  return typeof value === 'boolean' && shape?.only === 'boolean'
}

/** Returns whether a store can compare a text with those of an attribute, which may have a column of another type. */
function isOfFormat (text: string, format: string): boolean {
  return format === 'uuid' ? isUuid(text) : ORDERED_FORMATS.get(format)?.isValid(text) !== false
}

function encode (parts: unknown): string {
  return encodeText(JSON.stringify(parts))
}

function encodeText (text: string): string {
  return Buffer.from(text).toString('base64url')
}

function decode (text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}
