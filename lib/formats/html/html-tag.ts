import { isPromise } from '../../util/maybe-promise.js'
import { escapeAttribute } from '../escape.js'

/** Text that is markup already and is not escaped again. */
export class Markup {
  readonly #text: string

  constructor (text: string) {
    this.#text = text
  }

  /** The markup as text. */
  toString (): string {
    return this.#text
  }
}

/** What may stand in a template; null, undefined and false are nothing. */
export type Content = Markup | string | number | boolean | null | undefined | readonly Content[]

/**
 * Markup from a template in which everything is escaped that is not markup itself. A value stands in text or in a
 * quoted attribute, nowhere else.
 *
 * @example
 * html`<p title="${hint}">${names.map((name) => html`<b>${name}</b>`)}</p>`
 */
export function html (strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  let text = strings[0] as string
  for (let index = 0; index < contents.length; index++) text += render(contents[index]) + (strings[index + 1] as string)
  return new Markup(text)
}

/** Takes a text as markup as it stands, such as what a template engine has made. Whoever calls this has escaped it. */
export function raw (text: string): Markup {
  return new Markup(text)
}

/**
 * As text of a document: what is not markup is escaped.
 * @throws TypeError for a promise
 */
export function render (content: Content): string {
  if (typeof content === 'string') return escapeAttribute(content)
  if (content instanceof Markup) return content.toString()
  if (Array.isArray(content)) {
    let text = ''
    for (const part of content) text += render(part)
    return text
  }
  if (content === null || content === undefined || content === false) return ''
  if (isPromise(content)) throw new TypeError('a view must give text or markup at once, not a promise of it')
  return escapeAttribute(String(content))
}
