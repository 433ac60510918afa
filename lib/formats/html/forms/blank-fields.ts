import type { Resource } from '../../../resource/resource.js'
import type { Id } from '../../../resource/row.js'
import type { Attributes } from '../../../schema/types.js'
import { type FormNode, MARKER, markerOf } from '../../form/parse.js'
import type { View } from '../../format.js'
import type { ReadContext } from '../html-tag.js'
import type { Field, HiddenField } from '../views/model.js'
import { currentIn, NOTHING } from './controls.js'
import type { FieldBuilder } from './field-builder.js'
import type { FieldPlan } from './field-plan.js'

/** A context with the view of a page. */
export interface Viewed {
  readonly view: View
}

/** The members of a view that the fields of a form depend on. */
export type FormView = Pick<View, 'input' | 'choices'>

const NO_VIEW: FormView = { input: undefined, choices: new Map() }

/** The fields of a blank form for a new row. They are made once, except those that reference other rows. */
export class BlankFields {
  readonly #plans: readonly FieldPlan[]
  readonly #references: ReadonlySet<string>
  readonly #open: (view: FormView) => FieldBuilder
  #fields: readonly Field[] | undefined

  /** @param references the attributes that have ids of other resources */
  constructor (
    plans: readonly FieldPlan[],
    references: ReadonlySet<string>,
    open: (view: FormView) => FieldBuilder
  ) {
    this.#plans = plans
    this.#references = references
    this.#open = open
  }

  of (of: ReadContext<Viewed>): readonly Field[] {
    const fields = this.#fields ??= this.#build(NO_VIEW)
    if (this.#references.size === 0) return fields
    return this.#plans.map((plan, index) => {
      const { property: { name } } = plan
      const blank = fields[index] as Field
      if (!this.#references.has(name)) return blank
      return of(({ view }) => view.choices.has(name) ? buildNew(this.#open(view), plan) : blank)
    })
  }

  /**
   * Returns the hidden field that names the references with which the form begins. The next form begins with them too,
   * after "Save and add another".
   */
  again (singular: string, { input, prefilled }: View): readonly HiddenField[] {
    const names = input?.node === undefined
      ? Object.keys(prefilled).filter((name) => this.#references.has(name)).join(' ')
      : markerOf(input.node as FormNode, 'again') ?? ''
    return names === '' ? [] : [{ name: `${singular}[${MARKER}][again]`, value: names }]
  }

  #build (view: FormView): readonly Field[] {
    const builder = this.#open(view)
    return this.#plans.map((plan) => buildNew(builder, plan))
  }
}

/** Builds a field of the form for a new row: with what was sent, or else with the value that the form begins with. */
export function buildNew (
  builder: FieldBuilder,
  plan: FieldPlan,
  nodes: Readonly<Record<string, FormNode>> = NOTHING.nodes,
  prefilled: Attributes = {}
): Field {
  const { name, schema } = plan.property
  const value = Object.hasOwn(prefilled, name) ? prefilled[name] : schema.default
  return builder.build(plan, currentIn(nodes[name], value))
}

/**
 * Returns the key of a row, which its form has no field for. An id is the value of a key of one attribute, unless it
 * is escaped.
 */
export function readKey ({ key: [name, ...more] }: Resource, id: Id | undefined): Attributes {
  return name !== undefined && more.length === 0 && !String(id).startsWith('%') ? { [name]: id } : {}
}
