import { FREE_MOMENT } from '../../core/schema/convert-text.js'
import type { Schema } from '../../core/schema/types.js'

/** A part of an SQL text. */
export interface Token {
  /** A `name` is quoted. A `word` is not: a name, a keyword or an operator in letters. */
  readonly type: 'word' | 'name' | 'text' | 'number' | 'symbol'
  /** The value, without quotes. A word is in lower case. */
  readonly value: string
}

export type Literal = string | number | boolean | null

/** What a CHECK demands of the values of a column. Null always meets it. */
export interface Demand {
  readonly column: string
  /** Whether it concerns the length of a text. */
  readonly isLength: boolean
  /** A comparison, or `in`. */
  readonly by: string
  readonly values: readonly Literal[]
}

/** Returns the name of the column that a name means, or `undefined` if it means none. */
export type FindColumn = (name: string) => string | undefined

const PARTS: ReadonlyArray<readonly [Token['type'] | 'skipped', string]> = [
  ['skipped', String.raw`(?:\s|--[^\n]*|/\*[\s\S]*?(?:\*/|$))+`],
  ['text', String.raw`'(?:[^']|'')*'`],
  ['name', String.raw`"(?:[^"]|"")*"|` + '`(?:[^`]|``)*`' + String.raw`|\[(?=[^\]])[^\]]*\]`],
  ['number', String.raw`(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`],
  ['word', String.raw`[\p{L}_][\p{L}\p{N}_$]*`],
  ['symbol', String.raw`::|<=|>=|<>|!=|==|[^\s]`]
]

/** @param hasBrackets whether `[name]` is a quoted name, as in SQLite. In PostgreSQL, brackets are those of arrays. */
function compile (hasBrackets: boolean): RegExp {
  const parts = PARTS.map(([type, part]) => `(?<${type}>${hasBrackets ? part : part.replace(/\|\\\[.*/, '')})`)
  return new RegExp(parts.join('|'), 'gu')
}

const PATTERNS = { sqlite: compile(true), postgres: compile(false) }

/** Splits an SQL text into its tokens, without its comments. */
export function tokenize (sql: string, dialect: 'sqlite' | 'postgres'): Token[] {
  const tokens: Token[] = []
  for (const { groups = {} } of sql.matchAll(PATTERNS[dialect])) {
    const [type, written] = Object.entries(groups).find(([, part]) => part !== undefined) as [Token['type'], string]
    if ((type as string) !== 'skipped') tokens.push({ type, value: valueOf(type, written) })
  }
  return tokens
}

function valueOf (type: Token['type'], written: string): string {
  if (type === 'word') return written.toLowerCase()
  if (type !== 'name' && type !== 'text') return written
  const [quote = ''] = written
  return written.slice(1, -1).replaceAll(quote + quote, quote)
}

const CONSTANTS: ReadonlyMap<string, Literal> = new Map([['null', null], ['true', true], ['false', false]])

/** An expression whose columns are `C0`, `C1`…, and whose values are `V0`, `V1`… Between two parts is one space. */
interface Expression {
  readonly text: string
  readonly columns: readonly string[]
  readonly values: readonly Literal[]
}

/** Rewrites that make the spellings of SQLite and PostgreSQL the same, until nothing changes any more. */
const REWRITES: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  // A cast of a value, or a cast of a column that changes neither texts nor numbers.
  [/(V\d+|\]) :: (?:\w+ \. )?\w+(?: varying| precision)?(?: \( V\d+ \))?(?: \[ \])?/g, '$1'],
  [/(C\d+) :: (?:text|numeric|character varying|double precision)(?! [([])/g, '$1'],
  [/(?<![a-z\d_] )\( ([CV]\d+|array \[[^()[\]]*\]) \)/g, '$1'],
  [/\b(?:length|char_length|character_length) \( C(\d+) \)/g, 'L$1'],
  [/= any \( array \[ ([^()[\]]*) \] \)/g, 'in ( $1 )'],
  [/ in \( (V\d+(?: , V\d+)*) \)/g, ' in [ $1 ]'],
  [/([CL]\d+) between (V\d+) and (V\d+)(?=$| and | \))/g, '$1 >= $2 and $1 <= $3'],
  [/(V\d+) (<=?|>=?|==?) ([CL]\d+)(?=$| and | \))/g, '$3 flip$2 $1'],
  [/(?<=^|\( |and )\( ([^()]*) \)(?=$| \)| and )/g, '$1']
]
const CONDITION = /^([CL])(\d+) (?:((?:flip)?(?:[<>]=?|==?)|<>|!=) (V\d+)|in \[ (V\d+(?: , V\d+)*) \])$/
/** Words whose conditions cannot be taken apart at each AND. */
const OTHERS = /\b(?:or|not|case|between)\b/
const FLIPPED: Readonly<Record<string, string>> = {
  'flip<': '>', 'flip<=': '>=', 'flip>': '<', 'flip>=': '<=', 'flip=': '=', 'flip==': '='
}

/**
 * Reads the demands of a CHECK that consists of simple conditions: comparisons of a column, or of its length, with
 * values, joined by AND. What it cannot read is left to the database.
 */
export function readCheck (tokens: readonly Token[], findColumn: FindColumn): Demand[] {
  const { text, columns, values } = normalize(tokens, findColumn)
  const parts = text.replaceAll(/C\d+ is not V\d+/g, 'unread').split(' and ')
  if (OTHERS.test(parts.join(' ')) || !parts.every(isBalanced)) return []
  return parts.flatMap((part) => {
    const [, kind, column, by = 'in', one, list = one] = CONDITION.exec(part) ?? []
    if (kind === undefined || list === undefined) return []
    const compared = [...list.matchAll(/\d+/g)].map(([index]) => values[Number(index)] as Literal)
    const name = columns[Number(column)] as string
    return [{ column: name, isLength: kind === 'L', by: FLIPPED[by] ?? by, values: compared }]
  })
}

/** Returns the value of a default that is a simple value, or `undefined` for another one. */
export function readLiteral (tokens: readonly Token[]): Literal | undefined {
  const { text, values } = normalize(tokens, () => undefined)
  return text === 'V0' ? values[0] : undefined
}

function normalize (tokens: readonly Token[], findColumn: FindColumn): Expression {
  const columns: string[] = []
  const values: Literal[] = []
  const valueOfToken = ({ type, value }: Token): Literal | undefined => {
    if (type === 'text' || type === 'name') return value
    return type === 'number' ? Number(value) : CONSTANTS.get(value)
  }
  const parts = tokens.map((token, index) => {
    const isName = token.type === 'word' || token.type === 'name'
    const column = isName && tokens[index + 1]?.value !== '(' ? findColumn(token.value) : undefined
    if (column !== undefined) return `C${columns.push(column) - 1}`
    const value = token.type === 'symbol' ? undefined : valueOfToken(token)
    // JavaScript would round such a number.
    const isUnsafe = Number.isInteger(value) && !Number.isSafeInteger(value)
    return value === undefined || isUnsafe ? token.value : `V${values.push(value) - 1}`
  })
  let text = parts.join(' ').replaceAll(/(?<=^|[([,<>=] |and )([-+]) V(\d+)/g, (_, sign: string, index: string) => {
    const value = values[Number(index)]
    if (typeof value !== 'number') return '?'
    if (sign === '-') values[Number(index)] = -value
    return `V${index}`
  })
  // PostgreSQL writes -5 as '-5'::integer.
  for (const [, index] of text.matchAll(/V(\d+) :: (?:smallint|integer|bigint|numeric|real|double precision)\b/g)) {
    const value = values[Number(index)]
    if (typeof value === 'string' && !Number.isNaN(Number(value))) values[Number(index)] = Number(value)
  }
  for (let before = ''; text !== before;) {
    before = text
    for (const [pattern, replacement] of REWRITES) text = text.replaceAll(pattern, replacement)
  }
  return { text, columns, values }
}

function isBalanced (text: string): boolean {
  return text.split('(').length === text.split(')').length
}

/**
 * Adds the keywords of demands to the schema of a column. `isExact` is false if the database takes different texts of
 * the column for equal, such as those in another case.
 */
export function addKeywords (schema: Schema, demands: readonly Demand[], isExact: boolean): Schema {
  return demands.reduce((result, demand) =>
    ({ ...result, ...tighten(result, keywordsOf(result, demand, isExact)) }), schema)
}

/** Returns whether a schema allows every text, apart from its other keywords. */
export function isFreeText ({ type, format = FREE_MOMENT, contentEncoding }: Schema): boolean {
  return type === 'string' && format === FREE_MOMENT && contentEncoding === undefined
}

type Keywords = Readonly<Record<string, number | readonly Literal[]>>

const BOUNDS: Readonly<Record<string, string>> = {
  '>=': 'minimum', '>': 'exclusiveMinimum', '<=': 'maximum', '<': 'exclusiveMaximum'
}

function keywordsOf (schema: Schema, { by, isLength, values }: Demand, isExact: boolean): Keywords {
  const isText = isFreeText(schema) && isExact
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  const [value] = values
  if (isLength) return isText && typeof value === 'number' ? lengthKeywords(by, value) : {}
  if (by === '<>' || by === '!=') return isText && value === '' ? { minLength: 1 } : {}
  if (by === 'in' || by === '=' || by === '==') {
    // With null among the values, the condition is never false.
    const isTyped = isNumber ? Number.isFinite : (item: unknown): boolean => typeof item === 'string'
    const isFitting = (isNumber || isText) && values.every(isTyped)
    return isFitting ? { enum: [...new Set(values)] } : {}
  }
  const keyword = BOUNDS[by]
  return isNumber && keyword !== undefined && typeof value === 'number' ? { [keyword]: value } : {}
}

function lengthKeywords (by: string, length: number): Keywords {
  const least = Math.max(0, by === '>' ? Math.floor(length) + 1 : Math.ceil(length))
  const most = by === '<' ? Math.ceil(length) - 1 : Math.floor(length)
  if (by === '>' || by === '>=') return { minLength: least }
  if (most < 0) return {}
  if (by === '<' || by === '<=') return { maxLength: most }
  return by === '=' || by === '==' ? { minLength: least, maxLength: most } : {}
}

/** Keeps the tighter one of two bounds, and the values that both lists have. */
function tighten (schema: Schema, keywords: Keywords): Schema {
  return Object.fromEntries(Object.entries(keywords).map(([keyword, value]) => {
    const known = schema[keyword]
    if (Array.isArray(known) && Array.isArray(value)) {
      const both = known.filter((item) => value.includes(item))
      return [keyword, both.length > 0 ? both : known]
    }
    if (typeof known !== 'number' || typeof value !== 'number') return [keyword, value]
    return [keyword, /max/i.test(keyword) ? Math.min(known, value) : Math.max(known, value)]
  }))
}
