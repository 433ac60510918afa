/** A part of an SQL text. */
export interface Token {
  /** A `name` is quoted. A `word` is not: a name, a keyword or an operator in letters. */
  readonly type: 'word' | 'name' | 'text' | 'number' | 'symbol'
  /** The value, without quotes. A word is in lower case. */
  readonly value: string
  /** The word as it was written. */
  readonly written: string
}

const SKIPPED = String.raw`(?:\s|--[^\n]*|/\*[\s\S]*?(?:\*/|$))+`
const PARTS: ReadonlyArray<readonly [Token['type'] | 'skipped', string]> = [
  ['skipped', SKIPPED],
  ['text', String.raw`[eE]?'(?:[^']|'')*'`],
  ['name', String.raw`"(?:[^"]|"")*"|` + '`(?:[^`]|``)*`' + String.raw`|\[[^\]]*\]`],
  ['number', String.raw`0[xX][\dA-Fa-f]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`],
  ['word', String.raw`[\p{L}_\u0080-\u{10ffff}][\p{L}\p{N}_$\u0080-\u{10ffff}]*`],
  ['symbol', String.raw`::|<=|>=|<>|!=|==|\|\||[^\s]`]
]

/** How a database writes names. */
export interface TokenOptions {
  /** Whether `[name]` is a quoted name, as in SQLite. In PostgreSQL, brackets are those of arrays. */
  readonly hasBrackets: boolean
}

/** Splits an SQL text into its tokens, without its comments. */
export function tokenize (sql: string, { hasBrackets }: TokenOptions): Token[] {
  const pattern = hasBrackets ? WITH_BRACKETS : WITHOUT_BRACKETS
  const tokens: Token[] = []
  for (const { groups = {} } of sql.matchAll(pattern)) {
    const [type, written] = Object.entries(groups).find(([, part]) => part !== undefined) as [Token['type'], string]
    if ((type as string) !== 'skipped') tokens.push({ type, written, value: valueOf(type, written) })
  }
  return tokens
}

const WITH_BRACKETS = compile(PARTS)
const WITHOUT_BRACKETS = compile(PARTS.map(([type, part]) => [type, part.replace(String.raw`|\[[^\]]*\]`, '')]))

function compile (parts: typeof PARTS): RegExp {
  return new RegExp(parts.map(([type, part]) => `(?<${type}>${part})`).join('|'), 'gu')
}

function valueOf (type: Token['type'], written: string): string {
  if (type === 'word') return written.toLowerCase()
  if (type === 'name') {
    const [quote = ''] = written
    return quote === '[' ? written.slice(1, -1) : written.slice(1, -1).replaceAll(quote + quote, quote)
  }
  if (type !== 'text') return written
  const isEscaped = !written.startsWith("'")
  const text = written.slice(isEscaped ? 2 : 1, -1).replaceAll("''", "'")
  // PostgreSQL writes E'…' only for texts with a backslash, and doubles it.
  return isEscaped ? text.replaceAll('\\\\', '\\') : text
}
