import { IdConflictError, InvalidError, InvalidMethodError, MalformedBodyError, NotFoundError } from '../../errors.js'
import type { Convert, Entries, Reader } from '../../formats/format.js'
import { parseId, type Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { findNameFault, findOpenNameFault } from '../../schema/legal-text.js'
import { openShape } from '../../schema/shape.js'
import { addIssue, hasIssue, isFull, Issues } from '../../schema/validation/issues.js'
import { type Check, checkOpenNames, makeCheckCompiler } from '../../schema/validation/value-check.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { ownMember } from '../../util/own-property.js'
import { abbreviate } from '../../util/truncate.js'

/** What a write supplies, whatever it was written in. */
export interface Payload {
  readonly action: 'create' | 'update' | 'delete' | 'own'
  /** Of an update or a delete. */
  readonly id: Id | undefined
  /** The attributes supplied, those left out that are read-only or that something is wrong with. */
  readonly attributes: Record<string, unknown>
  /** What did not convert or cannot be carried. */
  readonly issues: Issues
  /** A form's `_version`. */
  readonly version: string | undefined
  /** A form's group, for a form that comes back: none of an action of the app's own, whose form is not ours. */
  readonly node: unknown
  /** Whether the form asks for other rows in it, and for no write. */
  readonly isRevised: boolean
}

/** What a request says besides its body. */
export interface Claims {
  readonly method: string
  /** The id in the path of a member. */
  readonly member: string | undefined
  /** The id in the query. */
  readonly query: string | undefined
}

export type ReadPayload = (body: Entries | null | undefined, claims: Claims) => Payload

/** What a form may have beside the group. */
const FORM_FIELDS = ['_method', '_version', 'commit']

interface Attribute {
  readonly convert: Convert
  readonly check: Check
}

/**
 * The shapes of the convention: a group under the singular name, and an id in one of many places.
 * @param isOwn whether it is for an action of the app's own, to which neither need be given
 */
export function compilePayload (resource: Resource, reader: Reader, isOwn = false): ReadPayload {
  const { singular, singleton, idType, open, attributes, foreignKey } = resource
  const compileCheck = makeCheckCompiler(open ? findOpenNameFault : findNameFault)
  const known = new Map<string, Attribute | undefined>()
  for (const { name, shape, readOnly } of attributes.values()) {
    known.set(name, readOnly ? undefined : { convert: reader.compile(shape), check: compileCheck(shape) })
  }
  const names = [...known.keys()]
  const topLevel = [...(singleton ? [] : ['id']), singular, ...(reader.form ? FORM_FIELDS : [])]
  const openAttribute: Attribute = { convert: reader.compile(openShape), check: compileCheck(openShape) }

  function readGroup (entries: Entries, action: Payload['action'], issues: Issues): Record<string, unknown> {
    const supplied: Record<string, unknown> = {}
    // A deletion needs no attributes: a client that sends the whole record back means the record.
    if (action === 'delete') return supplied
    const given = Object.keys(entries)
    if (open && !checkOpenNames(given, singular, issues)) return supplied
    for (const name of given) {
      if (isFull(issues)) break
      // Which row it is, and whose, is said elsewhere.
      if ((name === 'id' && !singleton) || (open && name === foreignKey)) continue
      // Of one that has no id, it is not the name of an attribute either.
      if ((!open || name === 'id') && !known.has(name)) {
        addIssue(issues, abbreviate(name), `is unknown${didYouMean(name, names)}`)
        continue
      }
      const fault = open ? findOpenNameFault(name) : undefined
      if (fault !== undefined) {
        addIssue(issues, abbreviate(name), fault)
        continue
      }
      const attribute = open ? openAttribute : known.get(name)
      if (attribute === undefined) continue
      const value = attribute.convert(entries[name], name, issues)
      if (value === undefined) continue
      attribute.check(value, name, issues, open ? 1 : 0)
      // What cannot be carried goes no further: it may be so deep that whatever walks through it fails.
      if (issues.size === 0 || !hasIssue(issues.keys(), name)) supplied[name] = value
    }
    return supplied
  }

  function checkTopLevel (body: Entries): void {
    for (const name in body) {
      if (!topLevel.includes(name)) throw new InvalidError({ [abbreviate(name)]: [describeStray(name)] })
    }
  }

  /** Says of a name beside the group where it belongs: inside, if it names an attribute. */
  function describeStray (name: string): string {
    const suggestion = didYouMean(name, topLevel)
    const isAttribute = known.has(name) || (open && suggestion === '' && name !== 'id' && !FORM_FIELDS.includes(name))
    if (!isAttribute) return `is unknown beside "${singular}"${suggestion}`
    const cure = reader.form
      ? `: send ${singular}[${abbreviate(name)}]=…`
      : reader.typed
        ? `: send {"${singular}":{${JSON.stringify(abbreviate(name))}:…}}`
        : ''
    return `must be inside "${singular}"${cure}`
  }

  function claimText (text: string | undefined, claims: Claim[]): void {
    if (text !== undefined && text !== '') claims.push({ text, id: parseId(idType, text) })
  }

  /** JSON is taken as it stands: where ids are numbers, `"1"` is none. */
  function claimValue (value: unknown, claims: Claim[]): void {
    if (value === null || value === '') return
    const text = typeof value === 'object' ? 'an object' : String(value)
    const isOfType = idType === 'integer' ? typeof value === 'number' : typeof value === 'string'
    claims.push({ text, id: isOfType ? parseId(idType, text) : undefined })
  }

  function claimNode (entries: Entries | undefined, claims: Claim[]): void {
    const node = entries?.id
    if (node === undefined) return
    const value = reader.scalar(node)
    if (reader.typed) return claimValue(value, claims)
    for (const text of Array.isArray(value) ? value : [value]) claimText(text, claims)
  }

  return (body, { method, member, query }) => {
    const entries: Entries = body ?? {}
    const verb = readVerb(method, entries, reader)
    const action = isOwn ? 'own' : actionOf(verb)
    checkTopLevel(entries)
    const node = ownMember(entries, singular)
    const group = node === undefined ? undefined : reader.entries(node)
    const claims: Claim[] = []
    claimText(member, claims)
    claimText(query, claims)
    if (!singleton) claimNode(entries, claims)
    const around = claims.length
    if (!singleton) claimNode(group, claims)
    // A row that names its attribute so is a mistake in the form, which comes back.
    const isNamedId = open && reader.form && action === 'create' && claims.length > around
    if (isNamedId) claims.length = around
    const id = agree(claims, singular)
    if (node !== undefined && group === undefined) {
      throw new InvalidError({ [singular]: ['must be a group of attributes'] })
    }
    if (action === 'create' && id !== undefined) {
      throw new InvalidError({ id: ['is assigned by the server; leave it out'] })
    }
    if ((action === 'update' || action === 'delete') && id === undefined && !singleton) {
      throw new InvalidError({ id: ['must be given'] })
    }
    if ((action === 'update' || action === 'create') && group === undefined) {
      throw new InvalidError({ [singular]: ['must be given'] })
    }
    const issues = new Issues()
    if (isNamedId) addIssue(issues, 'id', 'is assigned by the server; leave it out')
    const revised = action === 'delete' || isOwn ? undefined : reader.redisplay?.(node)
    return {
      action,
      id,
      attributes:
        group === undefined
          ? {}
          : readGroup(revised === undefined ? group : (reader.entries(revised) as Entries), action, issues),
      issues,
      version: reader.form ? readVersion(entries, reader) : undefined,
      node: reader.form && !isOwn ? (revised ?? node) : undefined,
      isRevised: revised !== undefined
    }
  }
}

/** An id as some part of a request has it; `id` is undefined where the text spells none. */
interface Claim {
  readonly text: string
  readonly id: Id | undefined
}

/** The id that all places agree on, or undefined where there is none. */
function agree (claims: readonly Claim[], singular: string): Id | undefined {
  const [first] = claims
  if (first === undefined) return undefined
  const other = claims.find(({ text }) => text !== first.text)
  if (other !== undefined) throw new IdConflictError(abbreviate(first.text), abbreviate(other.text))
  if (claims.some(({ id }) => id === undefined)) {
    throw new NotFoundError(singular, JSON.stringify(abbreviate(first.text)))
  }
  return first.id
}

export function actionOf (method: string): Exclude<Payload['action'], 'own'> {
  if (method === 'POST') return 'create'
  return method === 'DELETE' ? 'delete' : 'update'
}

/** A form can only POST: `_method` says what it means. */
export function readVerb (method: string, entries: Entries, reader: Reader): string {
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
