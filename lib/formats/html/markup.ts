import { escapeAttribute } from '../escape.js'

/** Text that is markup already and is not escaped again. */
export class Markup {
  readonly #text: string

  constructor (text: string) {
    this.#text = text
  }

  toString (): string {
    return this.#text
  }
}

/** What may stand in a template; null, undefined and false are nothing. */
export type Content = Markup | string | number | boolean | null | undefined | readonly Content[]

/** Markup from a template in which everything is escaped that is not markup itself. */
export function html (strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  let text = strings[0] as string
  for (const [index, content] of contents.entries()) text += render(content) + (strings[index + 1] as string)
  return new Markup(text)
}

function render (content: Content): string {
  if (content instanceof Markup) return content.toString()
  if (Array.isArray(content)) return content.map(render).join('')
  if (content === null || content === undefined || content === false) return ''
  return escapeAttribute(String(content))
}
