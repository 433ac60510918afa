import type { Shape } from '../core/schema/shape.js'
import type { Schema } from '../core/schema/types.js'
import { isBytesShape } from '../core/schema/convert-text.js'
import {
  booleanFacets, bytesFacets, decimalFacets, type Facet, integerFacets, numberFacets, textFacets
} from './facets.js'
import { add, addDocumentation, type XsdNode } from './node.js'

export type SimpleTypeKind = 'string' | 'integer' | 'float' | 'boolean' | TextKind

/** The texts that have a type of their own. */
type TextKind = 'date' | 'date-time' | 'date-time-local' | 'time-local' | 'decimal' | 'base64'

export interface SimpleType {
  readonly kind: SimpleTypeKind
  readonly facets: readonly Facet[]
}

/** Returns the simple types that the text of a value may have. */
export function textsOf (shape: Shape, schemas: readonly Schema[]): readonly SimpleType[] {
  const { types, choices } = shape
  const texts: SimpleType[] = []
  if (types.has('number')) texts.push({ kind: 'float', facets: numberFacets(shape, schemas) })
  else if (types.has('integer')) texts.push({ kind: 'integer', facets: integerFacets(shape, schemas) })
  if (types.has('boolean')) texts.push({ kind: 'boolean', facets: booleanFacets(shape) })
  if (types.has('string')) {
    const kind = choices === undefined ? findTextKind(shape) : undefined
    const makeFacets = kind === undefined ? textFacets : TEXT_KINDS[kind]
    texts.push({ kind: kind ?? 'string', facets: makeFacets(shape, schemas) })
  }
  return texts
}

/** Functions that return the facets of texts that have a type of their own. */
const TEXT_KINDS: Readonly<Record<TextKind, typeof textFacets>> = {
  date: () => [],
  'date-time': () => [],
  'date-time-local': () => [],
  'time-local': () => [],
  decimal: decimalFacets,
  base64: (_shape, schemas) => bytesFacets(schemas)
}

function findTextKind (shape: Shape): TextKind | undefined {
  if (isBytesShape(shape)) return 'base64'
  const { format = '' } = shape
  return Object.hasOwn(TEXT_KINDS, format) ? format as TextKind : undefined
}

/** The values of `type` that texts may have, by their kind. */
const TEXT_TYPES: Readonly<Partial<Record<TextKind, string>>> = {
  date: 'date',
  'date-time': 'dateTime',
  'date-time-local': 'dateTime',
  decimal: 'decimal',
  base64: 'base64Binary'
}

/** Returns the values of the attribute `type`. */
export function typeNamesOf (shape: Shape): readonly string[] {
  const { types, only } = shape
  const kind = findTextKind(shape)
  const text = kind && TEXT_TYPES[kind]
  return [
    ...types.has('integer') && only !== 'number' ? ['integer'] : [],
    ...types.has('number') ? ['float'] : [],
    ...types.has('boolean') ? ['boolean'] : [],
    ...types.has('string') && text !== undefined ? [text] : [],
    // The empty text is marked as a string, also among bytes.
    ...types.has('string') && (text === undefined || isBytesShape(shape)) ? ['string'] : [],
    ...types.has('array') ? ['array'] : []
  ]
}

/** The formats that the empty string does not fit. */
const FILLED: readonly string[] = [
  'date', 'date-time', 'date-time-local', 'decimal', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time',
  'time-local', 'uri', 'url', 'uuid'
]

/** Returns whether a value may be the empty string, whose element has `type="string"`. */
export function takesEmpty ({ choices, format }: Shape, schemas: readonly Schema[]): boolean {
  if (choices !== undefined) return choices.includes('')
  const isFilled = ({ minLength, pattern }: Schema): boolean =>
    Number(minLength) > 0 || (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(''))
  return !FILLED.includes(format ?? '') && !schemas.some(isFilled)
}

const DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}'
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?'
const OFFSET = '(Z|[+\\-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))'

interface BaseType {
  readonly name: string
  /** The type that it restricts, if it is our own. @default one of XML Schema itself */
  readonly base?: string
  readonly facets?: readonly Facet[]
}

function matching (name: string, base: string, pattern: string): BaseType {
  return { name, base, facets: [{ name: 'pattern', value: pattern }] }
}

/** The base types of texts. Our own allow the texts that the reader accepts, except leap seconds. */
export const BASES: Readonly<Record<SimpleTypeKind, BaseType>> = {
  string: { name: 'xs:string' },
  boolean: { name: 'xs:boolean' },
  integer: {
    name: 'integer-text',
    base: 'xs:long',
    facets: [
      { name: 'minInclusive', value: String(Number.MIN_SAFE_INTEGER) },
      { name: 'maxInclusive', value: String(Number.MAX_SAFE_INTEGER) }
    ]
  },
  // The pattern excludes INF and NaN.
  float: matching('float-text', 'xs:double', '[+\\-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+\\-]?[0-9]+)?'),
  date: matching('date-text', 'xs:date', DATE),
  'date-time': matching('date-time-text', 'xs:dateTime', `${DATE}T${TIME}${OFFSET}`),
  'date-time-local': matching('date-time-local-text', 'xs:dateTime', `${DATE}T${TIME}`),
  'time-local': matching('time-local-text', 'xs:time', TIME),
  decimal: { name: 'xs:decimal' },
  base64: { name: 'xs:base64Binary' }
}

export function restrict (type: XsdNode, base: string, facets: readonly Facet[]): void {
  const restriction = add(type, 'restriction', { base })
  for (const { name, value, title } of facets) addDocumentation(add(restriction, name, { value }), title)
}
