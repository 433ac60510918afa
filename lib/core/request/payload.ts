import { IdConflictError, InvalidError, MalformedBodyError, NotFoundError } from '../errors.js'
import { type Message, say } from '../messages.js'
import { ANOTHER, FORM_FIELDS, type FormNode, markerOf } from '../formats/form/parse.js'
import type { Convert, Entries, Reader } from '../formats/format.js'
import { lacksId } from '../modes.js'
import { parseId, type Resource } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { compileVisible, type HideWriteOnly, isPartial } from '../resource/visible.js'
import { isDecimalShape, LONG_AS_NUMBER } from '../schema/convert-text.js'
import { findOpenNameFault } from '../schema/legal-text.js'
import { openShape, type Shape } from '../schema/shape.js'
import { Issues, type IsUntouched } from '../schema/validation/issues.js'
import { checkOpenNames, makeCheckCompiler } from '../schema/validation/value-check.js'
import { isSame, ownMember } from '../util/own-property.js'
import { abbreviate, didYouMean, findNear } from '../util/words.js'
import { identity, lazy } from '../util/functions.js'
import { isDecimal, isLongInteger, normalizeDecimal } from '../util/decimal.js'
import { MATCH, type Match } from './match.js'

export type WriteAction = 'create' | 'update' | 'delete'

/** The content of a write, independent of its format. */
export interface Payload {
  /** The default action, or `undefined` for a custom action. */
  readonly action: WriteAction | undefined
  /** The id of the row. */
  readonly id: Id | undefined
  /** The attributes supplied, without read-only and faulty ones. Those that an update removes are `undefined`. */
  readonly attributes: Record<string, unknown>
  /** The names of the attributes whose values must be merged with the stored ones. */
  readonly merged: readonly string[]
  /** Notes the faults of a merged value in `issues`. A client must be able to send back what it reads. */
  readonly checkMerged: (name: string, value: unknown, issues: Issues) => void
  /** The faults of values that cannot be converted or carried. */
  readonly issues: Issues
  /** A form's `_version`. */
  readonly version: string | undefined
  /** The group of a form, to show the form again; `undefined` for other formats and for custom actions. */
  readonly node: unknown
  /**
   * Returns whether an update by a form sends the value of an attribute back as the form showed it. `value` is
   * `undefined` if the field could not be converted. There is no such function for other formats.
   */
  readonly isUntouched: IsUntouched | undefined
  /**
   * Makes that function from the stored row, for an update in other formats. An update in XML writes only what differs
   * from the row (`isCompared`). An update in JSON writes what it names, and needs the function only if it sends values
   * that no client may send, because the store may have them. It is `undefined` if the row need not be read.
   */
  readonly compareWith: ((row: Row) => IsUntouched) | undefined
  /** Whether an update writes only what differs from its row. */
  readonly isCompared: boolean
  /** The names of the `readOnly` attributes that the client has sent, and that are ignored. */
  readonly ignored: readonly string[]
  /**
   * Whether the form asks for a page instead of a write: to be shown again, with a row added or removed or a choice, or
   * for the next step with the rows that it has chosen.
   */
  readonly isRevised: boolean
  /** Whether the form asks for the blank form again, after it has created a row. */
  readonly isAnother: boolean
  /** The reference to the row to whose page the form leads back. @default it does not */
  readonly back?: string | undefined
  /** The rows of a request with many rows, whose other members are empty. @default it is a request with one row */
  readonly rows?: readonly RowPayload[] | undefined
  /** How the rows are found, if not by their ids. */
  readonly match?: Match | undefined
  /** The query of the list in which the rows were chosen. */
  readonly list?: string | undefined
  /** Whether a form chooses all rows of that list. */
  readonly isOfAll?: boolean
}

/** A row of a request with many rows: its payload, or the fault with which it could not be read. */
export interface RowPayload {
  /** The place among the rows, from 0. */
  readonly index: number
  /** The line of a CSV file, from 1. */
  readonly line: number | undefined
  readonly payload: Payload | undefined
  readonly fault: unknown
  /** Reads the row as a new one, if `match` does not find it. */
  readonly readNew?: (() => Payload) | undefined
  /** The stored row that `match` has found. */
  readonly found?: Row | undefined
}

/** The parts of a request, besides its body, that describe its write. */
export interface WriteRequest {
  /** The default action, or `undefined` for a custom action. */
  readonly action: WriteAction | undefined
  /** The id in the path of a member. */
  readonly member: string | undefined
  /** The id in the query. */
  readonly query: string | undefined
  /** Whether the group has several ids, which are read one by one. @default false */
  readonly sharesGroup?: boolean
  /** Whether an update has no id, because `match` finds its row. @default false */
  readonly isMatched?: boolean
}

export type ReadPayload = (body: Entries, requested: WriteRequest) => Payload

/** Compiles the reader of payloads when the first one is read. */
export function compilePayloadLater (resource: Resource, reader: Reader): ReadPayload {
  const read = lazy(() => compilePayload(resource, reader))
  return (entries, requested) => read()(entries, requested)
}

/** Compiles the reader of payloads: a group of attributes under the singular name, and an id in one of many places. */
export function compilePayload (resource: Resource, reader: Reader): ReadPayload {
  const { singular, open } = resource
  const { readAttributes, checkMerged, find } = compileAttributes(resource, reader)
  const checkTopLevel = compileTopLevel(resource, reader)
  const readOnly = [...resource.attributes.values()].flatMap(({ name, readOnly }) => readOnly ? [name] : [])
  // A browser sends nothing of a form that has no fields.
  const hasNoFields = reader.form && !open && readOnly.length === resource.attributes.size
  const merges = reader.merges?.bind(reader)

  return (entries, { action, member, query, sharesGroup = false, isMatched = false }) => {
    checkTopLevel(entries)
    const node = ownMember(entries, singular)
    const absent = hasNoFields && action === 'create' ? NO_FIELDS : undefined
    const group = node === undefined ? absent : reader.entries(node)
    const ofGroup = sharesGroup ? [] : readIds(group, resource, reader)
    // A field of a form for an open attribute called `id` is a mistake in the form, which is shown again.
    const isNamedId = open && reader.form && action === 'create' && ofGroup.length > 0
    const ofBody = [...readIds(entries, resource, reader), ...(isNamedId ? [] : ofGroup)]
    const named = [...namedIn(member), ...namedIn(query), ...ofBody]
    checkConflict(named)
    if (action === 'create' && named.length > 0) throw refuseId(resource)
    if (isMatched && named.length > 0) {
      throw new InvalidError({ id: [`must be left out, because "${MATCH}" finds the ${singular}`] })
    }
    const id = findId(named, resource)
    if (node !== undefined && group === undefined) throw refuseGroup(singular)
    checkPresence(resource, isMatched ? 'create' : action, id, group)
    const issues = new Issues()
    if (isNamedId) issues.add('id', ASSIGNED)
    const isShown = action === 'create' || action === 'update'
    const revised = node === undefined || !isShown ? undefined : reader.redisplay?.(node)
    const given = revised === undefined ? group : reader.entries(revised)
    // A deletion needs no attributes, but a client may send back the whole record.
    const isRead = given !== undefined && action !== 'delete'
    const attributes = isRead ? readAttributes(given, issues, action === 'update') : {}
    const isCompared = action === 'update' && (isMatched || reader.isShown !== undefined)
    const mayForgive = action === 'update' && reader.isUntouched === undefined
    return {
      action,
      id,
      attributes,
      merged: merges === undefined ? NOTHING : Object.keys(attributes).filter((name) => merges(attributes[name])),
      checkMerged,
      issues,
      ignored: isRead ? readOnly.filter((name) => Object.hasOwn(given, name)) : NOTHING,
      version: readVersion(reader.form ? entries : group, reader),
      node: reader.form && isShown ? (revised ?? node) : undefined,
      isUntouched: action === 'update' ? reader.isUntouched?.bind(reader, node) : undefined,
      isCompared,
      compareWith: given !== undefined && (isCompared || (mayForgive && issues.faulty.size > 0))
        ? ({ attributes: stored }) => (name, value) => (isCompared || issues.faulty.has(name)) &&
          isSentBack(find(name), { node: given[name], stored: ownMember(stored, name), value, isMatched })
        : undefined,
      isRevised: revised !== undefined,
      isAnother: reader.form && action === 'create' && isAnother(entries, reader),
      back: reader.form && node !== undefined ? markerOf(node as FormNode, 'back') : undefined
    }
  }
}

/** The name of the version beside the id. */
export const VERSION = '_version'

const NOTHING: readonly string[] = Object.freeze([])
const NO_FIELDS: Entries = Object.freeze({})
const ASSIGNED = say('isAssigned')

/** Makes the error about a create that gives the id. It names the attributes to send, if they form the id. */
function refuseId ({ key, attributes }: Resource): InvalidError {
  const sent = key.filter((name) => attributes.get(name)?.readOnly === false).map((name) => `"${name}"`)
  return new InvalidError({ id: [sent.length === 0 ? ASSIGNED : `consists of ${sent.join(', ')}; send that instead`] })
}

function refuseGroup (singular: string): InvalidError {
  return new InvalidError({ [singular]: ['must be a group of attributes'] })
}

function checkPresence (
  resource: Resource,
  action: WriteAction | undefined,
  id: Id | undefined,
  group: Entries | undefined
): void {
  if (action === undefined) return
  if (action !== 'create' && lacksId(resource, id)) throw new InvalidError({ id: [say('mustBeGiven')] })
  if (action !== 'delete' && group === undefined) throw new InvalidError({ [resource.singular]: [say('mustBeGiven')] })
}

/** Compiles a check that throws an InvalidError if a body has an unknown member beside the group. */
function compileTopLevel (resource: Resource, reader: Reader): (body: Entries) => void {
  const { singular, singleton, open, attributes } = resource
  const topLevel = [...(singleton ? [] : ['id']), singular, ...(reader.form ? FORM_FIELDS : [])]

  /** Describes the fault of an unknown member. A member that names an attribute must be inside the group. */
  function describeStray (name: string): string {
    const suggestion = didYouMean(name, topLevel)
    const isAttribute =
      attributes.has(name) || (open && suggestion === '' && name !== 'id' && !FORM_FIELDS.includes(name))
    if (!isAttribute) return `is unknown beside "${singular}"${suggestion}`
    const cure = reader.form
      ? `: send ${singular}[${abbreviate(name)}]=…`
      : reader.typed
        ? `: send {"${singular}":{${JSON.stringify(abbreviate(name))}:…}}`
        : ''
    return `must be inside "${singular}"${cure}`
  }

  return (body) => {
    for (const name in body) {
      if (!topLevel.includes(name)) throw new InvalidError({ [abbreviate(name)]: [describeStray(name)] })
    }
  }
}

interface Attribute {
  readonly convert: Convert
  /** Checks a value without its `writeOnly` members, and deletes its `readOnly` members. */
  readonly check: (value: unknown, name: string, issues: Issues) => void
  /** Returns the part of a value that answers show; `undefined` if they do not show the attribute. */
  readonly hide: HideWriteOnly | undefined
  /** Returns whether a node asks to remove the attribute. */
  readonly removes: ((node: unknown) => boolean) | undefined
  /**
   * Returns whether the attribute was sent back as the format shows it. `value` is what was read, or what a hook of the
   * app has made of that; `undefined` if the node could not be converted.
   */
  readonly isSentBack: (node: unknown, stored: unknown, value: unknown) => boolean
  /** Whether its texts are decimals. */
  readonly isDecimal: boolean
}

interface Sent {
  readonly node: unknown
  readonly stored: unknown
  readonly value: unknown
  /** Whether equal decimals are the same, because a database may write a decimal with other digits: `1.50` for 1.5. */
  readonly isMatched: boolean
}

function isSentBack (attribute: Attribute | undefined, { node, stored, value, isMatched }: Sent): boolean {
  if (attribute === undefined) return false
  const isEqual = isMatched && attribute.isDecimal && isDecimal(value) && isDecimal(stored) &&
    normalizeDecimal(value) === normalizeDecimal(stored)
  return isEqual || attribute.isSentBack(node, stored, value)
}

interface AttributesReader extends Pick<Payload, 'checkMerged'> {
  readonly readAttributes: (group: Entries, issues: Issues, isUpdate: boolean) => Record<string, unknown>
  readonly find: (name: string) => Attribute | undefined
}

/** The parts of an attribute that its format does not decide. */
type AttributeParts = Pick<Attribute, 'check' | 'hide'>

function compileAttribute (reader: Reader, shape: Shape, { check, hide }: AttributeParts): Attribute {
  const convert = reader.compile(shape)
  const withoutReadOnly = (value: unknown): unknown => {
    check(value, '', new Issues())
    return value
  }
  const showsReadOnly = isPartial(shape)
  return {
    convert,
    check,
    hide,
    isDecimal: isDecimalShape(shape),
    removes: reader.removes && ((node) => reader.removes?.(node, shape) === true),
    isSentBack (node, stored, value) {
      if (hide === undefined) return false
      const shown = hide(stored)
      const writable = showsReadOnly ? withoutReadOnly(structuredClone(shown)) : shown
      if (value !== undefined && shown !== undefined && isSame(value, writable)) return true
      // A hook of the app may have added the attribute.
      if (node === undefined) return false
      // A table shows an attribute that the row does not have as an empty field, which a create takes for absent.
      const isShown = shown === undefined ? reader.isAbsent?.(node) : reader.isShown?.(node, shown, shape)
      if (isShown !== true) return false
      // A hook of the app may have changed what was read. Then the node says nothing.
      return value === undefined || isSame(value, withoutReadOnly(convert(node, '', new Issues())))
    }
  }
}

/** Compiles the conversion of the members of a group. An update may also remove attributes. */
function compileAttributes (resource: Resource, reader: Reader): AttributesReader {
  const { singular, open, attributes } = resource
  const compileCheck = makeCheckCompiler()
  const compile = (shape: Shape, hide: HideWriteOnly | undefined): Attribute => {
    const check = compileCheck(shape)
    return compileAttribute(reader, shape, { check: (...checked) => { check(...checked, open ? 1 : 0) }, hide })
  }
  const others = findOthers(resource, reader)
  const visible = compileVisible(resource)
  const known = new Map<string, Attribute | undefined>()
  for (const { name, shape, readOnly } of attributes.values()) {
    known.set(name, readOnly ? undefined : compile(shape, visible.get(name)))
  }
  const openAttribute = compile(openShape, identity)

  function findFault (name: string): Message | undefined {
    // A singleton has no id, and an undeclared attribute cannot be called `id` either.
    if ((!open || name === 'id') && !known.has(name)) {
      return say('isUnknown', { near: findNear(name, [...known.keys()]) })
    }
    return open ? findOpenNameFault(name) : undefined
  }

  const find = (name: string): Attribute | undefined => open ? openAttribute : known.get(name)

  function checkMerged (name: string, value: unknown, issues: Issues): void {
    const { check, hide = identity } = find(name) as Attribute
    // A copy, because the stored `readOnly` members stay.
    check(structuredClone(hide(value)), name, issues)
  }

  function readAttributes (group: Entries, issues: Issues, isUpdate: boolean): Record<string, unknown> {
    const supplied: Record<string, unknown> = {}
    if (open && !checkOpenNames(Object.keys(group), singular, issues)) return supplied
    for (const name in group) {
      if (issues.isFull) break
      if (others.includes(name)) continue
      const fault = findFault(name)
      if (fault !== undefined) {
        issues.add(abbreviate(name), fault)
        continue
      }
      const attribute = find(name)
      if (attribute === undefined || (!isUpdate && reader.isAbsent?.(group[name]) === true)) continue
      if (attribute.removes?.(group[name]) === true) {
        if (isUpdate) supplied[name] = undefined
        continue
      }
      const value = attribute.convert(group[name], name, issues)
      if (value === undefined) continue
      const isRead = !issues.isAbout(name)
      attribute.check(value, name, issues)
      if (!issues.isAbout(name)) supplied[name] = value
      else if (reader.merges === undefined) issues.addFaulty(name, value, isRead)
    }
    return supplied
  }

  return { readAttributes, checkMerged, find }
}

/** Returns the members of a group that are read elsewhere: the id, the version and the id of the parent. */
function findOthers ({ singleton, open, attributes, foreignKey }: Resource, { form }: Reader): readonly string[] {
  return [
    ...(singleton ? [] : ['id']),
    // An attribute of this name leaves no room for the version.
    ...(form || attributes.has(VERSION) ? [] : [VERSION]),
    // The path has the id of the parent.
    ...(open && foreignKey !== undefined ? [foreignKey] : [])
  ]
}

/** Returns the version beside the id: of a form, or of the group in another format. */
function readVersion (entries: Entries | undefined, reader: Reader): string | undefined {
  const node = entries?.[VERSION]
  if (node === undefined) return undefined
  const value = reader.scalar(node)
  if (typeof value !== 'string') {
    throw new MalformedBodyError(`"_version" must be ${reader.typed ? 'a text' : 'given once'}`)
  }
  // In a CSV file or an XML document, a new row may leave the version empty.
  return value === '' && !reader.form && !reader.typed ? undefined : value
}

function isAnother (entries: Entries, reader: Reader): boolean {
  const button = entries[ANOTHER.name]
  return button !== undefined && reader.scalar(button) === ANOTHER.value
}

/** An id as a part of the request spells it. */
interface NamedId {
  readonly text: string
  /** Whether it has the type of the ids. A JSON value is not converted: `"1"` is not an id if the ids are numbers. */
  readonly isOfType: boolean
}

/** Returns the id in a path or a query, if it has one. */
function namedIn (text: string | undefined): readonly NamedId[] {
  return text === undefined || text === '' ? [] : [{ text, isOfType: true }]
}

/** Returns the ids that the member `id` of a body, or of the group of attributes in it, names. */
function readIds (entries: Entries | undefined, { singleton, idType }: Resource, reader: Reader): readonly NamedId[] {
  const node = entries?.id
  if (node === undefined || singleton) return []
  const value = reader.scalar(node)
  if (!reader.typed) return (Array.isArray(value) ? value : [value]).flatMap(namedIn)
  if (value === null || value === '') return []
  const isInteger = idType === 'integer'
  if (isInteger && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new InvalidError({ id: [LONG_AS_NUMBER] })
  }
  const isOfType = isInteger ? typeof value === 'number' || isLongInteger(value) : typeof value === 'string'
  return [{ text: typeof value === 'object' ? 'an object' : String(value), isOfType }]
}

/** @throws IdConflictError if two parts of the request name different ids */
function checkConflict (named: readonly NamedId[]): void {
  const [one, other] = new Set(named.map(({ text }) => text))
  if (one !== undefined && other !== undefined) throw new IdConflictError(abbreviate(one), abbreviate(other))
}

/**
 * Returns the id that the parts of the request name, or `undefined` if none names one.
 * @throws NotFoundError
 */
function findId (named: readonly NamedId[], { singular, idType }: Resource): Id | undefined {
  const [first] = named
  if (first === undefined) return undefined
  const id = named.every(({ isOfType }) => isOfType) ? parseId(idType, first.text) : undefined
  if (id === undefined) throw new NotFoundError(singular, JSON.stringify(abbreviate(first.text)))
  return id
}
