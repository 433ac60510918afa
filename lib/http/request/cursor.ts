import { InvalidQueryError } from '../../errors.js'
import { parseId, type Resource } from '../../resource/resource.js'
import type { Id, Row } from '../../resource/row.js'
import { isLegalText } from '../../schema/legal-text.js'
import type { Shape } from '../../schema/shape.js'
import { BY_ID, positionOf } from '../../stores/order.js'
import type { Order, Position } from '../../stores/store.js'
import { isUuid } from '../../util/uuid.js'

/** In characters: a row whose place takes more is named by its id, so that every link can be followed. */
const LONGEST = 2_000

/** Where a page ends, as text that a client need not understand: the row's place in the order, or else its id. */
export function writeCursor (row: Row, order: Order, resource: Resource): string {
  // Fast path: nearly all lists are ordered by id, which costs a third of the general case.
  if (order === BY_ID) return encodeText(typeof row.id === 'number' ? `[${row.id}]` : JSON.stringify([row.id]))
  const sort = spellOrder(order)
  const position = positionOf(row, order)
  const whole = encode([sort, ...position])
  // What a store holds in spite of the schema would not be read again.
  return isPosition(position, order, resource) && whole.length <= LONGEST ? whole : encode([sort, [row.id]])
}

/**
 * The place after which a page begins, or the id of the row that stands there.
 * @throws InvalidQueryError where the text is not one that `writeCursor` may have written for this order
 */
export function parseCursor (text: string, order: Order, resource: Resource): Position | Id {
  const parts = decode(text)
  const place = findPlace(parts, order, resource, text.length)
  if (place === undefined || encode(parts) !== text) {
    throw new InvalidQueryError('"after" is not what a "next" link of this list has had in this order')
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

/** `-rating,title`; empty for the order that nobody needs to ask for. */
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
  // The text of an object is what the client would have it call.
  return (typeof value === 'number' || typeof value === 'string') && parseId(idType, String(value)) === value
}

function isOfShape (value: unknown, shape: Shape | undefined): boolean {
  if (typeof value === 'string') {
    return shape?.only === 'string' && isLegalText(value) && (shape.format !== 'uuid' || isUuid(value))
  }
  if (typeof value === 'number') {
    return shape?.only === 'number' ? Number.isFinite(value) : shape?.only === 'integer' && Number.isSafeInteger(value)
  }
  return typeof value === 'boolean' && shape?.only === 'boolean'
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
