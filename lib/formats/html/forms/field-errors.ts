import type { Messages } from '../../../errors.js'
import { capitalize, type PageMessages } from '../messages.js'
import type { Translate } from '../translate.js'
import type { FormError } from '../views/model.js'

const NONE: readonly string[] = Object.freeze([])

/** Where the messages of a field are found, and how the field is named where it is not seen. */
export interface FieldSource {
  readonly id: string
  /** `author.name`, by which errors are told. */
  readonly path: string
  /** The labels around it, for a sentence that stands elsewhere. */
  readonly trail: string
  readonly label: string
}

/** What is wrong with a form: each field takes its messages, and what no field has taken belongs to the form. */
export class FieldErrors {
  readonly #messages: PageMessages
  readonly #translate: Translate
  readonly #wrong: Map<string, readonly string[]>
  readonly #summary: FormError[] = []

  constructor (messages: PageMessages, translate: Translate, wrong: Messages) {
    this.#messages = messages
    this.#translate = translate
    this.#wrong = new Map(Object.entries(wrong))
  }

  /** Whether there is nothing left to take. */
  get isEmpty (): boolean {
    return this.#wrong.size === 0
  }

  /** The messages of a field; of one that has no fields inside also those of what is inside its value. */
  take ({ id, path, trail, label }: FieldSource, hasFields: boolean): readonly string[] {
    if (this.#wrong.size === 0) return NONE
    return [...this.#wrong].flatMap(([at, messages]) => {
      const isInside = !hasFields && at.startsWith(`${path}.`)
      if (at !== path && !isInside) return []
      this.#wrong.delete(at)
      const inside = isInside ? this.#inside(label, at.slice(path.length + 1)) : undefined
      return messages.map((message) => {
        const phrase = this.#translate(message)
        const text = capitalize(`${trail}${inside ?? label} ${phrase}`)
        this.#summary.push({ text, href: `#${encodeURI(id)}` })
        return capitalize(inside === undefined ? phrase : `${inside} ${phrase}`)
      })
    })
  }

  /** What is called `1.name` in an array is in the second of its items. */
  #inside (label: string, path: string): string {
    const [, index, more = ''] = /^(\d+)\.?(.*)$/.exec(path) ?? []
    if (index === undefined) return path
    const item = this.#messages.item(label, Number(index) + 1)
    return more === '' ? item : `${item}: ${more}`
  }

  /** All messages, those last that no field has taken. */
  close (): readonly FormError[] {
    for (const [path, messages] of this.#wrong) {
      const texts = messages.map((message) => `${path} ${this.#translate(message)}`)
      this.#summary.push(...texts.map((text) => ({ text, href: undefined })))
    }
    return this.#summary
  }
}
