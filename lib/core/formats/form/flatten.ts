import type { Resource } from '../../resource/resource.js'
import type { Property, Shape } from '../../schema/shape.js'
import { type FormNode, isRow, MARKER } from './parse.js'

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
export function flattenForm ({ singular, attributes }: Resource, group: FormNode): FlatField[] {
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
