import { isPromise } from '../../util/maybe-promise.js'
import { escapeAttribute } from '../escape.js'
import { flatten } from '../row-template.js'

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
 * html`<p title="${hint}">${names.map((name) => html`<b>${name}</b>`)}</p>`
 */
export function html (strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  const draft = new Draft(strings[0] as string)
  for (let index = 0; index < contents.length; index++) {
    draft.add(contents[index])
    draft.text += strings[index + 1] as string
  }
  return draft.finish()
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
  const draft = new Draft('')
  draft.add(content)
  return draft.text
}

/** Returns the content of a place in a template. */
type Read<C> = (context: C) => unknown

/** A place in a template, with the constant text after it. */
interface Place {
  readonly read: Read<never>
  readonly after: string
}

/**
 * Markup with places that are filled for each page. If a template is put into another one, its places become places of
 * the other.
 */
class Template extends Markup {
  readonly #places: readonly Place[]

  constructor (text: string, places: readonly Place[]) {
    super(text)
    this.#places = places
  }

  /** Makes a template of a single place, which `read` fills. */
  static of<C> (read: Read<C>): Template {
    return new Template('', [{ read, after: '' }])
  }

  /** Makes a place that shows the content of the first place by `render`. */
  view<T> (render: (content: T) => Content): Template {
    const { read } = this.#places[0] as Place
    return Template.of((context: never) => render(read(context) as T))
  }

  appendTo (draft: Draft): void {
    draft.text += this.toString()
    for (const { read, after } of this.#places) draft.addPlace(read, after)
  }

  get places (): readonly Place[] {
    return this.#places
  }
}

/** Compiles a template into a function that joins the constant texts with the contents of the places. */
export function compile<C> (template: Markup): (context: C) => string {
  const { places } = template as Template
  const texts = [flatten(template.toString()), ...places.flatMap(({ after }) => ['', flatten(after)])]
  const positions = new Map<Read<never>, number[]>()
  for (const [index, { read }] of places.entries()) positions.set(read, [...positions.get(read) ?? [], index * 2 + 1])
  // A function that fills several places is called once.
  const steps = [...positions].map(([read, at]) => ({ read: read as Read<C>, at }))
  return (context) => {
    const filled = texts.slice()
    for (const { read, at } of steps) {
      const text = render(read(context))
      for (const index of at) filled[index] = text
    }
    // V8 joins an array faster than it flattens a text that was concatenated step by step.
    return filled.join('')
  }
}

/**
 * Makes a part of a page: either the result of `read`, or a template whose place `read` fills later. The types do not
 * tell the two apart, because models and views are the same for both.
 */
export type ReadContext<C> = <T>(read: (context: C) => T) => T

/** Returns a `ReadContext` that reads from the context at once. */
export function readNow<C> (context: C): ReadContext<C> {
  return (read) => read(context)
}

/** Returns a `ReadContext` that makes places, which are filled later. */
export function readLater<C> (): ReadContext<C> {
  return (read) => Template.of(read) as never
}

/** Joins texts and parts of a page. Parts that were made with the same function share one call of it. */
export function concat (...parts: readonly string[]): string {
  if (!parts.some((part: unknown) => part instanceof Template)) return parts.join('')
  const draft = new Draft('')
  draft.add(parts)
  return draft.finish() as never
}

/** Renders a part of a page, or makes a place that renders it later. */
export function show<M extends object | string, C extends Content> (model: M, render: (model: M) => C): C | Markup {
  return model instanceof Template ? model.view(render) : render(model)
}

/** Markup under construction. */
class Draft {
  /** The text after the last place, or the whole text if there is no place. */
  text: string
  readonly #texts: string[] = []
  readonly #reads: Array<Read<never>> = []

  constructor (text: string) {
    this.text = text
  }

  addPlace (read: Read<never>, after: string): void {
    this.#texts.push(this.text)
    this.#reads.push(read)
    this.text = after
  }

  /** Appends content. Everything that is not markup is escaped. */
  add (content: unknown): void {
    if (typeof content === 'string') this.text += escapeAttribute(content)
    else if (content instanceof Template) content.appendTo(this)
    else if (content instanceof Markup) this.text += content.toString()
    else if (Array.isArray(content)) for (const part of content) this.add(part)
    else if (content !== null && content !== undefined && content !== false) this.#addText(content)
  }

  #addText (content: unknown): void {
    if (isPromise(content)) throw new TypeError('a view must return text or markup, not a promise; it cannot be async')
    this.text += escapeAttribute(String(content))
  }

  finish (): Markup {
    const [start] = this.#texts
    if (start === undefined) return new Markup(this.text)
    const afters = [...this.#texts.slice(1), this.text]
    return new Template(start, this.#reads.map((read, index) => ({ read, after: afters[index] as string })))
  }
}
