import type { Token } from './tokens.js'

/** An SQL expression, as far as a check of values can be read from it. */
export type Expression =
  | { readonly is: 'column' | 'length', readonly name: string }
  | { readonly is: 'value', readonly value: Literal }
  | { readonly is: 'list', readonly items: readonly Expression[] }
  | { readonly is: 'compare', readonly by: string, readonly left: Expression, readonly right: Expression }
  | { readonly is: 'and' | 'or', readonly parts: readonly Expression[] }
  | { readonly is: 'null', readonly operand: Expression }
  | { readonly is: 'unknown' }

export type Literal = string | number | boolean | null

/** Returns the name of the column that a name means, or `undefined` if it means none. */
export type FindColumn = (name: Token) => string | undefined

const UNKNOWN: Expression = { is: 'unknown' }
const COMPARISONS: ReadonlySet<string> = new Set(['=', '==', '<>', '!=', '<', '<=', '>', '>='])
/** The tokens that end a condition. */
const LOGIC: ReadonlySet<string> = new Set(['and', 'or', ')', ',', ']'])
const LENGTHS: ReadonlySet<string> = new Set(['length', 'char_length', 'character_length'])
/** The types to which a cast changes neither a text nor a number. */
const LOSSLESS = /^(?:text|character varying|varchar|numeric|double precision)(?:\[\])?$/
/** The later words of the names of types. */
const TYPE_WORDS: ReadonlySet<string> = new Set(['varying', 'precision', 'with', 'without', 'time', 'zone'])
const NUMERIC = /^(?:smallint|integer|bigint|numeric|decimal|real|double precision)\b/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/**
 * Parses the expression of a CHECK or of a default. A part that it cannot read is `unknown`.
 */
export function parseExpression (tokens: readonly Token[], findColumn: FindColumn): Expression {
  const parser = new ExpressionParser(tokens, findColumn)
  const parsed = parser.parse()
  return parser.isComplete ? parsed : UNKNOWN
}

class ExpressionParser {
  readonly #tokens: readonly Token[]
  readonly #findColumn: FindColumn
  #at = 0
  #hasGivenUp = false

  constructor (tokens: readonly Token[], findColumn: FindColumn) {
    this.#tokens = tokens
    this.#findColumn = findColumn
  }

  /** Whether the parser has read every token. */
  get isComplete (): boolean {
    return this.#isAtEnd && !this.#hasGivenUp
  }

  get #isAtEnd (): boolean {
    return this.#at >= this.#tokens.length
  }

  /** Parses terms of OR. */
  parse (): Expression {
    return this.#join('or', () => this.#join('and', () => this.#condition()))
  }

  #join (by: 'and' | 'or', parsePart: () => Expression): Expression {
    const parts = [parsePart()]
    while (this.#skip(by)) parts.push(parsePart())
    return parts.length === 1 ? parts[0] as Expression : { is: by, parts }
  }

  #condition (): Expression {
    const condition = this.#skip('not') ? this.#negation() : this.#comparison()
    return this.#isAtBoundary ? condition : this.#skipUnknown()
  }

  #negation (): Expression {
    this.#condition()
    return UNKNOWN
  }

  #comparison (): Expression {
    const left = this.#operand()
    const { type, value: by = '' } = this.#next ?? {}
    if (type === 'symbol' && COMPARISONS.has(by)) {
      this.#at++
      if (!this.#skip('any')) return { is: 'compare', by, left, right: this.#operand() }
      const right = this.#operand()
      return by === '=' ? { is: 'compare', by: 'in', left, right } : UNKNOWN
    }
    if (this.#skip('in')) return { is: 'compare', by: 'in', left, right: this.#items('(', ')') }
    if (this.#skip('between')) return this.#between(left)
    return this.#skip('is') ? this.#isNull(left) : left
  }

  #between (left: Expression): Expression {
    const least = this.#operand()
    if (!this.#skip('and')) return this.#giveUp()
    const most = this.#operand()
    const compare = (by: string, right: Expression): Expression => ({ is: 'compare', by, left, right })
    return { is: 'and', parts: [compare('>=', least), compare('<=', most)] }
  }

  #isNull (operand: Expression): Expression {
    const isNot = this.#skip('not')
    return this.#skip('null') && !isNot ? { is: 'null', operand } : UNKNOWN
  }

  /** Parses an operand with its casts. */
  #operand (): Expression {
    let operand = this.#primary()
    for (;;) {
      if (this.#skip('::')) operand = castTo(this.#type(), operand)
      else if (this.#skip('collate')) {
        this.#at++
        operand = UNKNOWN
      } else return operand
    }
  }

  #primary (): Expression {
    const token = this.#next
    if (token === undefined) return UNKNOWN
    const { type, value } = token
    if (type === 'symbol') return this.#symbol(value)
    this.#at++
    if (type === 'text') return { is: 'value', value }
    if (type === 'number') return numberOf(value)
    if (type === 'word') {
      // Its words AND and OR join no conditions.
      if (value === 'case') return this.#giveUp()
      if (value === 'null') return { is: 'value', value: null }
      if (value === 'true' || value === 'false') return { is: 'value', value: value === 'true' }
      if (value === 'array' && this.#next?.value === '[') return this.#items('[', ']')
      if (this.#next?.value === '(') return this.#call(value)
    }
    const name = this.#findColumn(token)
    if (name !== undefined) return { is: 'column', name }
    // SQLite takes a quoted name for a text if no column has the name.
    return type === 'name' ? { is: 'value', value } : UNKNOWN
  }

  #symbol (symbol: string): Expression {
    if (symbol === '(') {
      this.#at++
      const inner = this.parse()
      return this.#skip(')') ? inner : this.#skipUnknown()
    }
    if (symbol !== '-' && symbol !== '+') return UNKNOWN
    this.#at++
    const operand = this.#primary()
    if (operand.is !== 'value' || typeof operand.value !== 'number') return UNKNOWN
    return { is: 'value', value: symbol === '-' ? -operand.value : operand.value }
  }

  #call (name: string): Expression {
    const list = this.#items('(', ')')
    const [argument, second] = list.is === 'list' ? list.items : []
    return LENGTHS.has(name) && second === undefined && argument?.is === 'column'
      ? { is: 'length', name: argument.name }
      : UNKNOWN
  }

  #items (open: string, close: string): Expression {
    if (!this.#skip(open)) return this.#skipUnknown()
    const items: Expression[] = []
    while (!this.#skip(close)) {
      items.push(this.parse())
      if (!this.#skip(',') && this.#next?.value !== close) return this.#skipUnknown()
    }
    return { is: 'list', items }
  }

  /** Parses the name of a type, such as `character varying(10)[]` or `public."Mood"`. */
  #type (): string {
    let type = this.#take()
    while (this.#skip('.')) type += `.${this.#take()}`
    for (;;) {
      const next = this.#next?.value ?? ''
      if (TYPE_WORDS.has(next)) type += ` ${this.#take()}`
      else if (next === '(' || next === '[') type += this.#takeThrough(next === '(' ? ')' : ']')
      else return type
    }
  }

  #takeThrough (close: string): string {
    let taken = ''
    while (!this.#isAtEnd && !taken.endsWith(close)) taken += this.#take()
    return taken
  }

  get #next (): Token | undefined {
    return this.#tokens[this.#at]
  }

  get #isAtBoundary (): boolean {
    return this.#next === undefined || (this.#next.type !== 'text' && LOGIC.has(this.#next.value))
  }

  #take (): string {
    return this.#tokens[this.#at++]?.value ?? ''
  }

  #skip (value: string): boolean {
    const token = this.#next
    if (token?.value !== value || (token.type !== 'word' && token.type !== 'symbol')) return false
    this.#at++
    return true
  }

  /** Skips an expression that cannot be read, up to the next AND, OR, comma or closing bracket. */
  #skipUnknown (): Expression {
    for (let depth = 0; !this.#isAtEnd && (depth > 0 || !this.#isAtBoundary); this.#at++) {
      const { type, value } = this.#next as Token
      if (type === 'symbol' && (value === '(' || value === '[')) depth++
      if (type === 'symbol' && (value === ')' || value === ']')) depth--
      // The AND of BETWEEN joins no conditions.
      if (depth === 0 && value === 'between') return this.#giveUp()
    }
    return UNKNOWN
  }

  /** Ends the reading of the whole expression. */
  #giveUp (): Expression {
    this.#hasGivenUp = true
    this.#at = this.#tokens.length
    return UNKNOWN
  }
}

function castTo (type: string, operand: Expression): Expression {
  if (operand.is !== 'value') return LOSSLESS.test(type) ? operand : UNKNOWN
  const { value } = operand
  return typeof value === 'string' && NUMERIC.test(type) && NUMBER.test(value) ? numberOf(value) : operand
}

/** Reads a number. It is unknown if JavaScript would round it. */
function numberOf (text: string): Expression {
  const value = Number(text.replaceAll('_', ''))
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? UNKNOWN : { is: 'value', value }
}
