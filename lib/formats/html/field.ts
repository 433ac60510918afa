import type { Messages } from '../../errors.js'
import { ownMember } from '../../members.js'
import { type Property, type Schema, type Shape, typesOf } from '../../shape.js'
import { MARK } from '../form/read.js'
import type { FormNode } from '../form/tree.js'
import { html, type Markup } from './markup.js'

/** What a field shows: a value, or what a form had supplied for it. */
export type Current = { readonly value: unknown, readonly node?: undefined } | { readonly node: FormNode }

export interface Field {
  /** `post[author][name]` */
  readonly name: string
  /** `author.name`, by which errors are told. */
  readonly path: string
  readonly label: string
  readonly description: string | undefined
  readonly shape: Shape
  /** Whether the schema lets a string be so long that it wants more than a line. */
  readonly long: boolean
  readonly required: boolean
  readonly current: Current
}

export interface FieldView {
  readonly errors: Messages
  /** Whether the page is read by an XML parser, which keeps the newline after a textarea's tag. */
  readonly xhtml: boolean
}

/** A text that may be longer gets a field of several lines. */
const LINE = 200

type Mode = 'line' | 'text' | 'choice' | 'lines' | 'group' | 'json'

/** A control with its label and its messages. Names, blanks and marks are as the reader of forms takes them. */
export function renderField (field: Field, view: FieldView): Markup {
  const mode = findMode(field)
  if (mode === 'group') return renderGroup(field, view)
  const id = field.name.replaceAll(/[[\]]+/g, '_').replace(/_$/, '')
  const messages = messagesOf(field.path, view.errors)
  const described = [...(field.description === undefined ? [] : [`${id}-description`]), ...(messages.length === 0 ? [] : [`${id}-error`])].join(' ')
  const attributes = html`id="${id}" name="${field.name}"${described !== '' && html` aria-describedby="${described}"`}${messages.length > 0 && html` aria-invalid="true"`}`
  return html`<p>
<label for="${id}">${field.label}</label><br/>
${field.description !== undefined && html`<small id="${id}-description">${field.description}</small><br/>\n`}${hintOf(mode)}${messages.length > 0 && html`<strong id="${id}-error">${messages.join('; ')}</strong><br/>\n`}${renderControl(mode, field, attributes, view)}${renderMark(mode, field)}
</p>
`
}

/** The fields of an object's properties. */
export function fieldsOf (properties: Iterable<Property>, parent: { readonly name: string, readonly path?: string }, find: (property: Property) => Current): Field[] {
  return [...properties].filter(({ readOnly }) => !readOnly).map((property) => ({
    name: `${parent.name}[${property.name}]`,
    path: parent.path === undefined ? property.name : `${parent.path}.${property.name}`,
    label: labelOf(property),
    description: textOf(property.schema, 'description'),
    shape: property.shape,
    long: property.shape.only === 'string' && property.shape.format === undefined && !(Number(property.schema.maxLength) <= LINE),
    required: property.required && !property.writeOnly,
    current: find(property)
  }))
}

/** `publishedAt` → `Published at`, unless the schema has a title. */
export function labelOf ({ name, schema }: Pick<Property, 'name' | 'schema'>): string {
  const title = textOf(schema, 'title')
  if (title !== undefined) return title
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/(\p{Ll})(\p{Lu})/gu, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function textOf (schema: Schema, keyword: string): string | undefined {
  const text = schema[keyword]
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** The messages of an attribute and of what is inside it. */
function messagesOf (path: string, errors: Messages): string[] {
  return Object.entries(errors).flatMap(([at, messages]) => {
    if (at === path) return messages
    return at.startsWith(`${path}.`) ? messages.map((message) => `${at.slice(path.length + 1)} ${message}`) : []
  })
}

function findMode ({ shape, long, current }: Field): Mode {
  const mode = long && shape.choices === undefined ? 'text' : modeOf(shape)
  if (current.node !== undefined) return markOf(current.node) === 'json' ? 'json' : mode
  return current.value == null || canShow(mode, current.value, shape) ? withBreaks(mode, current.value) : 'json'
}

function modeOf ({ only, choices, items, properties, rest, types, recursive, mixed }: Shape): Mode {
  if (only === 'boolean') return 'choice'
  if (choices !== undefined) return only !== undefined && isScalar(only) && choices.every((choice) => choice !== '' && !String(choice).includes('\r')) ? 'choice' : 'json'
  if (only === 'string') return 'line'
  if (only === 'integer' || only === 'number') return 'line'
  if (only === 'array') return items.only !== undefined && isScalar(items.only) && !items.types.has('null') ? 'lines' : 'json'
  if (only === 'object' && rest === undefined && properties.size > 0 && !recursive && !mixed) return 'group'
  return types.has('string') ? 'line' : 'json'
}

function isScalar (type: string): boolean {
  return type !== 'array' && type !== 'object'
}

/** Whether the control sends the same value back when nobody touches it. */
function canShow (mode: Mode, value: unknown, { types, choices }: Shape): boolean {
  if (!typesOf(value).some((type) => types.has(type))) return false
  if (types.has('string') && typeof value !== 'string') return false
  if (mode === 'choice') return choices === undefined || choices.includes(value)
  if (mode === 'lines') return (value as unknown[]).every((item) => isScalar(typeof item) && item !== null && isLine(String(item)))
  return typeof value !== 'string' || !value.includes('\r')
}

function isLine (text: string): boolean {
  return text !== '' && !/[\r\n]/.test(text)
}

function withBreaks (mode: Mode, value: unknown): Mode {
  return mode === 'line' && typeof value === 'string' && (value.includes('\n') || value.length > LINE) ? 'text' : mode
}

function markOf (node: FormNode): string | undefined {
  return node.children.get(MARK)?.texts[0]
}

/** What a field left blank means, where that is not the empty text. */
function renderMark (mode: Mode, { name, shape, required, current }: Pick<Field, 'name' | 'shape' | 'required' | 'current'>): Markup {
  const mark = mode === 'json' ? 'json' : current.node === undefined ? blankOf(shape, required, current.value) : markOf(current.node)
  return html`${mark !== undefined && html`<input type="hidden" name="${name}[${MARK}]" value="${mark}"/>`}`
}

/** Of an object that is there nothing is said: its own fields say what they lack. */
function blankOf ({ types }: Shape, required: boolean, value: unknown): string | undefined {
  if (value === undefined && !required) return 'absent'
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  return types.has('null') && value !== '' && !(Array.isArray(value) && value.length === 0) ? 'null' : undefined
}

function hintOf (mode: Mode): Markup | undefined {
  if (mode === 'lines') return html`<small>one a line</small><br/>\n`
  return mode === 'json' ? html`<small>as JSON</small><br/>\n` : undefined
}

function renderControl (mode: Mode, { shape, current }: Field, attributes: Markup, { xhtml }: FieldView): Markup {
  const text = shownText(mode, current)
  if (mode === 'choice') return renderChoice(shape, text, attributes)
  if (mode === 'line' && !text.includes('\n')) {
    const numeric = shape.only === 'integer' ? html` inputmode="numeric"` : shape.only === 'number' ? html` inputmode="decimal"` : ''
    return html`<input type="text" ${attributes}${numeric} size="60" value="${text}"/>`
  }
  // An HTML parser drops a newline right after the tag.
  return html`<textarea ${attributes} rows="${mode === 'text' ? 8 : 4}" cols="60">${!xhtml && text.startsWith('\n') && '\n'}${text}</textarea>`
}

function renderChoice ({ choices, types }: Shape, text: string, attributes: Markup): Markup {
  const known = (choices ?? [true, false]).map(String)
  const options = [...new Set([...(types.has('null') ? [''] : []), ...(known.includes(text) ? [] : [text]), ...known])]
  return html`<select ${attributes}>${options.map((option) => html`<option value="${option}"${option === text && html` selected="selected"`}>${choices === undefined ? WORDS[option] ?? option : option}</option>`)}</select>`
}

const WORDS: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }

function shownText (mode: Mode, current: Current): string {
  if (current.node !== undefined) return current.node.texts.at(-1) ?? leavesOf(current.node).join('\n')
  const { value } = current
  if (value === undefined || (value === null && mode !== 'json')) return ''
  if (mode === 'json') return JSON.stringify(value, null, 2)
  return mode === 'lines' ? (value as unknown[]).join('\n') : String(value)
}

function leavesOf ({ children }: FormNode): string[] {
  return [...children].flatMap(([step, child]) => step === MARK ? [] : [...child.texts, ...leavesOf(child)])
}

function renderGroup (field: Field, view: FieldView): Markup {
  const { current, shape } = field
  const messages = (ownMember(view.errors, field.path) ?? []) as readonly string[]
  const value = (current.node === undefined ? current.value ?? {} : {}) as Readonly<Record<string, unknown>>
  const find = ({ name, writeOnly }: Property): Current => current.node === undefined || writeOnly
    ? { value: writeOnly ? undefined : ownMember(value, name) }
    : { node: current.node.children.get(name) ?? { texts: [''], children: new Map() } }
  return html`<fieldset>
<legend>${field.label}</legend>
${messages.length > 0 && html`<strong>${messages.join('; ')}</strong>\n`}${fieldsOf(shape.properties.values(), field, find).map((inner) => renderField(inner, view))}${renderMark('group', field)}
</fieldset>
`
}
