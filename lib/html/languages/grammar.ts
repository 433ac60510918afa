import type { PageMessages, Phrases } from '../messages.js'
import type { ServerText } from './server-texts.js'

/** The words of a language: those of the pages, and the translations of the server's texts. */
export interface Language {
  readonly messages: Omit<PageMessages, 'plural' | 'singular' | 'phrases'>
  /** The order matters: the first phrase that matches a text translates it. */
  readonly phrases: Readonly<Record<ServerText, Phrases[string]>>
}

/**
 * Compiles a word whose form depends on a number (CLDR plural rules): `{ one: '# item', other: '# items' }`. `#` stands
 * for the number.
 */
export function compilePlural (
  lang: string,
  forms: { readonly [F in Intl.LDMLPluralRule]?: string } & { readonly other: string }
): (number: number | string, digits?: string) => string {
  const rules = new Intl.PluralRules(lang)
  return (number, digits = String(number)) => (forms[rules.select(Number(number))] ?? forms.other).replace('#', digits)
}

/** Matches the value of a condition that is a time of day: `12:00`. Some languages write other words before a date. */
export const TIME_OF_DAY: RegExp = /^\d+:/

/** Compiles the text of a condition: `Rating: at least 3`. After a colon, no word must agree with the label. */
export function compileCondition (operatorOf: PageMessages['operator'], colon: string): PageMessages['condition'] {
  return (label, operator, value, isTime) => {
    const words = operatorOf(operator, value, isTime)
    return `${label}${colon}${operator === 'eq' ? value : operator === 'null' ? words : `${words} ${value}`}`
  }
}

type TypePhrase = 'a string' | 'an integer' | 'a number' | 'true or false' | 'an array' | 'an object' | 'null'

/** Compiles the names of types. A message joins several: `an integer or null`. Other texts stay as they are. */
export function compileTypes (names: Readonly<Record<TypePhrase, string>>, or: string): (text: string) => string {
  const all = new Map<string, string>(Object.entries(names))
  return (text) => {
    const types = text.split(/(?<!true) or /).map((type) => all.get(type))
    return types.includes(undefined) ? text : types.join(or)
  }
}
