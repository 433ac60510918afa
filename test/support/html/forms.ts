import type { InjectOptions } from 'fastify'
import assert from 'node:assert/strict'
import { SaxesParser } from 'saxes'

/**
 * A form as a browser treats it: what it shows, accepts and sends. Section numbers refer to the HTML standard as of
 * 2025.
 */
export interface Form {
  readonly id?: string | undefined
  readonly action: string
  readonly method: 'get' | 'post'
  readonly controls: Control[]
}

export interface Control {
  readonly tag: 'input' | 'textarea' | 'select' | 'button'
  readonly type: string
  readonly name: string
  value: string
  checked: boolean
  readonly options: Choice[]
  /** The label of a button. */
  label: string
  /** True if a person has changed the value. Only typed values are checked for their length (§4.10.18.3). */
  isTyped: boolean
  readonly attributes: Readonly<Record<string, string>>
}

export interface Choice {
  readonly value: string
  readonly isSelected: boolean
}

/** An old browser treats an unknown input type as text (§4.10.5). */
export type Browser = 'modern' | 'old'

type Attributes = Readonly<Record<string, string>>

interface Events {
  open: (tag: string, attributes: Attributes) => void
  text: (text: string) => void
  close: (tag: string) => void
}

/** A page, or an answer with a page. */
type Source = string | { readonly body: string, readonly headers: Readonly<Record<string, unknown>> }

export function parseForms (source: Source, browser: Browser = 'modern'): Form[] {
  const page = typeof source === 'string' ? source : source.body
  const isXml = typeof source !== 'string' && String(source.headers['content-type']).startsWith('application/xhtml+xml')
  const forms: Form[] = []
  /** The controls outside of their forms. Each stands before its form. */
  const apart: Control[] = []
  let isInForm = false
  let current: Control | undefined
  let content = ''

  const events: Events = {
    open (tag, attributes) {
      if (tag === 'form') {
        assert.ok(!isInForm, 'forms are not nested')
        isInForm = true
        forms.push({
          id: attributes.id,
          action: attributes.action ?? '',
          method: attributes.method === 'post' ? 'post' : 'get',
          controls: []
        })
      }
      if (tag === 'option') {
        assert.equal(current?.tag, 'select', 'an option is inside a select')
        current?.options.push({ value: attributes.value ?? '', isSelected: attributes.selected !== undefined })
      }
      if (tag !== 'input' && tag !== 'textarea' && tag !== 'select' && tag !== 'button') return
      assert.ok(
        (isInForm || 'form' in attributes) && !('disabled' in attributes) && !('multiple' in attributes),
        `${attributes.name ?? tag} belongs to the form around it`
      )
      current = {
        tag,
        type: typeOf(tag, attributes, browser),
        name: attributes.name ?? '',
        value: '',
        checked: attributes.checked !== undefined,
        options: [],
        label: '',
        isTyped: false,
        attributes
      }
      current.value = tag === 'input'
        ? sanitize(current, attributes.value ?? (isCheckable(current) ? 'on' : ''))
        : attributes.value ?? ''
      content = ''
      // §4.10.18.3: an element with the attribute `form` belongs to the form of that id.
      if ('form' in attributes) apart.push(current)
      else forms.at(-1)?.controls.push(current)
    },
    text: (text) => { content += text },
    close (tag) {
      if (tag === 'form') isInForm = false
      if (current?.tag !== tag) return
      if (tag === 'button') current.label = content
      if (tag === 'textarea') current.value = content.replaceAll(/\r\n?/g, '\n')
      // §4.10.7: the last selected option counts, or the first one if none is selected.
      if (tag === 'select') {
        current.value = (current.options.findLast(({ isSelected }) => isSelected) ?? current.options[0])?.value ?? ''
      }
      current = undefined
    }
  }
  if (isXml) readXml(page, events)
  else readHtml(page, events)
  for (const form of forms) form.controls.unshift(...apart.filter(({ attributes }) => attributes.form === form.id))
  assert.ok(apart.every(({ attributes }) => forms.some(({ id }) => attributes.form === id)), 'each control has a form')
  for (const { controls } of forms) uncheckOthers(controls)
  return forms
}

function readXml (page: string, { open, text, close }: Events): void {
  const parser = new SaxesParser({ xmlns: false })
  parser.on('error', (error) => { throw error })
  parser.on('opentag', ({ name, attributes }) => { open(name, { ...attributes }) })
  parser.on('text', text)
  parser.on('closetag', ({ name }) => { close(name) })
  parser.write(page).close()
}

const TOKEN = /<(\/?)([a-z][a-z0-9]*)((?:\s+[^\s"'<>=/]+(?:="[^"]*")?)*)\s*\/?>|<!doctype html>|[^<]+/gi
const VOID = new Set(['input', 'br', 'meta', 'link', 'hr', 'img'])

function readHtml (page: string, { open, text, close }: Events): void {
  // §13.2.3.5: the parser normalizes CR and CR LF to LF.
  const html = page.replaceAll(/\r\n?/g, '\n')
  let end = 0
  for (const { 0: whole, 1: slash, 2: name, 3: attributes = '', index } of html.matchAll(TOKEN)) {
    if (index < end) continue
    assert.equal(index, end, `${JSON.stringify(html.slice(end, end + 80))} is markup`)
    end = index + whole.length
    const tag = name?.toLowerCase()
    if (tag === undefined) {
      if (!whole.startsWith('<')) text(decode(whole))
      continue
    }
    if (slash === '/') {
      close(tag)
      continue
    }
    open(
      tag,
      Object.fromEntries(
        [...attributes.matchAll(/([^\s"'<>=/]+)(?:="([^"]*)")?/g)].map(
          ([, name = '', value = '']) => [name, decode(value)]
        )
      )
    )
    if (VOID.has(tag)) close(tag)
    if (tag !== 'textarea') continue
    end = html.indexOf('</textarea>', end)
    // §13.2.6.4.7: the parser drops a line feed right after the tag, also one written as a reference.
    text(decode(html.slice(index + whole.length, end)).replace(/^\n/, ''))
  }
  assert.equal(end, html.length, 'the whole page is markup')
}

const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Decodes the character references that pages contain (§13.2.5.72). */
export function decode (text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, named = '') => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    return hex !== undefined ? String.fromCodePoint(parseInt(hex, 16)) : REFERENCES[named] ?? whole
  })
}

const KNOWN = new Set([
  'hidden', 'text', 'file', 'password', 'checkbox', 'radio', 'submit', 'number', 'date', 'datetime-local', 'time',
  'email', 'url', 'search'
])
const NEWER = new Set(['number', 'date', 'datetime-local', 'time', 'email', 'url', 'search'])

function typeOf (tag: Control['tag'], { type }: Attributes, browser: Browser): string {
  if (tag === 'button') return type ?? 'submit'
  if (tag !== 'input') return tag
  assert.ok(type === undefined || KNOWN.has(type), `${String(type)} is a known input type`)
  return type === undefined || (browser === 'old' && NEWER.has(type)) ? 'text' : type
}

function isCheckable ({ tag, type }: Control): boolean {
  return tag === 'input' && (type === 'checkbox' || type === 'radio')
}

/** Applies the value sanitization algorithm of each type (§4.10.5.1). */
function sanitize ({ type }: Control, value: string): string {
  switch (type) {
    case 'text':
    case 'password': return value.replaceAll(/[\r\n]/g, '')
    case 'email':
    case 'url': return value.replaceAll(/[\r\n]/g, '').replaceAll(/^[\t\f ]+|[\t\f ]+$/g, '')
    // §2.3.4.3
    case 'number': return /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value) && Number.isFinite(Number(value))
      ? value
      : ''
    case 'date': return isDate(value) ? value : ''
    case 'datetime-local': return normalizeLocal(value)
    case 'textarea': return value.replaceAll(/\r\n?/g, '\n')
    default: return value
  }
}

function isDate (text: string): boolean {
  const [whole, year, month, day] = /^(\d{4,})-(\d\d)-(\d\d)$/.exec(text) ?? []
  if (whole === undefined || Number(year) === 0) return false
  const days = new Date(Date.UTC(2000, Number(month), 0))
  days.setUTCFullYear(Number(year), Number(month), 0)
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days.getUTCDate()
}

const LOCAL = /^(.*)[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?$/

/** §2.3.5.3: the shortest string for the time. */
function normalizeLocal (text: string): string {
  const [whole, date = '', minutes, seconds = '00', fraction = ''] = LOCAL.exec(text) ?? []
  if (whole === undefined || !isDate(date)) return ''
  const digits = fraction.replace(/0+$/, '')
  return `${date}T${minutes}${seconds === '00' && digits === ''
    ? ''
    : `:${seconds}`}${digits === '' ? '' : `.${digits}`}`
}

/** Leaves only the last checked of the radio buttons with the same name (§4.10.5.1.16). */
function uncheckOthers (controls: readonly Control[]): void {
  const radios = controls.filter(({ type }) => type === 'radio')
  for (const radio of radios) {
    radio.checked &&= radios.findLast(({ name, checked }) => checked && name === radio.name) === radio
  }
}

function methodOf ({ method, controls }: Form): string {
  return method === 'get' ? 'GET' : controls.find(({ name }) => name === '_method')?.value ?? 'POST'
}

/** Returns the page's only form for a method: GET, POST, PUT or DELETE, besides that of the chosen rows of a list. */
export function findForm (source: Source, method: string, browser?: Browser): Form {
  const found = parseForms(source, browser).filter((form) => methodOf(form) === method && form.id !== 'chosen')
  assert.equal(found.length, 1, `the page has one form for ${method}`)
  return found[0] as Form
}

/** Returns the controls of this name that a person can see and use. */
export function visible ({ controls }: Form, name: string): Control[] {
  return controls.filter((control) => control.name === name && control.type !== 'hidden' && control.tag !== 'button')
}

/** Returns the value of a hidden field. */
export function hidden ({ controls }: Form, name: string): string | undefined {
  return controls.find((control) => control.name === name && control.type === 'hidden')?.value
}

/**
 * Returns what a person sees under a name: a ticked box, the ticked boxes of a group, the selected option, or the text.
 */
export function shown (form: Form, name: string): string | boolean | readonly string[] | undefined {
  const [first, ...more] = visible(form, name)
  if (first === undefined) return undefined
  const checked = [first, ...more].filter(({ checked }) => checked).map(({ value }) => value)
  if (first.type === 'radio') return checked[0]
  if (first.type === 'checkbox') return name.endsWith('[]') ? checked : first.checked
  return first.value
}

export type Filled = Readonly<Record<string, string | boolean | readonly string[]>>

/** Types, ticks and selects like a person. Only existing controls and options can be used. */
export function fill (form: Form, filled: Filled): Form {
  for (const [name, value] of Object.entries(filled)) {
    const controls = visible(form, name)
    const [first] = controls
    assert.ok(first !== undefined, `there is a control ${name} among ${form.controls.map(({ name }) =>
      name).join(', ')}`)
    if (first.type === 'checkbox') tick(controls, value)
    else if (first.type === 'radio') choose(controls, String(value))
    else write(first, String(value))
  }
  return form
}

function tick (boxes: readonly Control[], value: Filled[string]): void {
  const isGroup = boxes[0]?.name.endsWith('[]') === true
  assert.ok(isGroup ? Array.isArray(value) : typeof value === 'boolean', 'a box takes a boolean, a group a list')
  if (Array.isArray(value)) {
    for (const choice of value as string[]) {
      assert.ok(boxes.some((box) => box.value === choice), `there is a box ${choice}`)
    }
  }
  for (const box of boxes) box.checked = Array.isArray(value) ? value.includes(box.value) : value === true
}

function choose (radios: readonly Control[], value: string): void {
  assert.ok(radios.some((radio) => radio.value === value), `there is a choice ${JSON.stringify(value)}`)
  for (const radio of radios) radio.checked = radio.value === value
}

function write (control: Control, value: string): void {
  if (control.tag === 'select') {
    assert.ok(control.options.some((option) => option.value === value), `there is an option ${JSON.stringify(value)}`)
  }
  control.value = control.tag === 'select' ? value : sanitize(control, value)
  control.isTyped = true
}

/** Returns the submit buttons of a form in tree order. */
export function buttonsOf ({ controls }: Form): Control[] {
  return controls.filter(({ type }) => type === 'submit')
}

/** Returns the button of this name, and of this value if several share the name. */
export function findButton (form: Form, name: string, value?: string): Control {
  const found = buttonsOf(form).filter((button) =>
    button.name === name && (value === undefined || button.value === value))
  assert.equal(found.length, 1, `there is one button ${name} among ${buttonsOf(form).map(({ name, value }) =>
    `${name}=${value}`).join(', ')}`)
  return found[0] as Control
}

/** Returns the button that Enter in a field presses (§4.10.22.2). */
export function defaultButton (form: Form): Control {
  const [first] = buttonsOf(form)
  assert.ok(first !== undefined, 'the form has a submit button')
  return first
}

/** Returns the entry list in tree order (§4.10.22.4). It includes a button only if that button was pressed. */
export function entriesOf ({ controls }: Form, pressed?: Control): Array<[name: string, value: string]> {
  return controls
    .filter(
      (control) => control.name !== '' &&
        (control.type === 'submit'
          ? control === pressed
          : control.tag !== 'button' && (!isCheckable(control) || control.checked))
    )
    .map(({ name, value }) => [name, value])
}

/** Returns the request that sends a form by one of its buttons, or by a button without a name. */
export function submit (form: Form, pressed?: Control, headers: Readonly<Record<string, string>> = {}): InjectOptions {
  return send(form, entriesOf(form, pressed), headers)
}

/** Returns the request of a form with entries that a browser would not send. */
export function send ({ action, method }: Form, entries: ReadonlyArray<readonly [
  name: string, value: string
]>, headers: Readonly<Record<string, string>> = {}): InjectOptions {
  // §4.10.22.4: every line break is CR LF.
  const normalize = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n')
  const query = new URLSearchParams(
    entries.map(([name, value]): [string, string] => [normalize(name), normalize(value)])
  ).toString()
  if (method === 'get') return { method: 'GET', url: `${action.replace(/\?.*$/, '')}?${query}`, headers }
  return {
    method: 'POST',
    url: action,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: query
  }
}

/** Returns the errors that keep a browser from sending the form (§4.10.21.2). */
export function refused (form: Form, pressed?: Control): string[] {
  if (pressed?.attributes.formnovalidate !== undefined) return []
  return form.controls.flatMap((control) => control.type === 'hidden' || control.tag === 'button'
    ? []
    : wrongWith(control, form.controls)
      .map((what) =>
    `${control.name} ${what} ${JSON.stringify(control.value)}`))
}

const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

function wrongWith (control: Control, controls: readonly Control[]): string[] {
  const { type, value, attributes: { required, pattern, minlength, maxlength }, isTyped } = control
  const isText = ['text', 'password', 'email', 'url', 'textarea'].includes(type)
  const checks: Array<[isWrong: boolean, what: string]> = [
    [required !== undefined && isMissing(control, controls), 'is missing'],
    [
      pattern !== undefined && isText && type !== 'textarea' && value !== '' &&
        !new RegExp(`^(?:${pattern})$`, 'v').test(value),
      'does not match'
    ],
    [minlength !== undefined && isText && isTyped && value !== '' && value.length < Number(minlength), 'is too short'],
    [maxlength !== undefined && isText && isTyped && value.length > Number(maxlength), 'is too long'],
    [type === 'email' && value !== '' && !EMAIL.test(value), 'is no address'],
    [type === 'url' && value !== '' && !URL.canParse(value), 'is no URL'],
    [type === 'number' && value !== '' && isOutOfRange(control), 'is out of range'],
    [(type === 'number' || type === 'datetime-local') && value !== '' && isOffStep(control), 'is between two steps']
  ]
  return checks.filter(([isWrong]) => isWrong).map(([, what]) => what)
}

function isMissing ({ tag, type, name, value, checked, options }: Control, controls: readonly Control[]): boolean {
  if (type === 'checkbox') return !checked
  if (type === 'radio') return !controls.some((other) => other.name === name && other.checked)
  // §4.10.7: the first option is the placeholder if its value is empty.
  return tag === 'select' ? value === '' && options[0]?.value === '' : value === ''
}

function isOutOfRange ({ value, attributes: { min, max } }: Control): boolean {
  return (min !== undefined && Number(value) < Number(min)) || (max !== undefined && Number(value) > Number(max))
}

/** §4.10.5.3.8: steps begin at `min`, else at the page's value. Engines tolerate the rounding of doubles. */
function isOffStep ({ type, value, attributes }: Control): boolean {
  const isClock = type === 'datetime-local'
  const { step = isClock ? '60' : '1', min, value: initial } = attributes
  if (step === 'any') return false
  const read = (text: string): number => isClock ? Date.parse(`${normalizeLocal(text)}Z`) / 1000 : Number(text)
  const base = [min, initial].find((text) => text !== undefined && text !== '' && !Number.isNaN(read(text)))
  const steps = (read(value) - (base === undefined ? 0 : read(base))) / Number(step)
  return Math.abs(steps - Math.round(steps)) > Math.max(1e-6, Math.abs(steps) * Number.EPSILON * 4)
}
