import type { Problem } from '../../../errors.js'
import type { Resource } from '../../../resource/resource.js'
import type { Id, Row } from '../../../resource/row.js'
import { isLegalValue, isOpenName } from '../../../schema/legal-text.js'
import { openShape } from '../../../schema/shape.js'
import type { Attributes } from '../../../schema/types.js'
import { hasIssue } from '../../../schema/validation/issues.js'
import { lazy } from '../../../util/lazy.js'
import { ownMember } from '../../../util/own-property.js'
import { abbreviate } from '../../../util/truncate.js'
import { MARKER, markerOf } from '../../form/markers.js'
import { type FormNode, MAX_FIELDS } from '../../form/parse.js'
import type { Input } from '../../format.js'
import { html, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { Translate } from '../translate.js'
import { MOST_SHOWN } from '../values/beginning.js'
import type { Shown, ShownAttributes } from '../values/shown-attributes.js'
import type { Conflict, Field, Form, FormError, FreeRows, HiddenField } from '../views/model.js'
import { digest, isSame } from './change-digest.js'
import { currentIn, PART } from './current.js'
import { FieldBuilder } from './field-builder.js'
import { FieldFrames } from './field-frame.js'
import { compileFieldPlan, FIELDS_OF_ONE, type FieldPlan } from './field-plan.js'
import { countTexts, type NamedRow, readSent, textsIn } from './sent.js'
import { parseDigests, ToldValues } from './told-values.js'

/** Rows in which an attribute without a schema is named and given a value. */
const FREE_ROWS = 3

/** The row that a form is for. */
export interface FormTarget {
  /** Where the form is sent. */
  readonly action: string
  readonly id: Id
  readonly version: string | undefined
}

/** The forms of a resource: what each has, from what there is and from what was sent. */
export class Forms {
  readonly #resource: Resource
  readonly #shown: ShownAttributes
  readonly #messages: PageMessages
  readonly #translate: Translate
  /** Of the attributes that are not only read. */
  readonly #plans: readonly FieldPlan[]
  readonly #told: ToldValues
  readonly #hasRows: boolean
  readonly #newFrames: FieldFrames
  readonly #frames: FieldFrames
  /** What no row changes: the words of the forms for a new row, and for a row's end. */
  readonly #words: () => Readonly<Record<'new' | 'create' | 'delete', string>>
  /** Of a form for a new row that nobody has filled in. */
  #newFields: readonly Field[] | undefined

  constructor (resource: Resource, shown: ShownAttributes, messages: PageMessages, translate: Translate) {
    this.#resource = resource
    this.#shown = shown
    this.#messages = messages
    this.#translate = translate
    this.#plans = [...resource.attributes.values()].filter(({ readOnly }) => !readOnly).map(compileFieldPlan)
    this.#told = new ToldValues(resource, shown)
    this.#hasRows = resource.open || this.#plans.some(({ hasRows }) => hasRows)
    const { new: heading, create, delete: end, singular } = messages
    this.#words = lazy(() => ({ new: heading(singular), create: create(singular), delete: end(singular) }))
    this.#newFrames = new FieldFrames(messages, resource.singular, true)
    this.#frames = new FieldFrames(messages, resource.singular, false)
  }

  /** @param action where it is sent */
  create (action: string, input?: Input, problem?: Problem): Form {
    const { new: heading, create: submit } = this.#words()
    const { nodes, rows } = readSent(input, this.#resource.open)
    const form = this.#form('create', action, { heading, submit, rows })
    if (input === undefined && problem === undefined) {
      this.#newFields ??= this.#buildNew(this.#builder(this.#newFrames), nodes).map((field) => Object.freeze(field))
      return Object.assign(form, { fields: this.#newFields })
    }
    const builder = this.#builder(this.#newFrames, input, problem)
    return { ...form, fields: this.#buildNew(builder, nodes), errors: this.#errors(builder, problem) }
  }

  #buildNew (builder: FieldBuilder, nodes: Readonly<Record<string, FormNode>>): Field[] {
    return this.#plansOf(nodes).map((plan) => {
      const { name, schema } = plan.property
      return builder.build(plan, currentIn(nodes[name], schema.default))
    })
  }

  /** @param row undefined where it is not known: then what was not sent stays as it is */
  update (target: FormTarget, row: Row | undefined, input?: Input, problem?: Problem): Form {
    const { nodes, rows } = readSent(input, this.#resource.open)
    const values = row?.attributes ?? {}
    const builder = this.#builder(this.#frames, input, problem)
    const fields = this.#plansOf(values, nodes).map((plan) => {
      const sent = nodes[plan.property.name]
      // The user chose to keep what somebody else has changed, so the form edits that.
      const node = sent !== undefined && markerOf(sent, 'keep') === 'theirs' ? undefined : sent
      return node === undefined && row === undefined ? builder.keep(plan) : this.#field(builder, plan, values, node)
    })
    const digests = input === undefined ? this.#told.digests(values) : markerOf(input.node as FormNode, 'was')
    return this.#updateForm(target, rows, digests, { fields, errors: this.#errors(builder, problem) })
  }

  delete ({ action, id, version }: FormTarget): Form {
    const { deleteWarning, deleteConfirm, singular } = this.#messages
    return {
      kind: 'delete',
      heading: this.#words().delete,
      warning: deleteWarning(singular, id),
      action,
      hidden: this.#hidden('DELETE', id, version, undefined),
      fields: [],
      free: undefined,
      errors: [],
      hasRows: false,
      submit: deleteConfirm
    }
  }

  /** What was sent beside what there is: a choice for each attribute that differs, and a form with the others. */
  resolve (
    action: string,
    current: Row,
    input: Input,
    problem?: Problem
  ): { readonly conflicts: readonly Conflict[], readonly form: Form } {
    const { id, version, attributes } = current
    const { nodes, rows } = readSent(input, this.#resource.open)
    const builder = this.#builder(this.#frames, input, problem)
    const conflicts: Conflict[] = []
    const fields: Field[] = []
    for (const plan of this.#plansOf(attributes, nodes)) {
      const node = nodes[plan.property.name]
      const conflict = node && this.#conflict(builder, plan, node, { input, attributes })
      if (conflict !== undefined) conflicts.push(conflict)
      else fields.push(this.#field(builder, plan, attributes, plan.property.writeOnly ? node : undefined))
    }
    const digests = this.#told.digests(attributes)
    const errors = this.#errors(builder, problem)
    return { conflicts, form: this.#updateForm({ action, id, version }, rows, digests, { fields, errors }) }
  }

  #conflict (
    builder: FieldBuilder,
    plan: FieldPlan,
    node: FormNode,
    { input, attributes }: { readonly input: Input, readonly attributes: Attributes }
  ): Conflict | undefined {
    const { name } = plan.property
    if (!this.#told.has(name)) return undefined
    const theirs = this.#told.read(name, attributes)
    const kept = markerOf(node, 'keep')
    const yours = ownMember(input.attributes, name)
    // An attribute that you have left out stays as it is, one that could not be read must not be lost. Where you have
    // chosen before, you may choose anew.
    const differs =
      kept !== undefined || (yours === undefined ? hasIssue(Object.keys(input.errors), name) : !isSame(yours, theirs))
    if (!differs || theirs === PART || !isLegalValue(theirs)) return undefined
    const field = builder.build(plan, { node })
    const { show } = this.#shown.find(name) as Shown
    const markup = (value: unknown): Markup => raw(show.whole(value))
    const isUnchanged = (): boolean =>
      parseDigests(markerOf(input.node as FormNode, 'was')).get(name) === digest(yours)
    return {
      label: plan.label,
      yours: yours === undefined ? html`${abbreviate(textsIn(node), MOST_SHOWN)}` : markup(yours),
      theirs: markup(theirs),
      // Whoever keeps theirs may leave this one blank.
      field: { ...field, label: this.#messages.yours, required: false, optional: false },
      choice: {
        name: `${field.name}[${MARKER}][keep]`,
        id: `${field.id}!keep`,
        keep: kept === 'theirs' || (kept === undefined && isUnchanged()) ? 'theirs' : 'yours'
      }
    }
  }

  /** One that has a part of a value would lose the rest. */
  #field (builder: FieldBuilder, plan: FieldPlan, attributes: Attributes, node: FormNode | undefined): Field {
    if (plan.isPartial) return builder.keep(plan)
    return builder.build(plan, currentIn(node, this.#told.read(plan.property.name, attributes)))
  }

  #form (
    kind: Form['kind'],
    action: string,
    { heading, submit, rows }: { readonly heading: string, readonly submit: string, readonly rows: readonly NamedRow[] }
  ): Form {
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

  #updateForm (
    { action, id, version }: FormTarget,
    rows: readonly NamedRow[],
    digests: string | undefined,
    content: Pick<Form, 'fields' | 'errors'>
  ): Form {
    const { edit, save, singular } = this.#messages
    const form = this.#form('update', action, { heading: edit(singular, id), submit: save, rows })
    return Object.assign(form, { hidden: this.#hidden('PUT', id, version, digests) }, content)
  }

  #freeRows (given: readonly NamedRow[]): FreeRows {
    const prefix = `${this.#resource.singular}[${MARKER}]`
    const rows = [...given, ...Array.from({ length: FREE_ROWS }, () => ({ name: '', value: '' }))]
    return {
      rows: rows.map(({ name, value }, index) => ({
        name: { name: `${prefix}[${index}][name]`, value: name },
        value: { name: `${prefix}[${index}][value]`, value }
      })),
      add: { name: `${prefix}[${MARKER}][add]`, value: '1', label: this.#messages.addAttribute }
    }
  }

  #hidden (method: string, id: Id, version: string | undefined, digests: string | undefined): HiddenField[] {
    return [
      { name: '_method', value: method },
      ...(this.#resource.singleton ? [] : [{ name: 'id', value: String(id) }]),
      ...versionField(version),
      ...(digests === undefined ? [] : [{ name: `${this.#resource.singular}[${MARKER}][was]`, value: digests }])
    ]
  }

  #builder (frames: FieldFrames, input?: Input, problem?: Problem): FieldBuilder {
    const others = input?.node === undefined ? FIELDS_OF_ONE * this.#plans.length : countTexts(input.node as FormNode)
    return new FieldBuilder(frames, this.#translate, problem?.errors ?? {}, MAX_FIELDS - others - FIELDS_OF_ONE * 2)
  }

  #errors (builder: FieldBuilder, problem: Problem | undefined): readonly FormError[] {
    if (problem === undefined) return []
    return problem.errors === undefined
      ? [{ text: this.#translate(problem.detail), href: undefined }]
      : builder.closeErrors()
  }

  /** The declared ones; without a schema those that are there, as far as a form can name them, or were sent. */
  #plansOf (...named: ReadonlyArray<Readonly<Record<string, unknown>>>): readonly FieldPlan[] {
    if (!this.#resource.open) return this.#plans
    return [...new Set(named.flatMap((members) => Object.keys(members)))].filter(isOpenName).map(openPlan)
  }

  /** Whether a form comes from a page on which there was something to choose. */
  hasChoices (input: Input): boolean {
    const { nodes } = readSent(input, this.#resource.open)
    return Object.values(nodes).some((node) => markerOf(node, 'keep') !== undefined)
  }
}

/** The version that a form means; a row that an app's own handler has made may have none. */
export function versionField (version: string | undefined): HiddenField[] {
  return version === undefined || version === '' ? [] : [{ name: '_version', value: version }]
}

function openPlan (name: string): FieldPlan {
  const property = { name, shape: openShape, schema: {}, required: true, readOnly: false, writeOnly: false }
  return { ...compileFieldPlan(property), label: name }
}
