import type { Property, Shape } from '../../core/schema/shape.js'
import { capitalize } from '../../core/util/words.js'
import { type FormNode, isRow, MARKER } from '../../core/formats/form/parse.js'
import type { Input, RowSearch } from '../../core/formats/format.js'
import type { HtmlView } from '../content.js'
import { makeHidden } from '../forms/form-values.js'
import { labelOf } from '../names.js'
import type { Button, ChoosePage, HiddenField } from '../views/model.js'
import type { Resource } from '../../core/resource/resource.js'
import type { PageFrames, PageSource } from './page-frame.js'

/** The view of a form that asks for the rows of a reference. */
export type ChoiceView = HtmlView & { readonly rowSearch: RowSearch, readonly input: Input }

/** Writes the rows that an attribute of a form can reference. The form that was sent is kept in hidden fields. */
export function writeChoice (source: PageSource, frames: PageFrames, view: ChoiceView): string {
  const { resource, messages } = source
  const { rowSearch: { attribute }, input: { node, id = '' } } = view
  const property = resource.attributes.get(attribute) as Property
  const paths = frames.pathsOf(view)
  return frames.render({
    ...frames.frame(messages.chooseOne(labelOf(property)), { view, paths }),
    ...makeChoice(source, view.rowSearch, property),
    kind: 'choose',
    action: view.action === 'create' ? paths.collection : frames.actionOf(paths, frames.pathOf(paths, id)),
    hidden: [...hiddenOf(source, view), ...flattenForm(resource, node as FormNode)],
    back: { ...button(source, attribute, 'chosen', currentOf(node as FormNode, attribute)), label: messages.back }
  })
}

type Choice = Pick<ChoosePage, 'search' | 'rows' | 'empty' | 'none' | 'next'>

function makeChoice (source: PageSource, found: RowSearch, { name, required, shape }: Property): Choice {
  const { messages, translate, lang } = source
  const { rows, text, error, canSearch, next } = found
  const plural = translate(found.words(lang).plural)
  const search = {
    id: 'search',
    name: nameOf(source, name, 'choose'),
    label: messages.search,
    value: text,
    error: error === undefined ? undefined : capitalize(translate(error)),
    autofocus: true
  }
  return {
    search: canSearch ? search : undefined,
    rows: rows.map(({ id, name: title }, index) => ({
      name: title,
      id: String(id),
      choose: {
        ...button(source, name, 'chosen', String(id)),
        label: title,
        spoken: messages.chooseOne(title),
        autofocus: !canSearch && index === 0
      }
    })),
    empty: text === '' ? messages.empty(plural) : messages.noMatch(plural),
    none: required && !shape.types.has('null')
      ? undefined
      : { ...button(source, name, 'chosen', ''), label: messages.none },
    next: next === undefined ? undefined : { ...button(source, name, 'after', next), label: messages.next }
  }
}

type FlatPart = 'choose' | 'chosen' | 'after'

function nameOf ({ resource: { singular } }: PageSource, attribute: string, part: FlatPart): string {
  return `${singular}[${attribute}][${MARKER}][${part}]`
}

function button (
  source: PageSource,
  attribute: string,
  part: 'chosen' | 'after',
  value: string
): Pick<Button, 'name' | 'value'> {
  return { name: nameOf(source, attribute, part), value }
}

/** Returns the fields beside the attributes: those of a form for a stored row. */
function hiddenOf ({ resource }: PageSource, { action, input: { id = '', version } }: ChoiceView): HiddenField[] {
  if (action === 'create') return []
  return makeHidden(resource, 'PUT', { id, version }, undefined)
}

/** Returns the id that the form has for the attribute. */
function currentOf ({ children }: FormNode, attribute: string): string {
  return children.get(attribute)?.texts.at(-1) ?? ''
}

/** A field of a form. */
interface FlatField {
  readonly name: string
  readonly value: string
}

/** The parts of a marker that ask for something once. */
const ONCE: ReadonlySet<string> = new Set(['add', 'remove', 'added', 'removed', 'choose', 'after', 'chosen', 'focus'])

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
