import type { Problem } from '../../../errors.js'
import type { Resource } from '../../../resource/resource.js'
import type { Id, Row } from '../../../resource/row.js'
import { isPartial } from '../../../resource/visible.js'
import { isLegalValue, isOpenName } from '../../../schema/legal-text.js'
import { openShape } from '../../../schema/shape.js'
import type { Attributes } from '../../../schema/types.js'
import { hasIssue } from '../../../schema/validation/issues.js'
import { ownMember } from '../../../util/own-property.js'
import { abbreviate } from '../../../util/truncate.js'
import { MARKER, markerOf } from '../../form/markers.js'
import { type FormNode, MAX_FIELDS } from '../../form/parse.js'
import { membersOf, namedRowsOf } from '../../form/read.js'
import type { Input } from '../../format.js'
import { html, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { Translate } from '../translate.js'
import { MOST_SHOWN } from '../values/beginning.js'
import type { Shown, ShownAttributes } from '../values/shown-attributes.js'
import type { Conflict, Field, Form, FormError, FreeRows, HiddenField } from '../views/model.js'
import { digest, isSame } from './change-digest.js'
import { type Current, FieldBuilder, PART } from './field-builder.js'
import { compileFieldPlan, FIELDS_OF_ONE, mayHaveRows, type FieldPlan } from './field-plan.js'

/** Rows in which an attribute without a schema is named and given a value. */
const FREE_ROWS = 3

/** What a form sent for each attribute, by its name. */
type Sent = Readonly<Record<string, FormNode>>

const NOTHING: Sent = Object.create(null)

/** What a form without a schema has of rows that name their attributes. */
interface NamedRow {
  readonly name: string
  readonly value: string
}

interface FieldReader {
  readonly name: string
  read (attributes: Attributes): unknown
}

/** The forms of a resource: what each has, from what there is and from what was sent. */
export class Forms {
  readonly #resource: Resource
  readonly #shown: ShownAttributes
  readonly #messages: PageMessages
  readonly #translate: Translate
  /** Of the attributes that are not only read. */
  readonly plans: readonly FieldPlan[]
  /** Those whose values a form may tell. */
  readonly #told: ReadonlySet<string>
  readonly #readers: readonly FieldReader[]
  readonly #hasRows: boolean

  constructor (resource: Resource, shown: ShownAttributes, messages: PageMessages, translate: Translate) {
    this.#resource = resource
    this.#shown = shown
    this.#messages = messages
    this.#translate = translate
    this.plans = [...resource.attributes.values()].filter(({ readOnly }) => !readOnly).map(compileFieldPlan)
    this.#told = new Set(
      this.plans
        .filter(({ property: { shape, writeOnly } }) => !writeOnly && !isPartial(shape))
        .map(({ property: { name } }) => name)
    )
    this.#readers = this.#readersOf([...this.#told])
    this.#hasRows = resource.open || this.plans.some(mayHaveRows)
  }

  /** The name of the field that tells what the attributes were when the form was made. */
  get was (): string {
    return `${this.#resource.singular}[${MARKER}][was]`
  }

  /** @param action where it is sent, as of the others */
  create (action: string, input?: Input, problem?: Problem): Form {
    const { create, new: heading, singular } = this.#messages
    const { sent, rows } = this.#read(input)
    const builder = this.#builder(problem, true, input)
    const fields = this.#plansOf(sent).map((plan) => {
      const { name, schema } = plan.property
      return builder.build(plan, this.#resource.singular, currentIn(sent[name], schema.default))
    })
    return {
      ...this.#frame('create', action, heading(singular), create(singular), rows),
      fields,
      errors: this.#errors(builder, problem)
    }
  }

  /** @param row undefined where it is not known: then what was not sent stays as it is */
  update (
    action: string,
    id: Id,
    version: string | undefined,
    row: Row | undefined,
    input?: Input,
    problem?: Problem
  ): Form {
    const { edit, save, singular } = this.#messages
    const { sent, rows } = this.#read(input)
    const values = row?.attributes ?? {}
    const builder = this.#builder(problem, false, input)
    const fields = this.#plansOf(values, sent).map((plan) => {
      const { name } = plan.property
      // Of what somebody else has changed, and was to stay so, that is what there is to edit.
      const node = sent[name] !== undefined && markerOf(sent[name], 'keep') === 'theirs' ? undefined : sent[name]
      return node === undefined && row === undefined
        ? builder.keep(plan, this.#resource.singular)
        : this.#field(builder, plan, values, node)
    })
    const digests = input === undefined ? this.digests(values) : markerOf(input.node as FormNode, 'was')
    return {
      ...this.#frame('update', action, edit(singular, id), save, rows),
      hidden: this.#hidden('PUT', id, version, digests),
      fields,
      errors: this.#errors(builder, problem)
    }
  }

  delete (action: string, id: Id, version: string | undefined): Form {
    const { delete: heading, deleteWarning, deleteConfirm, singular } = this.#messages
    return {
      ...this.#frame('delete', action, heading(singular), deleteConfirm, []),
      warning: deleteWarning(singular, id),
      hidden: this.#hidden('DELETE', id, version, undefined),
      free: undefined,
      hasRows: false
    }
  }

  /** What was sent beside what there is: a choice for each attribute in which they differ, and a form with the others. */
  resolve (
    action: string,
    current: Row,
    input: Input,
    problem?: Problem
  ): { readonly conflicts: readonly Conflict[]; readonly form: Form } {
    const { id, version, attributes } = current
    const { edit, save, singular } = this.#messages
    const { sent, rows } = this.#read(input)
    const before = parseDigests(markerOf(input.node as FormNode, 'was'))
    const builder = this.#builder(problem, false, input)
    const conflicts: Conflict[] = []
    const fields: Field[] = []
    for (const plan of this.#plansOf(attributes, sent)) {
      const conflict = this.#conflict(builder, plan, current, input, sent[plan.property.name], before)
      if (conflict === undefined) {
        fields.push(
          this.#field(builder, plan, attributes, plan.property.writeOnly ? sent[plan.property.name] : undefined)
        )
      } else conflicts.push(conflict)
    }
    return {
      conflicts,
      form: {
        ...this.#frame('update', action, edit(singular, id), save, rows),
        hidden: this.#hidden('PUT', id, version, this.digests(attributes)),
        fields,
        errors: this.#errors(builder, problem)
      }
    }
  }

  #conflict (
    builder: FieldBuilder,
    plan: FieldPlan,
    { attributes }: Row,
    input: Input,
    node: FormNode | undefined,
    before: ReadonlyMap<string, string>
  ): Conflict | undefined {
    const { name } = plan.property
    if (node === undefined || !this.#isTold(name)) return undefined
    const theirs = this.reader(name)(attributes)
    const keep = markerOf(node, 'keep')
    const yours = ownMember(input.attributes, name)
    // An attribute that you have left out stays as it is, one that could not be read must not be lost. Where you have
    // chosen before, you may choose anew.
    const differs =
      keep !== undefined || (yours === undefined ? hasIssue(Object.keys(input.errors), name) : !isSame(yours, theirs))
    if (!differs || theirs === PART || !isLegalValue(theirs)) return undefined
    const field = builder.build(plan, this.#resource.singular, { node })
    const {
      show: { whole }
    } = this.#shown.find(name) as Shown
    const show = (value: unknown): Markup => raw(whole(value))
    return {
      label: plan.label,
      yours: yours === undefined ? html`${abbreviate(textsIn(node), MOST_SHOWN)}` : show(yours),
      theirs: show(theirs),
      // Whoever keeps theirs may leave this one blank.
      field: { ...field, label: this.#messages.yours, required: false, optional: false },
      choice: {
        name: `${field.name}[${MARKER}][keep]`,
        id: `${field.id}!keep`,
        keep: keep === 'theirs' || (keep === undefined && before.get(name) === digest(yours)) ? 'theirs' : 'yours'
      }
    }
  }

  /** The builder of an update form that is opened anew. */
  open (): FieldBuilder {
    return this.#builder(undefined, false)
  }

  /** The field of an attribute in it. */
  field (builder: FieldBuilder, plan: FieldPlan, value: unknown): Field {
    return isPartial(plan.property.shape)
      ? builder.keep(plan, this.#resource.singular)
      : builder.build(plan, this.#resource.singular, { value })
  }

  /** One that has a part of a value would lose the rest. */
  #field (builder: FieldBuilder, plan: FieldPlan, attributes: Attributes, node: FormNode | undefined): Field {
    const { name, shape } = plan.property
    const { singular } = this.#resource
    return isPartial(shape)
      ? builder.keep(plan, singular)
      : builder.build(plan, singular, currentIn(node, this.reader(name)(attributes)))
  }

  /** How to read what may go out of an attribute; of an object that has what nobody has declared, that it is a part. */
  reader (name: string): (attributes: Attributes) => unknown {
    const read = this.#isTold(name) ? this.#shown.find(name)?.read : undefined
    if (read === undefined) return () => undefined
    const { open } = this.#resource
    return (attributes) => {
      const value = read(attributes)
      // A form could not send it back.
      if (open && !isLegalValue(value, isOpenName)) return PART
      return typeof value === 'object' && value !== null && !isSame(value, ownMember(attributes, name)) ? PART : value
    }
  }

  #isTold (name: string): boolean {
    return this.#resource.open || this.#told.has(name)
  }

  #frame (kind: Form['kind'], action: string, heading: string, submit: string, rows: readonly NamedRow[]): Form {
    return {
      kind,
      heading,
      warning: undefined,
      action,
      hidden: [],
      fields: [],
      free: this.#resource.open ? this.#freeRows(rows) : undefined,
      errors: [],
      hasRows: this.#hasRows,
      submit
    }
  }

  #freeRows (given: readonly NamedRow[]): FreeRows {
    const { singular } = this.#resource
    const rows = [...given, ...Array.from({ length: FREE_ROWS }, () => ({ name: '', value: '' }))]
    const fieldOf = (index: number, part: keyof NamedRow): HiddenField => ({
      name: `${singular}[${MARKER}][${index}][${part}]`,
      value: (rows[index] as NamedRow)[part]
    })
    return {
      rows: rows.map((_, index) => ({ name: fieldOf(index, 'name'), value: fieldOf(index, 'value') })),
      add: { name: `${singular}[${MARKER}][${MARKER}][add]`, value: '1', label: this.#messages.addAttribute }
    }
  }

  #hidden (method: string, id: Id, version: string | undefined, digests: string | undefined): HiddenField[] {
    return [
      { name: '_method', value: method },
      ...(this.#resource.singleton ? [] : [{ name: 'id', value: String(id) }]),
      ...versionField(version),
      ...(digests === undefined ? [] : [{ name: this.was, value: digests }])
    ]
  }

  #builder (problem: Problem | undefined, isNew: boolean, input?: Input): FieldBuilder {
    const others = input?.node === undefined ? FIELDS_OF_ONE * this.plans.length : countTexts(input.node as FormNode)
    return new FieldBuilder(
      this.#messages,
      this.#translate,
      problem?.errors ?? {},
      isNew,
      MAX_FIELDS - others - FIELDS_OF_ONE * 2
    )
  }

  #errors (builder: FieldBuilder, problem: Problem | undefined): readonly FormError[] {
    if (problem === undefined) return []
    return problem.errors === undefined
      ? [{ text: this.#translate(problem.detail), href: undefined }]
      : builder.closeErrors()
  }

  /** What was sent for each attribute. Without a schema, a name that none can have stays in a row, to be changed. */
  #read (input: Input | undefined): { readonly sent: Sent; readonly rows: readonly NamedRow[] } {
    if (input?.node === undefined) return { sent: NOTHING, rows: [] }
    const node = input.node as FormNode
    if (!this.#resource.open) return { sent: membersOf(node), rows: [] }
    const sent: Record<string, FormNode> = Object.create(null)
    const rows: NamedRow[] = []
    const direct = [...node.children].filter(([name]) => name !== MARKER).map(([name, value]) => ({ name, value }))
    for (const { name, value } of [...direct, ...namedRowsOf(node)]) {
      if (isOpenName(name) && name !== 'id' && sent[name] === undefined) sent[name] = value
      else rows.push({ name, value: textsIn(value) })
    }
    return { sent, rows }
  }

  /** The declared ones; without a schema those that are there, as far as a form can name them, or were sent. */
  #plansOf (...named: ReadonlyArray<Readonly<Record<string, unknown>>>): readonly FieldPlan[] {
    if (!this.#resource.open) return this.plans
    return [...new Set(named.flatMap((members) => Object.keys(members)))].filter(isOpenName).map(openPlan)
  }

  /** What each attribute was when the form was made: later it tells who has changed it. No name has a space in it. */
  digests (values: Attributes): string {
    let text = ''
    for (const { name, read } of this.#resource.open
      ? this.#readersOf(Object.keys(values).filter(isOpenName))
      : this.#readers) {
      const value = read(values)
      if (value !== PART) text += `${text === '' ? '' : ' '}${name} ${digest(value)}`
    }
    return text
  }

  #readersOf (names: readonly string[]): FieldReader[] {
    return names.map((name) => ({ name, read: this.reader(name) }))
  }

  /** Whether a form comes from a page on which there was something to choose. */
  hasChoices (input: Input): boolean {
    return Object.values(this.#read(input).sent).some((node) => markerOf(node, 'keep') !== undefined)
  }
}

/** The version that a form means; a row that an app's own handler has made may have none. */
export function versionField (version: string | undefined): HiddenField[] {
  return version === undefined || version === '' ? [] : [{ name: '_version', value: version }]
}

function openPlan (name: string): FieldPlan {
  const plan = compileFieldPlan({
    name,
    shape: openShape,
    schema: {},
    required: true,
    readOnly: false,
    writeOnly: false
  })
  return { ...plan, label: name }
}

function parseDigests (text = ''): ReadonlyMap<string, string> {
  const words = text.split(' ')
  return new Map(
    words.flatMap((word, index): Array<[string, string]> =>
      index % 2 === 1 ? [[words[index - 1] as string, word]] : []
    )
  )
}

/** What was sent for a field, else the value there is. */
function currentIn (node: FormNode | undefined, value: unknown): Current {
  return node === undefined ? { value } : { node }
}

/** How many fields were sent. */
function countTexts ({ texts, children }: FormNode): number {
  let count = texts.length
  for (const child of children.values()) count += countTexts(child)
  return count
}

/** What a form had in a field, for reading. */
function textsIn ({ texts, children }: FormNode): string {
  const parts = [...children].filter(([step]) => step !== MARKER).map(([, child]) => textsIn(child))
  return [...texts, ...parts].filter((text) => text !== '').join(', ')
}
