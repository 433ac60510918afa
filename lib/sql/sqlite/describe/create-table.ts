import { type Token, tokenize } from '../../tables/checks/tokens.js'

/** What a CREATE TABLE statement says beyond the pragmas of SQLite. */
export interface TableText {
  /** The expressions of the CHECK constraints. */
  readonly checks: ReadonlyArray<readonly Token[]>
  /** The columns with a collation other than BINARY, in lower case. */
  readonly collated: ReadonlySet<string>
}

/** The words that begin a constraint of the table. */
const CONSTRAINTS: ReadonlySet<string> = new Set(['constraint', 'primary', 'unique', 'check', 'foreign'])

/** Reads a CREATE TABLE statement as SQLite keeps it in its schema. */
export function readCreateTable (sql: string): TableText {
  const tokens = tokenize(sql, { hasBrackets: true })
  const parts = splitAtCommas(tokensInside(tokens.slice(tokens.findIndex(isOpening) + 1)))
  const checks = parts.flatMap(findChecks)
  const collated = parts.flatMap(([name, ...rest]) => {
    if (name === undefined || (name.type === 'word' && CONSTRAINTS.has(name.value))) return []
    const at = rest.findIndex(({ type, value }) => type === 'word' && value === 'collate')
    const collation = rest[at + 1]?.value.toLowerCase()
    return at === -1 || collation === 'binary' ? [] : [name.value.toLowerCase()]
  })
  return { checks, collated: new Set(collated) }
}

/** Splits tokens at the commas outside brackets. */
function splitAtCommas (tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    depth += isOpening(token) ? 1 : isClosing(token) ? -1 : 0
    if (depth === 0 && token.type === 'symbol' && token.value === ',') parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}

/** Returns the expressions after CHECK, outside other brackets. */
function findChecks (tokens: readonly Token[]): Token[][] {
  const checks: Token[][] = []
  let depth = 0
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1]
    if (depth === 0 && isOpening(token) && previous?.type === 'word' && previous.value === 'check') {
      checks.push(tokensInside(tokens.slice(index + 1)))
    }
    depth += isOpening(token) ? 1 : isClosing(token) ? -1 : 0
  }
  return checks
}

/** Returns the tokens up to the bracket that closes them. */
function tokensInside (tokens: readonly Token[]): Token[] {
  let depth = 0
  const end = tokens.findIndex((token) => {
    depth += isOpening(token) ? 1 : isClosing(token) ? -1 : 0
    return depth < 0
  })
  return tokens.slice(0, end)
}

function isOpening ({ type, value }: Token): boolean {
  return type === 'symbol' && value === '('
}

function isClosing ({ type, value }: Token): boolean {
  return type === 'symbol' && value === ')'
}
