import type { SaidMessages } from '../../core/errors.js'
import { type Said, say } from '../../core/messages.js'
import type { TypeName } from '../../core/schema/types.js'
import { BLANK } from '../../core/schema/validation/issues.js'
import { capitalize } from '../../core/util/words.js'
import { compileIsBlank } from '../../core/formats/form/read.js'
import type { FormNode } from '../../core/formats/form/parse.js'
import type { Input } from '../../core/formats/format.js'
import type { PageMessages, Translate } from '../messages.js'
import type { FormError } from '../views/model.js'
import { keywordsOf } from './constraints.js'
import type { FieldSource } from './field-frame.js'
import type { FieldPlan } from './field-plan.js'

const NONE: readonly string[] = Object.freeze([])
const NO_FIELDS: FormNode = { texts: [], children: new Map() }

/** The errors of a form. Each field takes its messages, and the rest belongs to the form. */
export class FieldErrors {
  readonly #messages: PageMessages
  readonly #translate: Translate
  /** The fields that were sent. */
  readonly #sent: FormNode
  /** Returns whether the field at a path was sent without content. */
  #isBlank: ((path: string) => boolean) | undefined
  /** The messages that no field has taken yet. */
  readonly #wrong: Map<string, readonly Said[]>
  readonly #summary: FormError[] = []
  /** The name of the group of the attributes. */
  readonly #group: string

  constructor (
    { messages, translate, group }: {
      readonly messages: PageMessages, readonly translate: Translate, readonly group: string
    },
    wrong: SaidMessages | undefined,
    input: Input | undefined
  ) {
    this.#group = group
    this.#messages = messages
    this.#translate = translate
    this.#sent = input?.node === undefined ? NO_FIELDS : input.node as FormNode
    this.#wrong = new Map(Object.entries(wrong ?? {}))
  }

  /** Returns the messages of a field. A field without fields inside also takes those about parts of its value. */
  take (
    { id, path, trail, label }: FieldSource,
    plan: FieldPlan,
    { hasFields, refusesBlank }: { readonly hasFields: boolean, readonly refusesBlank: boolean }
  ): readonly string[] {
    if (this.#wrong.size === 0) return NONE
    const { fieldError, labelled } = this.#messages
    const around = `${path}.`
    const taken = [...this.#wrong.keys()].filter((at) => at === path || (!hasFields && at.startsWith(around)))
    return taken.flatMap((at) => {
      const messages = this.#wrong.get(at) as readonly Said[]
      const isInside = at !== path
      this.#wrong.delete(at)
      this.#isBlank ??= compileIsBlank(this.#sent)
      const isBlank = refusesBlank && !isInside && this.#isBlank(path)
      const inside = isInside ? this.#inside(label, at.slice(path.length + 1)) : undefined
      return [...new Set(messages.map((message) => reword(message, isBlank)))].map((message) => {
        const description = describePattern(isInside ? plan.item : plan, message)
        const phrase = description ?? this.#translate(message)
        const write = (name: string): string =>
          capitalize(description === undefined ? fieldError(name, phrase) : labelled(name, phrase))
        const own = inside ?? label
        this.#summary.push({ text: write(trail === '' ? own : labelled(trail, own)), href: `#${encodeURI(id)}` })
        return inside === undefined ? capitalize(phrase) : write(inside)
      })
    })
  }

  /** Names a part of a value: `1.name` in an array is in its second item. */
  #inside (label: string, path: string): string {
    const [, index, more = ''] = /^(\d+)\.?(.*)$/.exec(path) ?? []
    if (index === undefined) return path
    const item = this.#messages.item(label, Number(index) + 1)
    return more === '' ? item : this.#messages.labelled(item, more)
  }

  /** Returns all messages. Those that no field has taken come last. */
  close (): readonly FormError[] {
    for (const [path, messages] of this.#wrong) {
      // The group of the attributes is the row itself.
      const name = path === this.#group ? capitalize(this.#messages.singular) : path
      const texts = messages.map((message) => this.#messages.fieldError(name, this.#translate(reword(message, false))))
      this.#summary.push(...texts.map((text) => ({ text, href: undefined })))
    }
    return this.#summary
  }
}

/**
 * Returns the message about a field in a form, in the words of its user. Blank is the fault that a user sees. What was
 * not given is blank too: a form has a field for it, such as a choice.
 */
function reword (said: Said, isBlank: boolean): Said {
  if (isBlank && String(said).startsWith('must ')) return BLANK
  if (typeof said === 'string') return said
  if (said.code === 'mustBeGiven') return BLANK
  if (said.code !== 'mustBeOfType') return said
  // A user makes a value null by a blank field, and never types the word.
  const { types } = said.params as { readonly types: readonly TypeName[] }
  return types.length === 1 ? said : say('mustBeOfType', { types: types.filter((type) => type !== 'null') })
}

/** Returns the description of an attribute, in place of the message with its pattern. */
function describePattern (plan: FieldPlan | undefined, said: Said): string | undefined {
  if (plan === undefined || typeof said === 'string' || said.code !== 'mustMatch') return undefined
  const { pattern } = said.params as { readonly pattern: string }
  return pattern === keywordsOf(plan.property.schema).pattern ? plan.description : undefined
}
