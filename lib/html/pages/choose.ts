import type { Property, Shape } from '../../core/schema/shape.js'
import { filesOf } from '../../core/formats/files.js'
import { choiceParameter, CONDITION_FIELDS } from '../../core/formats/form/condition.js'
import { ASKING, type FormNode, isRow, MARKER, markerOf } from '../../core/formats/form/parse.js'
import type { Input, NameChoiceField, OpenCondition } from '../../core/formats/format.js'
import type { AttributeSearch, HtmlListView, HtmlView } from '../content.js'
import { makeHidden } from '../forms/form-values.js'
import { raw } from '../html-tag.js'
import { labelOf } from '../names.js'
import type { Button, HiddenField } from '../views/model.js'
import { findReferencing, type Resource } from '../../core/resource/resource.js'
import { linkTo } from './links.js'
import type { PageFrames, PageSource } from './page-frame.js'

/** The view of a form that asks for the rows of a reference. */
export type ChoiceView = HtmlView & { readonly rowSearch: AttributeSearch, readonly input: Input }

/** Writes the rows that an attribute of a form can reference. The form that was sent is kept in hidden fields. */
export function writeChoice (source: PageSource, frames: PageFrames, view: ChoiceView): string {
  const { resource, messages } = source
  const { rowSearch: { attribute, path = [attribute], write }, input: { node, id = '' } } = view
  const property = findReferencing(attribute, resource) as Property
  const isNeeded = property.required && !property.shape.types.has('null')
  const paths = frames.pathsOf(view)
  const field = resource.singular + path.map((step) => `[${step}]`).join('')
  const nameOf: NameChoiceField = (part) => `${field}[${MARKER}][${part}]`
  const button = (value: string, label: string): Button => ({ name: nameOf('chosen'), value, label })
  // The form stands on the page of a record, and only asks which other record to connect with it.
  const isJoining = view.action === 'create' && markerOf(node as FormNode, 'back') !== undefined &&
    resource.attributes.size === 2 && source.context.manyActions.has('create')
  const name = `${resource.singular}[${attribute}][]`
  const chosen = new Set(isJoining ? ticksOf(node as FormNode, attribute) : [])
  const choices = raw(write(nameOf, isJoining ? { name, chosen } : undefined))
  const others = [...chosen].map((value) => ({ name, value }))
  return frames.render({
    ...frames.frame(messages.chooseOne(labelOf(property)), { view, paths }),
    kind: 'choose',
    method: 'post',
    action: view.action === 'create' ? paths.collection : frames.actionOf(paths, frames.pathOf(paths, id)),
    hidden: [
      ...hiddenOf(source, view),
      ...flattenForm(resource, node as FormNode).filter((field) => !isJoining || field.name !== name),
      ...others
    ],
    hasFiles: filesOf(resource).length > 0,
    choices,
    add: isJoining
      ? {
          name: `${resource.singular}[${MARKER}][each]`,
          value: attribute,
          // The page does not show the rows that are chosen on other pages.
          label: `${messages.addChosen}${others.length === 0 ? '' : ` (+${others.length})`}`
        }
      : undefined,
    none: isNeeded ? undefined : button('', messages.none),
    back: button(currentOf(node as FormNode, path), messages.back)
  })
}

/** The view of a list that asks for the rows of a reference, to filter it by one of them. */
export type FilterChoiceView =
  HtmlListView & { readonly rowSearch: AttributeSearch, readonly openCondition: OpenCondition }

/** Writes the rows that a list can be filtered by. Its query is kept in hidden fields. */
export function writeFilterChoice (source: PageSource, frames: PageFrames, view: FilterChoiceView): string {
  const { resource, messages } = source
  const { rowSearch: { attribute, write }, parameters, openCondition: { parameter } } = view
  const paths = frames.pathsOf(view)
  const { by, value } = CONDITION_FIELDS
  return frames.render({
    ...frames.frame(messages.chooseOne(labelOf(findReferencing(attribute, resource) as Property)), { view, paths }),
    kind: 'choose',
    method: 'get',
    action: view.path,
    hidden: [...Object.entries({ ...parameters, [by]: parameter })].map(([name, value]) => ({ name, value })),
    add: undefined,
    choices: raw(write((field) => field === 'chosen' ? value : choiceParameter(field))),
    none: undefined,
    back: { label: messages.back, href: linkTo(view, {}) }
  })
}

/** Returns the fields beside the attributes: those of a form for a stored row. */
function hiddenOf ({ resource }: PageSource, { action, input: { id = '', version } }: ChoiceView): HiddenField[] {
  if (action === 'create') return []
  return makeHidden(resource, 'PUT', { id, version }, undefined)
}

/** Returns the id that the form has in a field. */
function currentOf (group: FormNode, path: readonly string[]): string {
  return path.reduce<FormNode | undefined>((node, step) => node?.children.get(step), group)?.texts.at(-1) ?? ''
}

/** Returns the values of the boxes that a page of the choice had ticked. */
function ticksOf ({ children }: FormNode, attribute: string): readonly string[] {
  return children.get(attribute)?.children.get('')?.texts ?? []
}

/** A field of a form. */
interface FlatField {
  readonly name: string
  readonly value: string
}

/** The parts of a marker that ask for something once. */
const ONCE: ReadonlySet<string> = new Set([...ASKING, 'add', 'remove', 'added', 'removed', 'focus'])

/**
 * Returns the fields of a form that was sent, so that another form can send them again. A text that is never shown is
 * left out, and a marker says so.
 */
function flattenForm ({ singular, attributes }: Resource, group: FormNode): FlatField[] {
  const fields: FlatField[] = []
  addFields(fields, singular, group, (step) => attributes.get(step))
  return fields
}

type FindProperty = (step: string) => Property | Shape | undefined

function addFields (fields: FlatField[], name: string, { texts, children }: FormNode, find: FindProperty): void {
  for (const value of texts) fields.push({ name, value })
  for (const [step, child] of children) {
    const inside = `${name}[${step}]`
    if (step === MARKER) {
      addMarks(fields, inside, child)
      continue
    }
    const found = find(step)
    if (found !== undefined && 'writeOnly' in found && found.writeOnly) addHidden(fields, inside, child)
    else addFields(fields, inside, child, findIn(found))
  }
}

/** Returns the function that finds the members of an object, or the items of an array. */
function findIn (found: Property | Shape | undefined): FindProperty {
  const shape = found !== undefined && 'shape' in found ? found.shape : found
  return (step) => shape?.properties.get(step) ?? (isRow(step) ? shape?.items : undefined)
}

function addMarks (fields: FlatField[], name: string, { texts, children }: FormNode): void {
  for (const value of texts) fields.push({ name, value })
  for (const [part, child] of children) {
    if (!ONCE.has(part)) addFields(fields, `${name}[${part}]`, child, () => undefined)
  }
}

/** Adds the marker of a field, and whether it has a text, but not the text. */
function addHidden (fields: FlatField[], name: string, { texts, children }: FormNode): void {
  const mark = children.get(MARKER)
  if (mark !== undefined) addMarks(fields, `${name}[${MARKER}]`, mark)
  if (texts.some((text) => text !== '')) fields.push({ name: `${name}[${MARKER}][typed]`, value: '1' })
}
