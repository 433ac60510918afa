import { randomUUID } from 'node:crypto'
import type { Chosen } from '../../core/actions/outcome.js'
import type { SaidMessages, SaidProblem } from '../../core/errors.js'
import type { Resource } from '../../core/resource/resource.js'
import type { Id, Row } from '../../core/resource/row.js'
import { isOpenName } from '../../core/schema/legal-text.js'
import type { Attributes } from '../../core/schema/types.js'
import { lazy } from '../../core/util/functions.js'
import { ownMember } from '../../core/util/own-property.js'
import { ANOTHER, type FormNode, KEY, MARKER, markerOf, MAX_FIELDS } from '../../core/formats/form/parse.js'
import type { Input, WriterContext } from '../../core/formats/format.js'
import type { HtmlView } from '../content.js'
import type { PageMessages, Translate } from '../messages.js'
import { encodeIdPart } from '../names.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type {
  AttributeChange, Button, Conflict, Field, Form, FormError, FreeRows, HiddenField, StalePage
} from '../views/model.js'
import { findConflict, REMOVALS, YOURS } from './conflicts.js'
import { countTexts, currentIn, NOTHING, readSent, type SentForm } from './controls.js'
import { FieldBuilder } from './field-builder.js'
import { FieldErrors } from './field-errors.js'
import { FieldFrames, keepsIfBlank } from './field-frame.js'
import { compileFieldPlan, compileOpenPlan, type FieldMode, FIELDS_PER_VALUE, type FieldPlan } from './field-plan.js'
import { FormValues, makeHidden, type FormTarget } from './form-values.js'

/** The dependencies of `Forms`. */
export interface FormSource {
  readonly resource: Resource
  readonly context: Pick<WriterContext, 'references' | 'unique' | 'transitions' | 'softDelete' | 'hasKeys'>
  readonly messages: PageMessages
  readonly translate: Translate
}

/** The members of a view that the fields of a form depend on. */
type FormView = Pick<HtmlView, 'input' | 'choices'>

/** The members of a view that the form for a new row depends on. */
type NewView = FormView & Pick<HtmlView, 'prefilled'>

/** The view of a form that was sent. */
type SentView = FormView & { readonly input: Input }

interface FormParts {
  readonly sent: SentForm | undefined
  /** Whether fields have buttons of their own. */
  readonly hasButtons: boolean
}

/** The most fields of the form that adds a row to those of another row: one line on a wide screen. */
const MOST_ADDED = 6
/** The ways in which their values are edited. */
const ADDED_MODES: ReadonlySet<FieldMode> = new Set<FieldMode>(['line', 'text', 'choice', 'moment'])

/** Makes the forms of a resource, from stored rows and from forms that were sent. */
export class Forms {
  readonly #resource: Resource
  readonly #messages: PageMessages
  readonly #translate: Translate
  /** The plans of the attributes that are not `readOnly`. */
  readonly #plans: readonly FieldPlan[]
  readonly #values: FormValues
  readonly #shown: ShownAttributes
  readonly #hasRows: boolean
  readonly #hasKeys: boolean
  readonly #another: Button | undefined
  readonly #newFrames: FieldFrames
  readonly #frames: FieldFrames
  /** The words that are the same for every row. */
  readonly #words: () => Readonly<Record<'new' | 'create' | 'delete', string>>
  /** The attributes that have ids of other resources. */
  readonly #references: Pick<ReadonlySet<string>, 'has'>
  readonly #transitions: WriterContext['transitions']
  readonly #isPermanent: boolean

  constructor ({ resource, context, messages, translate }: FormSource, shown: ShownAttributes) {
    this.#resource = resource
    this.#messages = messages
    this.#translate = translate
    this.#plans = [...resource.attributes.values()].filter(({ readOnly }) => !readOnly)
      .map((property) => compileFieldPlan(property, context.unique.has(property.name)))
    this.#references = context.references
    this.#transitions = context.transitions
    this.#isPermanent = context.softDelete !== 'live'
    this.#hasKeys = context.hasKeys
    this.#values = new FormValues(resource, shown)
    this.#shown = shown
    this.#hasRows = resource.open || this.#plans.some(({ hasRows }) => hasRows)
    const { actions, singleton } = resource
    const canAddMore = !singleton && (actions.has('new') || actions.has('list'))
    this.#another = canAddMore ? { ...ANOTHER, label: messages.another } : undefined
    const { new: heading, create, delete: end, singular } = messages
    this.#words = lazy(() => ({ new: heading(singular), create: create(singular), delete: end(singular) }))
    this.#newFrames = new FieldFrames(messages, resource.singular, true)
    this.#frames = new FieldFrames(messages, resource.singular, false)
  }

  /**
   * Makes the form for a new row.
   * @param action the path that the form is posted to
   */
  create (action: string, view: NewView, problem?: SaidProblem): Form {
    const { input, prefilled } = view
    const { new: heading, create: submit } = this.#words()
    const sent = readSent(input, this.#resource.open)
    const builder = this.#builder(this.#newFrames, view, problem)
    const fields = this.#plansOf(sent.nodes).map((plan) =>
      buildNew(builder, this.#offer(plan, [undefined]), sent.nodes, prefilled))
    const form = this.#form('create', action, { heading, submit, sent, hasButtons: builder.hasChooseButton })
    const key = this.#hasKeys ? [{ name: KEY, value: input?.key ?? randomUUID() }] : []
    const hidden = [...key, ...makeAgain(this.#resource.singular, this.#references, view)]
    return { ...form, hidden, fields, errors: this.#errors(builder, problem) }
  }

  /** Returns whether rows are small enough for the form that adds one, besides the reference to the row of a page. */
  isSmall (reference: string): boolean {
    const plans = this.#plansWithout(reference)
    return !this.#resource.open && plans.length > 0 && plans.length <= MOST_ADDED &&
      plans.every(({ mode }) => ADDED_MODES.has(mode))
  }

  /** Makes the form that adds a row to those of another row, which it leads back to. */
  add (action: string, view: NewView, reference: string): Form {
    const { prefilled } = view
    const { singular, path } = this.#resource
    const frames = new FieldFrames(this.#messages, singular, true, `!${encodeIdPart(path + reference)}`)
    const builder = this.#builder(frames, view)
    const fields = this.#plansWithout(reference)
      .map((plan) => buildNew(builder, { ...this.#offer(plan, [undefined]), isCell: true }, {}, prefilled))
    const hidden = Object.entries(prefilled).map(([name, value]) =>
      ({ name: `${singular}[${name}]`, value: String(value) }))
    const whole = this.create(action, view)
    const [plan, ...more] = this.#plansWithout(reference)
    const isJoin = plan !== undefined && more.length === 0 && this.#references.has(plan.property.name)
    const submit = isJoin ? this.#messages.addTo(plan.label) : whole.submit
    const back = { name: `${singular}[${MARKER}][back]`, value: reference }
    return { ...whole, kind: 'add', hidden: [...whole.hidden, ...hidden, back], fields, submit, another: undefined }
  }

  /** Makes the form that creates a row anew, with what was sent for one that exists no more. */
  createAgain (action: string, view: HtmlView): Form {
    const { createAgain: submit, goneAdvice: text } = this.#messages
    const again = { ...view, prefilled: readKey(this.#resource, view.input?.id) }
    const form = this.create(action, again)
    return { ...form, submit, another: undefined, errors: [{ text, href: undefined }] }
  }

  /**
   * Makes the form that creates another row, with what was sent by a form that has created one already.
   * @param href the path of that row, if it has a page
   */
  createAnother (action: string, view: SentView & HtmlView, href: string | undefined): Form {
    const { saveAnother: submit, savedAlready: text } = this.#messages
    const form = this.create(action, { ...view, input: { ...view.input, key: undefined } })
    return { ...form, submit, another: undefined, errors: [{ text, href }] }
  }

  /** Makes the form of a row as it is stored. */
  edit (target: FormTarget, { attributes }: Row, { choices }: HtmlView): Form {
    const builder = this.#builder(this.#frames, { input: undefined, choices })
    const fields = this.#plansOf(attributes).map((plan) => this.#field(builder, plan, attributes, undefined))
    const digests = this.#values.digests(attributes)
    const hasButtons = builder.hasChooseButton
    return this.#updateForm(target, { sent: undefined, digests, fields, errors: [], hasButtons })
  }

  /**
   * Makes the form of a row as it was sent.
   * @param row `undefined` if it is not known: then attributes that were not sent stay as they are
   */
  update (target: FormTarget, row: Row | undefined, view: HtmlView, problem?: SaidProblem): Form {
    const { input } = view
    const sent = readSent(input, this.#resource.open)
    const { nodes } = sent
    const values = row?.attributes ?? {}
    const builder = this.#builder(this.#frames, view, problem)
    const fields = this.#plansOf(values, nodes).map((plan) => {
      const sent = this.#sentFor(plan, nodes)
      // The user chose to keep what somebody else has changed, so the form edits that.
      const node = sent !== undefined && markerOf(sent, 'keep') === 'theirs' ? undefined : sent
      return node === undefined && row === undefined ? builder.keep(plan) : this.#field(builder, plan, values, node)
    })
    const digests = input === undefined ? this.#values.digests(values) : markerOf(input.node as FormNode, 'was')
    const errors = this.#errors(builder, problem)
    const hasButtons = builder.hasChooseButton
    return this.#updateForm(target, { sent, digests, fields, errors, hasButtons })
  }

  /**
   * Makes the fields that change several rows. Each has a choice beside it, which leaves the attribute at first.
   * @param errors the messages about what was sent
   */
  changes (view: HtmlView, { rows, node, attributes }: Chosen, errors: SaidMessages): {
    readonly changes: readonly AttributeChange[], readonly errors: readonly FormError[], readonly hasRows: boolean
  } {
    const input = node === undefined
      ? undefined
      : { id: undefined, version: undefined, row: undefined, node, attributes, errors: {} }
    // The page with many rows to choose from is that of a form for one row.
    const many = [...view.choices].filter(([, { rows }]) => rows === undefined).map(([path]) => path)
    const builder = this.#builder(this.#frames, { ...view, input }, { ...NO_PROBLEM, errors })
    const { nodes } = readSent(input, this.#resource.open)
    const plans = this.#plans.filter((plan) => {
      const { property: { name }, isPartial, mode } = plan
      const canChoose = !many.some((path) => path === name || path.startsWith(`${name}.`))
      return canChoose && !this.#isFixed(plan) && !isPartial && mode !== 'file'
    })
    const stored = rows.flatMap(({ row }) => row === undefined ? [] : [row.attributes])
    const changes = plans.map((plan) =>
      makeChange(builder, this.#offer(plan, stored), nodes[plan.property.name]))
    return { changes, errors: builder.closeErrors(), hasRows: plans.some(({ hasRows }) => hasRows) }
  }

  /**
   * Makes the form that deletes a row.
   * @param cascade the text about the rows of other resources that the deletion concerns
   */
  delete (target: FormTarget, cascade?: string): Form {
    const { deleteWarning, deleteConfirm } = this.#messages
    return {
      kind: 'delete',
      heading: this.#words().delete,
      warning: this.#isPermanent ? deleteWarning(target.name.alone) : undefined,
      cascade,
      action: target.action,
      hidden: makeHidden(this.#resource, 'DELETE', target, undefined),
      fields: [],
      free: undefined,
      errors: [],
      hasRows: false,
      submit: deleteConfirm,
      another: undefined,
      cancel: undefined
    }
  }

  /** Makes a choice for each attribute that somebody else has changed, and a form with the others as they were sent. */
  resolve (
    target: FormTarget,
    current: Row,
    view: SentView,
    problem?: SaidProblem
  ): Pick<StalePage, 'conflicts' | 'unchanged'> & { readonly form: Form } {
    const { attributes } = current
    const { input } = view
    const sent = readSent(input, this.#resource.open)
    const { nodes } = sent
    const builder = this.#builder(this.#frames, view, problem)
    const source = { values: this.#values, shown: this.#shown, messages: this.#messages }
    const conflicts: Conflict[] = []
    const fields: Field[] = []
    const unchanged: Field[] = []
    for (const plan of this.#plansOf(attributes, nodes)) {
      const node = this.#sentFor(plan, nodes)
      const found = node && findConflict(source, builder, { plan, node }, { input, attributes })
      const isTyped = found === YOURS || keepsIfBlank(plan)
      if (found !== undefined && found !== YOURS) {
        conflicts.push(found)
        continue
      }
      const field = this.#field(builder, plan, attributes, isTyped ? node : undefined)
      fields.push(field)
      // A value that is never shown is changed if it was typed, or is to be removed.
      const isSecret = field.hint === this.#messages.typeAgain || field.removal?.checked === true
      if (found !== YOURS && !isSecret) unchanged.push(field)
    }
    const digests = this.#values.digests(attributes)
    const errors = this.#errors(builder, problem)
    const made = { sent, digests, fields, errors, hasButtons: builder.hasChooseButton }
    return { conflicts, unchanged, form: this.#updateForm(target, made) }
  }

  /**
   * Makes the field of an attribute. A field with a part of a value would lose the rest, so the value stays as it is.
   */
  #field (builder: FieldBuilder, plan: FieldPlan, attributes: Attributes, node: FormNode | undefined): Field {
    if (plan.isPartial) return builder.keep(plan)
    const value = this.#values.read(plan.property.name, attributes)
    if (this.#isFixed(plan)) return builder.fix(plan, value)
    return builder.build(this.#offer(plan, [attributes]), currentIn(node, value))
  }

  /** Returns the plan of a field that offers only what may follow the stored value of each of these rows. */
  #offer (plan: FieldPlan, rows: ReadonlyArray<Attributes | undefined>): FieldPlan {
    const { property, property: { name, shape, shape: { choices } } } = plan
    const nextOf = this.#transitions.get(name)
    if (nextOf === undefined || choices === undefined || rows.every((row) => nextOf(row) === undefined)) return plan
    const offered = choices.filter((choice) => rows.every((row) =>
      nextOf(row)?.includes(choice) !== false || (row !== undefined && ownMember(row, name) === choice)))
    // Nothing may follow that is blank.
    const types = new Set([...shape.types].filter((type) => type !== 'null'))
    return { ...plan, property: { ...property, required: true, shape: { ...shape, types, choices: offered } } }
  }

  /** Returns whether no update changes the attribute, because the id contains it. */
  #isFixed ({ property: { name } }: FieldPlan): boolean {
    return this.#resource.key.includes(name)
  }

  /** Returns what a form has sent for an attribute that an update may change. */
  #sentFor (plan: FieldPlan, nodes: Readonly<Record<string, FormNode>>): FormNode | undefined {
    return this.#isFixed(plan) ? undefined : nodes[plan.property.name]
  }

  #plansWithout (reference: string): readonly FieldPlan[] {
    return this.#plans.filter(({ property: { name } }) => name !== reference)
  }

  #form (
    kind: Form['kind'],
    action: string,
    { heading, submit, sent, hasButtons }: Pick<Form, 'heading' | 'submit'> & FormParts
  ): Form {
    return {
      kind,
      heading,
      warning: undefined,
      action,
      hidden: [],
      fields: [],
      free: this.#resource.open ? makeFreeRows(this.#resource.singular, this.#messages, sent) : undefined,
      errors: [],
      hasRows: this.#hasRows || hasButtons,
      hasFiles: this.#plans.some(({ mode }) => mode === 'file'),
      submit,
      another: kind === 'create' ? this.#another : undefined,
      cancel: undefined
    }
  }

  #updateForm (
    target: FormTarget,
    { sent, digests, fields, errors, hasButtons }: Pick<Form, 'fields' | 'errors'> & FormParts & {
      readonly digests: string | undefined
    }
  ): Form {
    const { edit, save: submit } = this.#messages
    const heading = edit(target.name.within)
    const form = this.#form('update', target.action, { heading, submit, sent, hasButtons })
    return { ...form, hidden: makeHidden(this.#resource, 'PUT', target, digests), fields, errors }
  }

  #builder (frames: FieldFrames, { input, choices }: FormView, problem?: SaidProblem): FieldBuilder {
    const others = input?.node === undefined
      ? FIELDS_PER_VALUE * this.#plans.length
      : countTexts(input.node as FormNode)
    const errors = new FieldErrors(
      { messages: this.#messages, translate: this.#translate, group: this.#resource.singular }, problem?.errors, input
    )
    return new FieldBuilder(frames, errors, choices, MAX_FIELDS - others - FIELDS_PER_VALUE * 2)
  }

  #errors (builder: FieldBuilder, problem: SaidProblem | undefined): readonly FormError[] {
    if (problem === undefined) return []
    return problem.errors === undefined
      ? [{ text: this.#translate(problem.detail), href: undefined }]
      : builder.closeErrors()
  }

  /**
   * Returns the plans of the declared attributes. Without a schema, it returns those of the given names that a form can
   * use.
   */
  #plansOf (...named: ReadonlyArray<Readonly<Record<string, unknown>>>): readonly FieldPlan[] {
    if (!this.#resource.open) return this.#plans
    return [...new Set(named.flatMap((members) => Object.keys(members)))].filter(isOpenName).map(compileOpenPlan)
  }

  /** Returns whether a form comes from a page with conflicts. */
  hasChoices (input: Input): boolean {
    const { nodes } = readSent(input, this.#resource.open)
    return Object.values(nodes).some((node) => markerOf(node, 'keep') !== undefined)
  }
}

/**
 * Returns the hidden fields that name references. The next form begins with those with which the form for a new row
 * begins, after "Save and add another". The form may lead back to the row of another one.
 * @param references the attributes that have ids of other resources
 */
function makeAgain (
  singular: string,
  references: Pick<ReadonlySet<string>, 'has'>,
  { input, prefilled }: NewView
): readonly HiddenField[] {
  const sent = input?.node as FormNode | undefined
  const names = sent === undefined
    ? Object.keys(prefilled).filter((name) => references.has(name)).join(' ')
    : markerOf(sent, 'again')
  return Object.entries({ again: names, back: sent && markerOf(sent, 'back') }).flatMap(([part, value = '']) =>
    value === '' ? [] : [{ name: `${singular}[${MARKER}][${part}]`, value }])
}

/** Builds a field of the form for a new row: with what was sent, or else with the value that the form begins with. */
function buildNew (
  builder: FieldBuilder,
  plan: FieldPlan,
  nodes: Readonly<Record<string, FormNode>>,
  prefilled: Attributes
): Field {
  const { name, schema } = plan.property
  const value = Object.hasOwn(prefilled, name) ? prefilled[name] : schema.default
  const field = builder.build(plan, currentIn(nodes[name], value))
  // A copy leaves out what a form cannot send.
  return field.control === 'kept' ? builder.build(plan, { value: undefined }) : field
}

/**
 * Returns the key of a row, which its form has no field for. An id is the value of a key of one attribute, unless it
 * is escaped.
 */
function readKey ({ key: [name, ...more] }: Resource, id: Id | undefined): Attributes {
  return name !== undefined && more.length === 0 && !String(id).startsWith('%') ? { [name]: id } : {}
}

const NO_PROBLEM = { type: 'about:blank', title: '', status: 422, detail: '' } as const

/** Makes the field that changes an attribute of several rows. If it is blank, it empties the attribute. */
function makeChange (builder: FieldBuilder, plan: FieldPlan, node: FormNode | undefined): AttributeChange {
  const value = plan.property.shape.types.has('null') ? null : undefined
  const field = builder.build(plan, node === undefined ? { value } : { node })
  const { name, id, label, hidden } = field
  const mark = `${name}[${MARKER}]`
  return {
    label,
    field: {
      ...field,
      required: false,
      optional: false,
      hidden: hidden.map((it) => it.name === mark ? { ...it, value: REMOVALS.get(it.value) ?? it.value } : it)
    },
    choice: {
      name: `${mark}[keep]`,
      id: `${id}!keep`,
      keep: node !== undefined && markerOf(node, 'keep') === 'yours' ? 'yours' : 'theirs'
    }
  }
}

/** The number of blank rows for further attributes, which have no schema. */
const FREE_ROWS = 3

/** Makes the rows for attributes without a schema. Those that were sent with an unusable name come first. */
function makeFreeRows (
  singular: string,
  { addAttribute }: PageMessages,
  { rows: given, isRowAdded }: SentForm = NOTHING
): FreeRows {
  const prefix = `${singular}[${MARKER}]`
  const rows = [...given, ...Array.from({ length: FREE_ROWS }, () => ({ name: '', value: '' }))]
  return {
    rows: rows.map(({ name, value }, index) => ({
      name: { name: `${prefix}[${index}][name]`, value: name },
      value: { name: `${prefix}[${index}][value]`, value }
    })),
    focus: isRowAdded ? given.length : undefined,
    add: { name: `${prefix}[${MARKER}][add]`, value: '1', label: addAttribute }
  }
}
