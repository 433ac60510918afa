import { FREE_MOMENT } from '../../../core/schema/convert-text.js'
import type { Schema } from '../../../core/schema/types.js'
import { BYTES } from '../../tables/describe-table.js'

/** A type of the catalog. */
export interface CatalogType {
  readonly type: string
  readonly name: string
  /** `d` for domains. */
  readonly kind: string
  /** The type of which a domain has values. */
  readonly base: string
  readonly modifier: number
  readonly isNotNull: boolean
  readonly hasDefault: boolean
  readonly isArray: boolean
  /** The type of the items of an array. */
  readonly item: string
  readonly isBuiltIn: boolean
  /** The values of an enumeration. */
  readonly labels: readonly string[] | null
  /** The CHECK constraints of a domain. */
  readonly checks: readonly string[] | null
}

/** What the types of a column say about its values. */
export interface ColumnType {
  readonly schema: Schema
  readonly isNotNull: boolean
  readonly hasDefault: boolean
  readonly isComparable: boolean
  readonly isExact: boolean
  /** The name of the base type. */
  readonly name: string
  /** The CHECK constraints of its domains. */
  readonly checks: readonly string[]
}

/** Types whose values a path can contain. Their texts are their values. */
const COMPARABLE: ReadonlySet<string> = new Set([
  'int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'numeric', 'bool', 'text', 'varchar', 'bpchar', 'name', 'citext',
  'char', 'uuid', 'date', 'time', 'timestamp', 'timestamptz', 'inet', 'cidr', 'macaddr', 'macaddr8'
])
const TEXT: Schema = { type: 'string' }
const SCHEMAS: Readonly<Record<string, Schema>> = {
  int2: { type: 'integer', minimum: -32768, maximum: 32767 },
  int4: { type: 'integer', minimum: -2147483648, maximum: 2147483647 },
  int8: { type: 'string', format: 'decimal', precision: 19, scale: 0 },
  float4: { type: 'number' },
  float8: { type: 'number' },
  numeric: { type: 'string', format: 'decimal' },
  bool: { type: 'boolean' },
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'time-local' },
  timetz: { type: 'string', format: FREE_MOMENT },
  timestamp: { type: 'string', format: 'date-time-local' },
  timestamptz: { type: 'string', format: 'date-time' },
  bytea: BYTES,
  json: {},
  jsonb: {}
}

/** Reads the type of a column. `modifier` is its length, or its precision and scale, as the catalog encodes them. */
export function readType (types: ReadonlyMap<string, CatalogType>, oid: string, modifier: number): ColumnType {
  const type = types.get(oid)
  if (type === undefined) return { ...OTHER, name: '' }
  const { name, kind, base, isArray, item, isBuiltIn, labels } = type
  if (kind === 'd') {
    const inner = readType(types, base, type.modifier)
    return {
      ...inner,
      isNotNull: type.isNotNull || inner.isNotNull,
      hasDefault: type.hasDefault || inner.hasDefault,
      checks: [...inner.checks, ...(type.checks ?? [])]
    }
  }
  if (labels !== null) {
    return { ...OTHER, name, isComparable: true, isExact: true, schema: { type: 'string', enum: labels } }
  }
  if (isArray) {
    const items = readType(types, item, modifier)
    // The items of a box are separated by `;`, so an array of boxes is a text.
    return { ...OTHER, name, schema: items.name === 'box' ? TEXT : { type: 'array', items: items.schema } }
  }
  if (!isBuiltIn && name !== 'citext') return { ...OTHER, name }
  return {
    ...OTHER,
    name,
    schema: { ...(SCHEMAS[name] ?? TEXT), ...limit(name, modifier) },
    isComparable: COMPARABLE.has(name),
    // Comparisons of `char(n)` ignore spaces at the end.
    isExact: name === 'bpchar' ? modifier === HEADER + 1 : name !== 'citext'
  }
}

const OTHER = { schema: TEXT, isNotNull: false, hasDefault: false, isComparable: false, isExact: false, checks: [] }

/** What the catalog adds to each length or precision. */
const HEADER = 4

/** Reads the modifier of a type: `varchar(10)`, `numeric(10,2)`. It is -1 if there is none. */
function limit (name: string, modifier: number): Schema {
  if (modifier < HEADER) return {}
  const value = modifier - HEADER
  if (name === 'varchar' || name === 'bpchar') return { maxLength: value }
  if (name !== 'numeric') return {}
  const precision = value >> 16
  // The scale has 11 bits and may be negative.
  const scale = ((value & 0x7ff) ^ 0x400) - 0x400
  return scale < 0 || scale > precision ? { readOnly: true } : { precision, scale }
}
