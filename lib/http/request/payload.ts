import { InvalidError, InvalidMethodError, MalformedBodyError } from '../../errors.js'
import type { Convert, Entries, Reader } from '../../formats/format.js'
import type { Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { findNameFault, findOpenNameFault } from '../../schema/legal-text.js'
import { openShape } from '../../schema/shape.js'
import { addIssue, hasIssue, isFull, Issues } from '../../schema/validation/issues.js'
import { type Check, checkOpenNames, makeCheckCompiler } from '../../schema/validation/value-check.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { ownMember } from '../../util/own-property.js'
import { abbreviate } from '../../util/truncate.js'
import { IdClaims } from './id-claims.js'

export type WriteAction = 'create' | 'update' | 'delete'

/** What a write supplies, in whichever format. */
export interface Payload {
  /** Undefined: an action of the app. */
  readonly action: WriteAction | undefined
  /** The id of the row. */
  readonly id: Id | undefined
  /** The attributes supplied, without those that are read-only or faulty. */
  readonly attributes: Record<string, unknown>
  /** The faults of values that cannot be converted or carried. */
  readonly issues: Issues
  /** A form's `_version`. */
  readonly version: string | undefined
  /** The group of a form, to show the form again; undefined for an action of the app, whose form is its own. */
  readonly node: unknown
  /** Whether the form asks for other rows in it, and for no write. */
  readonly isRevised: boolean
}

/** What a request says of its write beside the body. */
export interface Requested {
  /** Undefined: an action of the app. */
  readonly action: WriteAction | undefined
  /** The id in the path of a member. */
  readonly member: string | undefined
  /** The id in the query. */
  readonly query: string | undefined
}

export type ReadPayload = (body: Entries, requested: Requested) => Payload

/** The fields that a form may have beside the group. */
const FORM_FIELDS = ['_method', '_version', 'commit']

/** Compiles the reading of bodies: a group of attributes under the singular name, and an id in one of many places. */
export function compilePayload (resource: Resource, reader: Reader): ReadPayload {
  const { singular, open } = resource
  const readAttributes = compileAttributes(resource, reader)
  const checkTopLevel = compileTopLevel(resource, reader)

  function isIdIn (group: Entries | undefined): boolean {
    const claims = new IdClaims(resource, reader)
    claims.addMember(group)
    return !claims.isEmpty
  }

  return (entries, { action, member, query }) => {
    checkTopLevel(entries)
    const node = ownMember(entries, singular)
    const group = node === undefined ? undefined : reader.entries(node)
    // A field of a form for an open attribute called `id` is a mistake in the form, which is shown again.
    const isNamedId = open && reader.form && action === 'create' && isIdIn(group)
    const claims = new IdClaims(resource, reader)
    claims.addText(member)
    claims.addText(query)
    claims.addMember(entries)
    if (!isNamedId) claims.addMember(group)
    const id = claims.agree()
    if (node !== undefined && group === undefined) {
      throw new InvalidError({ [singular]: ['must be a group of attributes'] })
    }
    checkPresence(resource, action, id, group)
    const issues = new Issues()
    if (isNamedId) addIssue(issues, 'id', ASSIGNED)
    const revised = action === 'delete' || action === undefined ? undefined : reader.redisplay?.(node)
    const given = revised === undefined ? group : reader.entries(revised)
    // A deletion needs no attributes, but a client may send back the whole record.
    return {
      action,
      id,
      attributes: given === undefined || action === 'delete' ? {} : readAttributes(given, issues),
      issues,
      version: reader.form ? readVersion(entries, reader) : undefined,
      node: reader.form && action !== undefined ? (revised ?? node) : undefined,
      isRevised: revised !== undefined
    }
  }
}

const ASSIGNED = 'is assigned by the server; leave it out'

function checkPresence (
  { singular, singleton }: Resource,
  action: WriteAction | undefined,
  id: Id | undefined,
  group: Entries | undefined
): void {
  if (action === undefined) return
  if (action === 'create' && id !== undefined) throw new InvalidError({ id: [ASSIGNED] })
  if (action !== 'create' && id === undefined && !singleton) throw new InvalidError({ id: ['must be given'] })
  if (action !== 'delete' && group === undefined) throw new InvalidError({ [singular]: ['must be given'] })
}

/** Compiles a check that throws an InvalidError if a body has an unknown member beside the group. */
function compileTopLevel (resource: Resource, reader: Reader): (body: Entries) => void {
  const { singular, singleton, open, attributes } = resource
  const topLevel = [...(singleton ? [] : ['id']), singular, ...(reader.form ? FORM_FIELDS : [])]

  /** Says that a name must be inside the group, if it names an attribute. */
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
  readonly check: Check
}

/** Compiles the conversion of the members of a group. */
function compileAttributes (
  { singular, singleton, open, attributes, foreignKey }: Resource,
  reader: Reader
): (group: Entries, issues: Issues) => Record<string, unknown> {
  const compileCheck = makeCheckCompiler(open ? findOpenNameFault : findNameFault)
  const known = new Map<string, Attribute | undefined>()
  for (const { name, shape, readOnly } of attributes.values()) {
    known.set(name, readOnly ? undefined : { convert: reader.compile(shape), check: compileCheck(shape) })
  }
  const names = [...known.keys()]
  const openAttribute: Attribute = { convert: reader.compile(openShape), check: compileCheck(openShape) }

  function findFault (name: string): string | undefined {
    // Without an id of its own a singleton has no attribute of that name either.
    if ((!open || name === 'id') && !known.has(name)) return `is unknown${didYouMean(name, names)}`
    return open ? findOpenNameFault(name) : undefined
  }

  return (group, issues) => {
    const supplied: Record<string, unknown> = {}
    const given = Object.keys(group)
    if (open && !checkOpenNames(given, singular, issues)) return supplied
    for (const name of given) {
      if (isFull(issues)) break
      // The id is among the claims, and the parent's id is in the path.
      if ((name === 'id' && !singleton) || (open && name === foreignKey)) continue
      const fault = findFault(name)
      if (fault !== undefined) {
        addIssue(issues, abbreviate(name), fault)
        continue
      }
      const attribute = open ? openAttribute : known.get(name)
      const value = attribute?.convert(group[name], name, issues)
      if (attribute === undefined || value === undefined) continue
      attribute.check(value, name, issues, open ? 1 : 0)
      // A faulty value may be so deep that code that walks through it fails.
      if (issues.size === 0 || !hasIssue(issues.keys(), name)) supplied[name] = value
    }
    return supplied
  }
}

/**
 * Returns the method that a body asks for. A form can only POST: its `_method` names another one.
 * @throws InvalidMethodError
 */
export function readMethod (method: string, entries: Entries, reader: Reader): string {
  if (!reader.form || entries._method === undefined) return method
  if (method !== 'POST') throw new InvalidMethodError('"_method" has a meaning in a POST only')
  const value = reader.scalar(entries._method)
  const override = typeof value === 'string' ? value.toUpperCase() : ''
  if (override !== 'PUT' && override !== 'DELETE') {
    throw new InvalidMethodError('"_method" must be PUT or DELETE, and given once')
  }
  return override
}

function readVersion (entries: Entries, reader: Reader): string | undefined {
  if (entries._version === undefined) return undefined
  const value = reader.scalar(entries._version)
  if (typeof value !== 'string') throw new MalformedBodyError('"_version" must be given once')
  return value
}
