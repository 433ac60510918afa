/** A text of an array, split into its items: texts, null, and arrays inside it. */
export type ArrayItems = ReadonlyArray<string | null | ArrayItems>

// Matches an item that has no quotes, up to the character behind it.
const PLAIN = /[^,{}"\\]*/y
// Matches the content of an item in quotes, piece by piece, so that a long one needs no large stack.
const QUOTED = /[^"\\]+/y

/**
 * Parses the text of an array, such as `{1,NULL,"a b"}` (PostgreSQL §8.15.6). Returns `undefined` for another text,
 * for example that of an array whose first index is not 1: `[0:1]={1,2}`.
 */
export function parseArray (text: string): ArrayItems | undefined {
  return text.startsWith('{') ? new ArrayParser(text).parse() : undefined
}

class ArrayParser {
  readonly #text: string
  #at = 0

  constructor (text: string) {
    this.#text = text
  }

  /** Parses the array that begins at the current position. The database writes valid texts only. */
  parse (): ArrayItems {
    const items: Array<string | null | ArrayItems> = []
    this.#at++
    while (this.#text[this.#at] !== '}') {
      items.push(this.#parseItem())
      if (this.#text[this.#at] === ',') this.#at++
    }
    this.#at++
    return items
  }

  #parseItem (): string | null | ArrayItems {
    const next = this.#text[this.#at]
    if (next === '{') return this.parse()
    if (next === '"') return this.#parseQuoted()
    const item = this.#match(PLAIN)
    return item === 'NULL' ? null : item
  }

  #parseQuoted (): string {
    let item = ''
    this.#at++
    while (this.#text[this.#at] !== '"') {
      if (this.#text[this.#at] === '\\') {
        item += this.#text[this.#at + 1]
        this.#at += 2
      } else item += this.#match(QUOTED)
    }
    this.#at++
    return item
  }

  #match (pattern: RegExp): string {
    const found = new RegExp(pattern)
    found.lastIndex = this.#at
    const [item] = found.exec(this.#text) as RegExpExecArray
    this.#at += item.length
    return item
  }
}

/** Writes the text of an array. Each text is in quotes, so that none reads as null or as an array. */
export function writeArray (items: ReadonlyArray<string | null>): string {
  return `{${items.map((item) => item === null ? 'NULL' : `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}
