import { InvalidError, InvalidOptionError } from '../errors.js'
import { type Said, say } from '../messages.js'
import type { Resource } from '../resource/resource.js'
import type { Property } from '../schema/shape.js'
import { type Attributes, type Schema, typesOf } from '../schema/types.js'
import { Issues, isWithin } from '../schema/validation/issues.js'
import type { Validators } from '../schema/validation/validators.js'
import { show } from '../util/check-option.js'
import { isPromise } from '../util/maybe-promise.js'
import { isObject, ownMember } from '../util/own-property.js'
import { didYouMean } from '../util/words.js'
import { compileRowKeywords } from './keywords.js'

/** All attributes of a row. Those that are absent are null. */
export type WholeRow<A = Attributes> = { readonly [Name in keyof A]-?: Exclude<A[Name], undefined> | null }

/** What the option `check` is given besides the row. */
export interface CheckContext<A = Attributes> {
  /** The row before the write, or `undefined` for a new one. */
  readonly previous: WholeRow<A> | undefined
  /** The faults of the row. */
  readonly issues: {
    /**
     * Refuses the write with 422.
     * @param attribute the attribute at fault, or `undefined` for the whole row
     * @param message what follows its name: `'must not be before "from"'`
     */
    add (attribute: (keyof A & string) | undefined, message: string): void
  }
}

/**
 * Checks the row that a write makes. It returns at once, and does nothing else: if the row changes before the write, it
 * is called again.
 */
export type CheckRow<A = Attributes> = (attributes: WholeRow<A>, context: CheckContext<A>) => void

/**
 * The values that may follow each value of an attribute: `{ draft: ['published'], published: ['archived'] }`. `initial`
 * has those of a new row. @default of `initial`: the default of the attribute, else any value
 */
export type Transitions = Readonly<Record<string, ReadonlyArray<string | number | boolean>>>

/** The rules of a resource about whole rows, as they were declared. */
export interface RuleOptions {
  /** The schema of the attributes, if it has keywords that are about the whole row. */
  readonly rowSchema: Schema | undefined
  readonly check: CheckRow | undefined
  readonly transitions: Readonly<Record<string, Transitions>>
}

/** The compiled rules of a resource about whole rows. */
export interface Rules {
  /** The keywords of the schema that are about the whole row, for documents; `undefined` without any. */
  readonly keywords: { readonly schema: Schema, readonly reads: ReadonlySet<string> | undefined } | undefined
  /** The values that may follow the stored one, by attribute. */
  readonly transitions: ReadonlyMap<string, FindNext>
  /** Returns whether changes of these attributes can break a rule. */
  concern (changes: Attributes): boolean
  /**
   * Checks the row that a write makes. Faults that the row had before are accepted.
   * @param previous the attributes before it, or `undefined` for a new row
   * @throws InvalidError
   */
  verify (next: Attributes, previous: Attributes | undefined): void
}

/** Returns the values that may follow the stored one, or `undefined` if any may. */
export type FindNext = (previous: Attributes | undefined) => readonly unknown[] | undefined

/**
 * Compiles the rules of a resource, or returns `undefined` if it has none.
 * @throws InvalidAttributesError, InvalidOptionError
 */
export function compileRules (resource: Resource, options: RuleOptions, validators: Validators): Rules | undefined {
  const { rowSchema, check } = options
  const transitions = compileTransitions(resource, options.transitions)
  if (rowSchema === undefined && check === undefined && transitions.size === 0) return undefined
  const keywords = rowSchema && compileRowKeywords(resource, rowSchema, validators)
  const names = [...resource.attributes.keys()]
  const reads = check !== undefined || (keywords !== undefined && keywords.reads === undefined)
    ? undefined
    : new Set([...transitions.keys(), ...keywords?.reads ?? []])
  const find = (attributes: Attributes, previous: Attributes | undefined): Issues => {
    const issues = new Issues()
    keywords?.judge(withoutNulls(names, attributes), issues)
    if (check !== undefined) callCheck(check, resource, { attributes, previous, issues })
    return issues
  }
  return {
    keywords: rowSchema && { schema: rowSchema, reads: keywords?.reads },
    transitions,
    concern: (changes) => reads === undefined || Object.keys(changes).some((name) => reads.has(name)),
    verify (next, previous) {
      const issues = find(next, previous)
      const known = issues.size > 0 && previous !== undefined ? find(previous, previous).messages : undefined
      const errors = withoutKnown(issues.messages, known ?? new Map())
      for (const [name, nextOf] of transitions) {
        const values = nextOf(previous)
        const value = ownMember(next, name) ?? null
        const isKept = previous !== undefined && value === (ownMember(previous, name) ?? null)
        if (isKept || values === undefined || values.includes(value)) continue
        errors.set(name, [...errors.get(name) ?? [], nameValues(values)])
      }
      if (errors.size > 0) throw new InvalidError(Object.fromEntries(errors))
    }
  }
}

/** Returns the attributes that a row has, without those that are null. */
function withoutNulls (names: readonly string[], attributes: Attributes): Attributes {
  const all = names.map((name) => [name, ownMember(attributes, name)] as const)
  return Object.fromEntries(all.filter(([, value]) => value != null))
}

/** Returns all attributes, of which those that are absent are null. */
function wholeRow (names: Iterable<string>, attributes: Attributes): WholeRow {
  return Object.freeze(Object.fromEntries([...names].map((name) => [name, ownMember(attributes, name) ?? null])))
}

/** @throws TypeError if the function of the app does what it must not */
function callCheck (
  check: CheckRow,
  { attributes: declared, plural, singular }: Resource,
  { attributes, previous, issues }: {
    readonly attributes: Attributes, readonly previous: Attributes | undefined, readonly issues: Issues
  }
): void {
  const names = [...declared.keys()]
  const add = (name: string | undefined, message: string): void => {
    if (name !== undefined && !names.some((known) => isWithin(name, known))) {
      const near = didYouMean(name, names)
      throw new TypeError(`check of "${plural}": issues.add names "${name}", which is no attribute${near}`)
    }
    issues.add(name ?? singular, message)
  }
  const before = previous && wholeRow(names, previous)
  const result: unknown = check(wholeRow(names, attributes), { previous: before, issues: { add } })
  if (isPromise(result)) {
    result.then(undefined, () => {})
    throw new TypeError(`check of "${plural}" must return at once, without a promise; ask for other data in a handler`)
  }
}

/** Returns the messages without those about the same attribute with the same code or text. */
function withoutKnown (
  found: Issues['messages'],
  known: Issues['messages']
): Map<string, readonly Said[]> {
  const codeOf = (message: Said): string => typeof message === 'string' ? message : message.code
  return new Map([...found].flatMap(([path, messages]): Array<[string, readonly Said[]]> => {
    const codes = new Set(known.get(path)?.map(codeOf))
    const added = messages.filter((message) => !codes.has(codeOf(message)))
    return added.length === 0 ? [] : [[path, added]]
  }))
}

function nameValues (values: readonly unknown[]): Said {
  return values.length === 0 ? say('mustStayTheSame') : say('mustBeOneOf', { values: values.map(show).join(', ') })
}

const INITIAL = 'initial'

/**
 * Compiles the option `transitions`.
 * @throws InvalidOptionError
 */
function compileTransitions (
  { attributes }: Resource,
  given: RuleOptions['transitions']
): ReadonlyMap<string, FindNext> {
  return new Map(Object.entries(given).map(([name, map]) => {
    const property = attributes.get(name)
    if (property === undefined) {
      const near = didYouMean(name, [...attributes.keys()])
      throw new InvalidOptionError('transitions', `names "${name}", which is not among the attributes${near}`)
    }
    return [name, compileNext(property, map)]
  }))
}

function compileNext ({ name, schema, shape: { choices, types } }: Property, map: Transitions): FindNext {
  const refuse = (reason: string): never => { throw new InvalidOptionError('transitions', `has "${name}", ${reason}`) }
  if (!isObject(map)) return refuse(`which must be lists by value such as { draft: ['published'] }, not ${show(map)}`)
  const next = new Map<string, readonly unknown[]>()
  for (const [value, values] of Object.entries(map)) {
    if (!Array.isArray(values)) return refuse(`whose "${value}" must be a list of values, not ${show(values)}`)
    const unfit = values.find((one: unknown) => !typesOf(one).some((type) => types.has(type)))
    if (unfit !== undefined) refuse(`which cannot be ${show(unfit)}, a value of another type`)
    const named = [...value === INITIAL ? [] : [value], ...values.map(String)]
    const known = choices?.map(String) ?? named
    const other = named.find((one) => !known.includes(one))
    if (other !== undefined) refuse(`which cannot be ${show(other)}${didYouMean(other, known)}`)
    next.set(value, Object.freeze([...values]))
  }
  const first = next.get(INITIAL) ?? (schema.default === undefined ? undefined : [schema.default])
  next.delete(INITIAL)
  // A value to which others lead, and from which none leads, is final.
  for (const value of [...next.values()].flat().map(String)) if (!next.has(value)) next.set(value, [])
  return (previous) => {
    if (previous === undefined) return first
    const value = ownMember(previous, name) ?? undefined
    return value === undefined ? undefined : next.get(String(value))
  }
}
