import { MalformedBodyError } from '../../errors.js'
import { say } from '../../messages.js'
import { isDate } from '../../schema/date-time.js'

/** The fields of a form under one name: the texts of the name itself, and the fields in its brackets. */
export interface FormNode {
  readonly texts: string[]
  /** The fields by the text between the brackets, which is the empty string for `[]`. */
  readonly children: Map<string, FormNode>
}

/**
 * The field with which a list asks for the page of the next step: `delete` or `change`, or `delete-all` or `change-all`
 * for all rows of the list.
 */
export const STEP = '_step'
/** The ending of a step about all rows of the list. */
export const OF_ALL = '-all'

/** The field with the query of the list in which rows are chosen, and to which their form leads back. */
export const LIST = '_list'

/** The field with the key of the request, as the header `Idempotency-Key` has it. */
export const KEY = '_key'

/** The fields beside the attributes: method, version, key, step, list and button. */
export const FORM_FIELDS: readonly string[] = ['_method', '_version', KEY, STEP, LIST, 'commit']

/** The button that creates a row and asks for the blank form again. */
export const ANOTHER = { name: 'commit', value: 'another' } as const
/** The fragment that leads to the blank form beneath a list. */
export const NEW_FORM = 'new'

/** The most fields of a form, far more than a page has. The limit guards against a megabyte of `a=&`. */
export const MAX_FIELDS = 1000
const MAX_BRACKETS = 10
/** Matches the ids and versions of many rows, whose number the option `maxRows` limits. */
const OF_ROWS = /^(?:id|_version)(?:\[\]|%5B%5D)=/i

/**
 * Parses the fields of a form (WHATWG URL §5.1), and returns them as a tree by the brackets of their names.
 * @throws MalformedBodyError if there are too many fields, bytes that are not UTF-8, broken percent escapes, or names
 * whose brackets are unbalanced or too many
 */
export function parseForm (body: string): Map<string, FormNode> {
  const root = makeNode()
  for (const [name, text] of parseFields(body)) {
    // A browser sends every line break as CR LF (HTML §4.10.22.4).
    find(root, splitName(name)).texts.push(text.replaceAll('\r\n', '\n'))
  }
  return root.children
}

/**
 * Parses the fields of a form, and returns their names and texts.
 * @throws MalformedBodyError
 */
export function parseFields (body: string): Array<readonly [name: string, text: string]> {
  const fields = body.split('&').filter((field) => field !== '')
  const isTooLong = fields.length > MAX_FIELDS && fields.filter((field) => !OF_ROWS.test(field)).length > MAX_FIELDS
  if (isTooLong) throw new MalformedBodyError(say('tooManyFields', { most: MAX_FIELDS }))
  return fields.map((field) => {
    const [name = '', ...parts] = field.split('=')
    return [decodeField(name), decodeField(parts.join('='))]
  })
}

function makeNode (): FormNode {
  return { texts: [], children: new Map() }
}

/** Splits a name: `post[tags][0]` → `post`, `tags`, `0`. A name with too many brackets is not split to its end. */
function splitName (name: string): string[] {
  const open = name.indexOf('[')
  const steps = open === -1 ? [name] : [name.slice(0, open), ...name.slice(open + 1, -1).split('][', MAX_BRACKETS)]
  const isWhole = open === -1 || name.endsWith(']')
  if (!isWhole || steps[0] === '' || steps.some((step) => /[[\]]/.test(step))) {
    throw new MalformedBodyError(`the field name "${name.slice(0, 100)}" is malformed`)
  }
  if (steps.length > MAX_BRACKETS) {
    throw new MalformedBodyError(`the field name "${name.slice(0, 100)}" is nested too deep`)
  }
  return steps
}

function find (root: FormNode, steps: readonly string[]): FormNode {
  let node = root
  for (const step of steps) {
    let child = node.children.get(step)
    if (child === undefined) node.children.set(step, child = makeNode())
    node = child
  }
  return node
}

/**
 * Decodes a name or a value of a form.
 * @throws MalformedBodyError
 */
function decodeField (text: string): string {
  // Fastify's decoder has put U+FFFD in place of bytes that are not UTF-8.
  if (text.includes('\ufffd')) throw new MalformedBodyError('the body is not valid UTF-8')
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new MalformedBodyError('the form has a percent escape that is not valid UTF-8')
  }
}

/**
 * A name between brackets that no attribute can have. It says how to read a field: `post[rating][?]=null` reads a blank
 * field as null, and `absent` as one that was not sent. With `removed`, a blank field removes its attribute.
 * `json-null`, `json` and `json-removed` do the same, and read other texts as JSON.
 * `post[?][0][name]` is a row that names its attribute. `MarkerPart` lists the parts below the marker.
 */
export const MARKER = '?'

/**
 * The parts of a marker:
 * - `offset`, `was`: the offset from UTC of a date and time, and the text that the form had before
 * - `keep`: the value to keep of an attribute that somebody else has changed: `yours` or `theirs`
 * - `again`: the references with which the next form begins, after "Save and add another"
 * - `back`: the reference to the row whose page the form stands on, and to which it leads back
 * - `each`: the attribute whose values `post[tagId][]` make a new row each, with the other attributes of the form
 * - `by`: `them` if nobody but that other user has changed it
 * - `row`: an item of an array exists, even if it sends nothing else, as a choice does that is left open
 * - `add`, `remove`: a button was pressed that adds a row to an array, or removes the row of that number
 * - `choose`, `search`, `on`, `is`, `from`, `to`, `open`: the form asks for the rows that an attribute can reference
 *   (`ChoiceField`)
 * - `chosen`: the id of the row that was chosen
 * - `typed`: the form that was sent before had a text that is never shown
 * - `focus`: a row was just chosen. The form has no such field.
 * - `added`, `removed`: the position of the row that such a button has added or removed. The form has no such fields.
 */
export type MarkerPart =
  'offset' | 'was' | 'keep' | 'again' | 'back' | 'each' | 'by' | 'row' | 'add' | 'remove' | 'added' | 'removed' |
  'chosen' | 'focus' | 'typed' | ChoiceField

/**
 * The fields of a page on which a user chooses a row that an attribute references. They stand in the marker of the
 * attribute, or in the query of a list that is filtered by it:
 * - `choose`: the query of the list that the rows come from, `country=DE`; it asks for that page
 * - `search`, `on`, `is`, `from`, `to`: what is added to that query: `q`, and the fields of a condition
 * - `open`: a query that replaces all of these, as a button sends it; it asks for that page, too
 */
export type ChoiceField = 'choose' | 'search' | 'on' | 'is' | 'from' | 'to' | 'open'

/**
 * Returns the text of a field's marker, or of a part of it; `undefined` if there is none. The last text counts, because
 * a box has a hidden field before it.
 */
export function markerOf ({ children }: FormNode, part?: MarkerPart): string | undefined {
  const mark = children.get(MARKER)
  return (part === undefined ? mark : mark?.children.get(part))?.texts.at(-1)
}

/** Returns the rows of an array in the order of their numbers. */
export function rowsOf ({ children }: FormNode): FormNode[] {
  return [...children].filter(([step]) => isRow(step)).sort(([a], [b]) => Number(a) - Number(b)).map(([, row]) => row)
}

/** Returns whether a text between brackets is the number of a row: `0`, `1`… */
export function isRow (step: string): boolean {
  return /^\d+$/.test(step)
}

/**
 * Returns the group as it is shown again if one of its buttons was pressed: with a row added or removed, or with a row
 * chosen that an attribute references. Returns `undefined` if none was.
 */
export function revise (group: FormNode): FormNode | undefined {
  if (markerOf(group, 'add') !== undefined) return addRow(group)
  const removed = markerOf(group, 'remove')
  if (removed !== undefined) return withoutChild(group, removed)
  const chosen = markerOf(group, 'chosen')
  if (chosen !== undefined) return applyChoice(group, chosen)
  if (markerOf(group, 'choose') !== undefined || markerOf(group, 'open') !== undefined) return group
  for (const [step, child] of group.children) {
    const revised = revise(child)
    if (revised !== undefined) return { ...group, children: new Map(group.children).set(step, revised) }
  }
  return undefined
}

/** Adds an empty row after the others, and numbers all rows anew. */
function addRow (list: FormNode): FormNode {
  const rows = rowsOf(list)
  const { texts, children } = withRevision(list, 'added', rows.length)
  const others = [...children].filter(([step]) => !isRow(step))
  const numbered = [...rows, makeNode()].map((row, index): [string, FormNode] => [String(index), row])
  return { texts, children: new Map([...others, ...numbered]) }
}

function withoutChild (list: FormNode, step: string): FormNode {
  const position = [...list.children.keys()].filter((other) => isRow(other) && Number(other) < Number(step)).length
  const { texts, children } = withRevision(list, 'removed', position)
  return { texts, children: new Map([...children].filter(([other]) => other !== step)) }
}

/** Puts the position of a row in place of the parts of the marker for the buttons, but keeps the marker itself. */
function withRevision ({ texts, children }: FormNode, revision: 'added' | 'removed', position: number): FormNode {
  const mark = children.get(MARKER) as FormNode
  const parts = new Map([...mark.children].filter(([part]) => part !== 'add' && part !== 'remove'))
  const revised = new Map([...parts, [revision, leaf(String(position))]])
  return { texts, children: new Map(children).set(MARKER, { texts: mark.texts, children: revised }) }
}

/** Returns the field of an attribute with the id of the row that was chosen. The field gets the focus. */
function applyChoice ({ texts, children }: FormNode, id: string): FormNode {
  const mark = children.get(MARKER) as FormNode
  const parts = new Map([...mark.children].filter(([part]) => !ASKING.has(part)))
  // A user who chooses another row in a conflict wants to keep it.
  if (parts.has('keep') && texts.at(-1) !== id) parts.set('keep', leaf('yours'))
  const revised = { texts: mark.texts, children: parts.set('focus', leaf('1')) }
  return { texts: [id], children: new Map(children).set(MARKER, revised) }
}

/** The parts of a marker that ask for a choice. */
export const ASKING: ReadonlySet<string> =
  new Set<MarkerPart>(['choose', 'search', 'on', 'is', 'from', 'to', 'open', 'chosen'])

/** Makes a field that has only a text. */
export function leaf (text: string): FormNode {
  return { texts: [text], children: new Map() }
}

// Matches a local date and time (HTML §2.3.5.3). A browser leaves out the seconds if they are zero.
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/
const WITHOUT_SECONDS = /^(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d$/
/** The length of the longest text that such a control can show, in characters. */
const LONGEST = 40

/**
 * Reads a date and time from the control of a browser, which has no offset from UTC and drops zeros. Returns the text
 * that the form had if that means the same time, even if it is spelled as no client may send it:
 * `2026-01-31 12:00:00z`. Other texts are not changed.
 */
export function readMoment (text: string, offset: string | undefined, was: string | undefined): string {
  if (!LOCAL.test(text) || offset === undefined) return text
  const moment = `${completeSeconds(text)}${offset.trim().toUpperCase()}`
  if (moment.length > LONGEST || was === undefined || was.length > LONGEST) return moment
  return normalize(was.replace(' ', 'T').toUpperCase()) === normalize(moment) ? was : moment
}

/**
 * Completes a date and time, or a time, from a control of a browser, which drops the seconds if they are zero. Other
 * texts are not changed.
 */
export function completeSeconds (text: string): string {
  return WITHOUT_SECONDS.test(text) ? `${text}:00` : text
}

// Matches a date, or a date and time without an offset, as databases without a type for them keep them.
const SPELLED =
  /^(\d{4}-\d\d-\d\d)(?:([ T])((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.0+)?)?)?$/

// Matches a local date and time as a control without fractions of seconds sends it.
const WHOLE_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/

/** A date, or a date and time, as a control of a browser has it. */
export interface ControlMoment {
  readonly type: 'date' | 'datetime-local'
  readonly value: string
}

/** Returns what a control shows of `1996-07-04 00:00:00.000`: midnight is a date. `undefined` for other texts. */
export function readSpelled (text: string): ControlMoment | undefined {
  const [, date = '', , clock = '00:00', seconds = '00'] = text.length > LONGEST ? [] : SPELLED.exec(text) ?? []
  if (!isDate(date)) return undefined
  return clock === '00:00' && seconds === '00'
    ? { type: 'date', value: date }
    : { type: 'datetime-local', value: `${date}T${clock}:${seconds}` }
}

/** Spells what a control has sent as the text that the form had. Other texts are not changed. */
export function respell (text: string, was: string): string {
  const shown = readSpelled(was)
  const [date = '', time] = completeSeconds(text).split('T')
  const isWhole = shown?.type === 'date' ? isDate(text) : shown !== undefined && WHOLE_SECONDS.test(text)
  if (!isWhole) return text
  const rest = was.slice(date.length)
  // The seconds that the text has not are zero. A spelling without seconds gets them only if they are not.
  return date + (time === undefined
    ? rest
    : rest.replace(/\d\d:\d\d(?::\d\d)?/, (was) => time.endsWith(':00') ? time.slice(0, was.length) : time))
}

/** Returns the same text for the same clock and offset: `12:00:00.5Z` for `12:00:00.500Z`. */
function normalize (moment: string): string {
  const [offset] = /(?:Z|[+-]\d\d:\d\d|)$/.exec(moment) as RegExpExecArray
  const clock = moment.slice(0, moment.length - offset.length)
  return `${clock.replace(/\.0*$|(\.\d*?)0+$/, '$1')}${offset}`
}
