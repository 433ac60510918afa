import { createHash } from 'node:crypto'
import { MalformedBodyError } from '../../errors.js'
import {
  compileText, describeMismatch, describeTypes, FREE_MOMENT, isLongShape, UNCONVERTIBLE
} from '../../schema/convert-text.js'
import { LOCAL_FORMATS } from '../../schema/date-time.js'
import { findNameFault } from '../../schema/legal-text.js'
import { compilePerShape, type Shape } from '../../schema/shape.js'
import type { Issues } from '../../schema/validation/issues.js'
import type { Convert, Entries, Format, Reader } from '../format.js'
import { beginsLikeJson, isJson, readJsonText } from '../json/json.js'
import { renderCanonicalJson } from '../../util/own-property.js'
import { findChoosing } from './condition.js'
import {
  completeSeconds, type FormNode, isRow, leaf, MARKER, markerOf, parseForm, readMoment, respell, revise, rowsOf
} from './parse.js'

/** The format `application/x-www-form-urlencoded`, as browsers send their forms. It is only read. */
export const form: Format = {
  name: 'form',
  mediaTypes: ['application/x-www-form-urlencoded'],
  compileReader: compileFormReader
}

const MARKS: ReadonlySet<string> = new Set(['null', 'absent', 'removed', 'json', 'json-null', 'json-removed'])

/** Compiles the reader of `id=1&post[title]=T&post[tags][]=a`. */
export function compileFormReader (): Reader<FormNode> {
  return {
    form: true,
    typed: false,
    parse: (body) => parseFormText(body.toString()),
    entries: (node) => isOnlyGroup(node) ? membersOf(node) : undefined,
    items ({ texts, children }) {
      const list = children.get('')
      return texts.length === 0 && children.size === 1 && list?.children.size === 0 ? list.texts.map(leaf) : undefined
    },
    scalar ({ texts, children }) {
      if (children.size > 0) {
        throw new MalformedBodyError(
          '"id", "_method", "_version", "_key" and "commit" must be single fields, not parts such as id[a]'
        )
      }
      return texts.length === 1 ? texts[0] : texts
    },
    compile: compilePerShape(makeConvert),
    removes,
    redisplay: revise,
    choosing: (group) => findChoosing(group),
    isUntouched
  }
}

/**
 * Parses the decoded text of a form.
 * @throws MalformedBodyError
 */
export function parseFormText (text: string): Entries<FormNode> {
  checkLanguage(text)
  return Object.assign(Object.create(null), Object.fromEntries(parseForm(text)))
}

/**
 * Checks that a body does not look like JSON or XML. `curl -d` and other clients send any body as a form by default. No
 * field of a form begins with such a bracket.
 * @throws MalformedBodyError
 */
export function checkLanguage (text: string): void {
  const [, start] = /^\s*([{[<])/.exec(text) ?? []
  if (start === undefined) return
  const [name, type] = start === '<' ? ['XML', 'application/xml'] : ['JSON', 'application/json']
  throw new MalformedBodyError(
    `the body looks like ${name}, but its Content-Type says that it is a form; send the header Content-Type: ${type}`
  )
}

function isOnlyGroup ({ texts, children }: FormNode): boolean {
  return texts.every((text) => text === '') && !children.has('')
}

/** Returns the members of a group, and those that its rows of a name and a value add. */
export function membersOf (group: FormNode): Entries<FormNode> {
  const members: Record<string, FormNode> = Object.create(null)
  for (const [name, node] of group.children) {
    if (name !== MARKER) members[name] = node
  }
  for (const { name, value } of namedRowsOf(group)) {
    const known = members[name]
    members[name] = known === undefined ? value : { texts: [...known.texts, ...value.texts], children: known.children }
  }
  return members
}

/** Returns the rows of a name and a value, without blank rows. */
export function namedRowsOf ({ children }: FormNode): Array<{ readonly name: string, readonly value: FormNode }> {
  const rows = children.get(MARKER)
  return (rows === undefined ? [] : rowsOf(rows)).flatMap((row) => {
    const { name: [name = '', ...more] = [], value } = readRow(row)
    if (more.length > 0) throw new MalformedBodyError('a row of the form must have one name, but has several')
    return name === '' && value.texts.every((text) => text === '') ? [] : [{ name, value }]
  })
}

/** Reads a row of a name and a value. */
function readRow ({ texts, children }: FormNode): { name: readonly string[] | undefined, value: FormNode } {
  if (texts.length > 0 || [...children.keys()].some((part) => part !== 'name' && part !== 'value')) {
    throw new MalformedBodyError('a row of the form must have one name and one value')
  }
  return { name: children.get('name')?.texts, value: children.get('value') ?? leaf('') }
}

function makeConvert (shape: Shape, compile: (shape: Shape) => Convert<FormNode>): Convert<FormNode> {
  const { types } = shape
  const wanted = describeTypes(types)
  const convertText = compileTexts(shape)
  const convertItems = compileItems(shape, compile)
  const convertMembers = compileMembers(shape, compile)
  const isList = types.has('array') && !types.has('string')

  return (node, path, issues) => {
    const mark = markerOf(node)
    if (mark !== undefined && !MARKS.has(mark)) {
      return issues.add(path, `has the unknown marker "${mark.slice(0, 40)}"`)
    }
    if (markerOf(node, 'keep') === 'theirs') return undefined
    if (mark?.startsWith('json') === true) return convertJson(node, shape, path, issues)
    if ((mark === 'absent' || mark === 'removed') && isBlank(node)) return undefined
    if (mark === 'null' && isBlank(node)) return types.has('null') ? null : issues.add(path, wanted)
    const hasMembers = node.children.size > (node.children.has(MARKER) ? 1 : 0)
    if (!hasMembers) {
      return isList && node.texts.length === 1
        ? convertItems(lines(node, issues), path, issues)
        : convertText(node, path, issues)
    }
    // An empty text beside members only says that the attribute is present.
    if (node.texts.some((text) => text !== '')) return issues.add(path, 'is given both as one value and in parts')
    if (types.has('array') && [...node.children.keys()].every(isIndex)) {
      if (node.children.get('')?.children.size) {
        return issues.add(path, 'must number the items that have parts, as in [0][name]')
      }
      return convertItems(items(node), path, issues)
    }
    return types.has('object') ? convertMembers(node, path, issues) : issues.add(path, wanted)
  }
}

/** Compiles the conversion of a scalar. A boolean's last text counts: a checkbox has a hidden `false` before it. */
function compileTexts (shape: Shape): Convert<FormNode> {
  const convert = compileText(shape)
  const isBoolean = shape.only === 'boolean'
  const isObject = shape.only === 'object'
  const isMoment = shape.only === 'string' && shape.format === 'date-time'
  const isLocal = shape.only === 'string' && LOCAL_FORMATS.has(shape.format ?? '')
  const isSpelled = shape.only === 'string' && shape.format === FREE_MOMENT
  return (node, path, issues) => {
    const { texts } = node
    if (isObject && texts.every((text) => text === '')) return {}
    if (texts.length > 1 && !isBoolean) return issues.add(path, 'is given more than once')
    const last = texts.slice(-1).join('')
    const was = markerOf(node, 'was')
    const moment = isMoment ? readMoment(last, markerOf(node, 'offset'), was) : last
    const text = isLocal ? completeSeconds(last) : isSpelled && was !== undefined ? respell(last, was) : moment
    const value = isBoolean && text === 'on' ? true : convert(text)
    return value === UNCONVERTIBLE ? issues.add(path, describeMismatch(shape.types, text, isLongShape(shape))) : value
  }
}

/** Returns whether a field of JSON may have plain text instead: its schema allows texts among other types. */
export function takesPlainText ({ types, only }: Shape): boolean {
  return types.has('string') && only === undefined
}

/**
 * Returns what a field that takes both has. `undefined` says neither: it is blank, or begins like JSON without being
 * JSON.
 */
export function kindOfText (text: string): 'json' | 'text' | undefined {
  if (isJson(text)) return 'json'
  return text.trim() === '' || beginsLikeJson(text) ? undefined : 'text'
}

function convertJson (node: FormNode, shape: Shape, path: string, issues: Issues): unknown {
  const { texts, children } = node
  const isBlankNull = shape.types.has('null') && markerOf(node) === 'json-null'
  if (texts.length > 1 || children.size > 1) return issues.add(path, 'is given more than once')
  const text = texts[0] ?? ''
  if (text.trim() === '' && (isBlankNull || markerOf(node) !== 'json-null')) return isBlankNull ? null : undefined
  if (takesPlainText(shape) && kindOfText(text) === 'text') return text
  return readJsonText(text, path, issues)
}

/** Returns whether a field is blank, and its marker says that its attribute is removed then. */
function removes (node: FormNode): boolean {
  if (markerOf(node, 'keep') === 'theirs') return false
  const mark = markerOf(node)
  return (mark === 'removed' || mark === 'json-removed') && isBlank(node)
}

/** Returns whether a field has no text and no rows. A row of an array counts even if it is empty. */
function isBlank ({ texts, children }: FormNode): boolean {
  return texts.every((text) => text === '') &&
    [...children].every(([name, child]) => name === MARKER || (!isRow(name) && isBlank(child)))
}

/**
 * Returns a function that says whether the field at the path of an error, such as `author.name` or `lines.1`, was sent
 * without content.
 */
export function compileIsBlank (group: FormNode): (path: string) => boolean {
  const members = membersOf(group)
  // A form may have a hundred errors among a thousand items of an array.
  const arrays = new Map<FormNode, readonly FormNode[] | undefined>()
  const itemsIn = (node: FormNode): readonly FormNode[] | undefined => {
    if (!arrays.has(node)) arrays.set(node, [...node.children.keys()].every(isIndex) ? items(node) : undefined)
    return arrays.get(node)
  }
  return (path) => {
    const [name = '', ...steps] = path.split('.')
    let node: FormNode | undefined = members[name]
    for (const step of steps) {
      if (node === undefined) break
      const array = itemsIn(node)
      node = array === undefined ? node.children.get(step) : array[Number(step)]
    }
    return node !== undefined && isBlank(node)
  }
}

function isIndex (step: string): boolean {
  return step === MARKER || step === '' || isRow(step)
}

/** Returns one item for each line that is not empty. */
function lines ({ texts }: FormNode, issues: Issues): FormNode[] {
  const lines = (texts[0] as string).split('\n')
  issues.countValues(lines.length)
  return lines.filter((line) => line !== '').map(leaf)
}

/** Returns the items of `[]` without empty ones, then those of `[0]`, `[1]`… in the order of their numbers. */
function items (node: FormNode): FormNode[] {
  const listed = node.children.get('')?.texts.filter((text) => text !== '').map(leaf) ?? []
  return [...listed, ...rowsOf(node)]
}

function compileItems (
  { items }: Shape,
  compile: (shape: Shape) => Convert<FormNode>
): (nodes: readonly FormNode[], path: string, issues: Issues) => unknown {
  const convert = compile(items)
  return (nodes, path, issues) => nodes.map((node, index) => convert(node, `${path}.${index}`, issues))
}

function compileMembers ({ properties, rest }: Shape, compile: (shape: Shape) => Convert<FormNode>): Convert<FormNode> {
  const declared = [...properties.values()].filter(({ readOnly }) => !readOnly)
  const converts = new Map(declared.map(({ name, shape }) => [name, compile(shape)]))
  const convertRest = rest === undefined ? undefined : compile(rest)
  return (group, path, issues) => {
    const members: Array<[string, unknown]> = []
    for (const [name, node] of Object.entries(membersOf(group))) {
      // Read-only, undeclared and invalid names stay, because the check removes or refuses them.
      const convert = converts.get(name) ?? (findNameFault(name) === undefined ? convertRest : undefined)
      const value = convert === undefined ? null : convert(node, `${path}.${name}`, issues)
      if (value !== undefined) members.push([name, value])
    }
    return Object.fromEntries(members)
  }
}

/** The length of a digest, in characters of six bits each: two values never have the same one by chance. */
const LENGTH = 16

/**
 * Returns a short digest that shows whether a value has changed. Absence has the digest of null, because a form sends
 * both in the same way.
 */
export function digest (value: unknown): string {
  return createHash('sha256').update(renderCanonicalJson(value ?? null)).digest('base64url').slice(0, LENGTH)
}

/** Returns the digest that the form has of an attribute, or `undefined` if it has none. */
export function findDigest (group: FormNode, name: string): string | undefined {
  const words = markerOf(group, 'was')?.split(' ') ?? []
  const at = words.findIndex((word, index) => index % 2 === 0 && word === name)
  return at === -1 ? undefined : words[at + 1]
}

/**
 * Returns whether an attribute still has the value that its form showed.
 * @param value the value that was read, or `undefined` if the text of the field could not be converted
 */
export function isUntouched (group: FormNode, name: string, value: unknown): boolean {
  const shown = findDigest(group, name)
  if (shown === undefined) return false
  if (value !== undefined && shown === digest(value)) return true
  const text = group.children.get(name)?.texts.at(-1)
  if (text === undefined || (value !== undefined && value !== text && value !== completeSeconds(text))) return false
  // A stored value of another type than its attribute has is shown as a text: the number 5 as the text `5`.
  return shown === digest(text) || shown === digest(parseScalar(text) ?? text)
}

/** Returns the number or the boolean that is shown as this text, or `undefined` if there is none. */
function parseScalar (text: string): number | boolean | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : undefined
}
