import { InvalidOptionError } from '../core/errors.js'
import { capitalize, wordsOf } from '../core/util/words.js'
import { pluralize, singularize } from '../core/resource/inflection.js'
import type { ResourceWords } from '../core/formats/view.js'
import { nameTable, type TableDescription } from '../sql/tables/description.js'
import { show } from '../core/util/check-option.js'

/** The options that name the resource of a table. */
export interface ResourceNames {
  /** The plural name: `invoiceLines`. */
  readonly name: string
  /** The singular name: `invoiceLine`. */
  readonly singular: string
  /** The segment of the path: `invoice-lines`. */
  readonly path: string
  /** The names on pages, if they are not the names above in words. */
  readonly messages?: ResourceWords
}

/** Returns the plural name of the resource of a table, or `undefined` for the default one. */
export type NameOf = (table: TableDescription) => string | undefined

/** These names have another meaning in payloads, or in `app.paths`. */
const RESERVED: ReadonlySet<string> = new Set(['id', 'url'])

/**
 * Splits a name into words: `InvoiceLine`, `invoice_line` and `INVOICE-LINE` become `invoice` and `line`. Capitals that
 * follow each other are an abbreviation and stay, as does a single one: `homeURL` → `home`, `URL`.
 * @param isLoud whether capitals mean nothing. @default whether the name has only capitals
 */
export function splitName (name: string, isLoud: boolean = name === name.toUpperCase()): string[] {
  return name.normalize('NFC')
    .replaceAll(/(\p{Ll}\p{N}*)(?=\p{Lu})/gu, '$1 ')
    // The ending of `URLs` begins no word.
    .replaceAll(/(\p{Lu})(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{L}))/gu, '$1 ')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => isLoud || !/^\p{Lu}(?:\p{Lu}|$)/u.test(word) ? word.toLowerCase() : word)
}

/**
 * Names the resource of each table. Outside of the first schema, a default name begins with the schema. Otherwise, one
 * that is taken gets the table's schema as its first word, or else a number as its last one.
 * @param nameOf the names that the app has chosen
 * @throws InvalidOptionError if the app has given two tables the same name
 */
export function nameResources (
  tables: readonly TableDescription[],
  nameOf: NameOf
): ReadonlyMap<TableDescription, ResourceNames> {
  const taken = new Map<string, TableDescription>()
  const names = new Map<TableDescription, ResourceNames>()
  const claim = (table: TableDescription, made: ResourceNames): void => {
    const { name, singular, path, messages: { heading = capitalize(wordsOf(name)) } = {} } = made
    for (const text of [name, singular, path, heading]) taken.set(text, table)
    names.set(table, made)
  }
  // The names of the app come first, so that no default name takes one of them.
  for (const table of tables) {
    const name: unknown = nameOf(table)
    if (name === undefined) continue
    if (typeof name !== 'string') {
      throw new InvalidOptionError('nameOf', `must return a name or undefined, not ${show(name)}`)
    }
    const other = taken.get(name)
    if (other !== undefined) {
      throw new InvalidOptionError(
        'nameOf',
        `must not give the name "${name}" to both "${nameTable(other)}" and "${nameTable(table)}"`
      )
    }
    claim(table, { name, singular: singularize(name), path: join(splitName(name)) })
  }
  for (const table of tables.filter((table) => !names.has(table))) claim(table, makeFree(table, taken))
  return names
}

/** Returns the first names for a table that no other table has. */
function makeFree (table: TableDescription, taken: ReadonlyMap<string, TableDescription>): ResourceNames {
  const { name, schema, qualifiedName } = table
  const words = splitName(name)
  const begin = splitName(qualifiedName?.slice(0, -name.length - 1) ?? '')
  // Nothing is left of a name of symbols, so its code points are its name.
  const own = words.length > 0 ? words : [spell(name) || 'table']
  const findOther = (made: ResourceNames): TableDescription | undefined =>
    taken.get(made.name) ?? taken.get(made.singular) ?? taken.get(made.path)
  const make = (prefix: readonly string[], number?: string): ResourceNames => {
    const names = makeNames([...prefix, ...own], number)
    const called = callTable(table, prefix)
    const isClear = number === undefined || !taken.has(called.heading)
    const messages = isClear ? called : { ...called, heading: `${called.heading} ${number}` }
    const isPlain = messages.plural === messages.heading && capitalize(wordsOf(names.name)) === messages.plural &&
      wordsOf(names.singular) === messages.singular
    return isPlain ? names : { ...names, messages }
  }
  const first = make(begin)
  const other = findOther(first)
  if (other === undefined) return first
  if (schema !== undefined && schema !== other.schema && qualifiedName === undefined) {
    const qualified = make(splitName(schema))
    if (findOther(qualified) === undefined) return qualified
  }
  let number = 2
  while (findOther(make(begin, String(number))) !== undefined) number++
  return make(begin, String(number))
}

/**
 * Returns the words by which pages call a table. Its name stays, apart from its spelling. The words of sentences are
 * known if the rules of English lead from the name to a singular, or to a plural, and back. News have no singular: "New
 * news" and "New staff" read oddly.
 */
function callTable ({ name, kind }: TableDescription, prefix: readonly string[]): ResourceWords {
  const isWritten = /\s/.test(name.trim()) && name !== name.toUpperCase()
  const words = splitName(name)
  const write = (own: readonly string[]): string => [...prefix, ...own].join(' ')
  const heading = capitalize(write(isWritten || words.length === 0 ? [name.trim() || 'table'] : words))
  const last = words.at(-1) ?? ''
  const one = singularize(last)
  const many = pluralize(one)
  const isPlural = many === last
  const isKnown = /[a-z]$/i.test(last) && (isPlural || (one === last && singularize(many) === one))
  if (!isKnown || kind === 'view' || kind === 'materialized view') return { heading, plural: '', singular: '' }
  const singular = one === many ? '' : write([...words.slice(0, -1), one])
  return { heading, plural: isPlural ? capitalize(write(words)) : '', singular }
}

/** Makes names of words, and of a number at the end. */
function makeNames (words: readonly string[], number?: string): ResourceNames {
  const before = words.slice(0, -1)
  const last = words.at(-1) as string
  // Only English words have a known plural.
  const many = /[a-z]$/i.test(last) ? pluralize(last) : last
  const one = singularize(many)
  const end = number === undefined ? [] : [number]
  const plural = [...before, many, ...end]
  const singular = [...before, one, ...end]
  const isReserved = RESERVED.has(camelize(singular)) || RESERVED.has(camelize(plural))
  const name = camelize(isReserved ? [...singular, 'rows'] : plural)
  return { name, singular: camelize(isReserved ? [...singular, 'row'] : singular), path: join(plural) }
}

/** Joins words to a segment of a path. */
function join (words: readonly string[]): string {
  return words.map((word) => word.toLowerCase()).join('-')
}

/** Joins words to a name of ASCII letters and digits, which does not begin with a digit. */
function camelize (words: readonly string[]): string {
  const [first = '', ...others] = words.map(toAscii)
  const joined = first + others.map(capitalize).join('')
  return /^\d/.test(joined) ? `_${joined}` : joined
}

/** Letters that Unicode does not decompose, as passports spell them (ICAO Doc 9303, part 3, table 6). */
const SPELLINGS: Readonly<Record<string, string>> =
  { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'oe', ð: 'd', đ: 'd', þ: 'th', ł: 'l', ı: 'i' }

/** Removes the accents of a word. Letters that are not ASCII without them become their code points. */
function toAscii (word: string): string {
  return word.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z\d]/gu, (letter) => SPELLINGS[letter] ?? spell(letter))
}

/** Writes the code points of a text: `🦄` → `u1f984`. */
function spell (text: string): string {
  return Array.from(text, (character) => `u${(character.codePointAt(0) as number).toString(16)}`).join('')
}
