import { isPromise } from '../core/util/maybe-promise.js'
import { escapeAttribute } from '../core/formats/escape.js'

/** A text that is already markup and is not escaped again. */
export class Markup {
  readonly #text: string

  constructor (text: string) {
    this.#text = text
  }

  /** Returns the markup as text. */
  toString (): string {
    return this.#text
  }
}

/** A value in a template. `null`, `undefined` and `false` render as nothing. */
export type Content = Markup | string | number | boolean | null | undefined | readonly Content[]

/**
 * Returns markup, with every value of the template escaped that is not markup itself. Values are only allowed in text
 * and in quoted attributes.
 *
 * @example
 * markup`<p title="${hint}">${names.map((name) => markup`<b>${name}</b>`)}</p>`
 */
export function markup (strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  let text = strings[0] as string
  for (let index = 0; index < contents.length; index++) text += render(contents[index]) + (strings[index + 1] as string)
  return new Markup(text)
}

/**
 * Marks a text as markup without escaping it, for example the output of a template engine. The caller must have escaped
 * it.
 */
export function raw (text: string): Markup {
  return new Markup(text)
}

/**
 * Renders content as text. Everything that is not markup is escaped.
 * @throws TypeError if the content is a promise or contains one
 */
export function render (content: unknown): string {
  if (typeof content === 'string') return escapeAttribute(content)
  if (content instanceof Markup) return content.toString()
  if (Array.isArray(content)) return content.map(render).join('')
  if (content === null || content === undefined || content === false) return ''
  if (isPromise(content)) throw new TypeError('a view must return text or markup, not a promise; it cannot be async')
  return escapeAttribute(String(content))
}
