import assert, { AssertionError } from 'node:assert/strict'
import type { Id, Row } from '../core/resource/row.js'
import type { Attributes } from '../core/schema/types.js'
import { findMember, isStructure } from '../core/util/own-property.js'
import type { WriteOutcome } from '../core/stores/store.js'
import { NULLABLE } from './options.js'

/** Asserts deep equality, as `deepStrictEqual` does. The message says what was compared and how the values differ. */
export function same (actual: unknown, expected: unknown, what: string): void {
  try {
    assert.deepStrictEqual(plain(actual), plain(expected))
  } catch (error) {
    throw new AssertionError({
      message: `${what}\n${String(findMember(error, 'message'))}`,
      actual,
      expected,
      operator: 'deepStrictEqual',
      stackStartFn: same
    })
  }
}

/**
 * Copies JSON into plain objects, because a store may make objects without a prototype. Others, such as a Date, stay.
 */
function plain (value: unknown): unknown {
  if (!isStructure(value)) return value
  if (Array.isArray(value)) return value.map(plain)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}

/** Checks that the row has the given attributes and no others. */
export function carries ({ attributes }: Row, given: Attributes): void {
  const actual = Object.entries(attributes)
    .filter(([name, value]) => Object.hasOwn(given, name) || !isAbsence(name, value))
  same(Object.fromEntries(actual), given, 'the attributes of the row')
}

function isAbsence (name: string, value: unknown): boolean {
  return value === undefined || (value === null && NULLABLE.includes(name))
}

/** Returns the value of an attribute, or null if it is absent. */
export function valueOf ({ attributes }: Row, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] ?? null : null
}

export function idsOf (rows: readonly Row[]): Id[] {
  return rows.map(({ id }) => id)
}

/** Returns the row, or throws if it does not exist. */
export function existing (row: Row | undefined): Row {
  assert.ok(row !== undefined, 'the row must exist')
  return row
}

/** Returns the row of a write, or throws if the write has not happened. */
export function rowOf (written: WriteOutcome): Row {
  assert.ok(written.ok, `the write must succeed, but it returned ${JSON.stringify(written)}`)
  return written.row
}

/** Returns the current row of a write that was refused as stale, or throws if the write was not. */
export function currentOf (written: WriteOutcome): Row {
  const isStale = !written.ok && written.why === 'stale'
  assert.ok(isStale, `the write must be refused as stale, but it returned ${JSON.stringify(written)}`)
  return written.current
}

export function isMissing (written: WriteOutcome): void {
  same(written, { ok: false, why: 'missing' }, 'a write must report that its row is missing')
}

/** Checks that no value is repeated. */
export function distinct (values: readonly unknown[], what: string): void {
  const seen = new Set<unknown>()
  const repeated = values.filter((value) => seen.size === seen.add(value).size)
  same(repeated, [], what)
}

/** The outcome of a promise. */
export type Settled<T> =
  { readonly answered: true, readonly value: T } | { readonly answered: false, readonly error: unknown }

export function settle<T> (promise: Promise<T>): Promise<Settled<T>> {
  return promise.then((value) => ({ answered: true, value }), (error) => ({ answered: false, error }))
}

/** Checks that the write throws a DuplicateError that names only attributes of the group. */
export async function isDuplicate (write: Promise<unknown>, group: readonly string[]): Promise<void> {
  const outcome = await settle(write)
  assert.ok(!outcome.answered, 'a DuplicateError must be thrown, but the write succeeded')
  const isRight = codeOf(outcome.error) === 'FST_RESOURCES_DUPLICATE'
  assert.ok(isRight, `a DuplicateError must be thrown, not ${String(outcome.error)}`)
  const { errors = {} } = outcome.error as DuplicateLike
  const named = Object.keys(errors).filter((name) => errors[name]?.length !== 0)
  assert.ok(named.length > 0, 'the errors of the DuplicateError must name the attribute')
  const others = named.filter((name) => !group.includes(name))
  same(others, [], `the errors of the DuplicateError must name ${group.join(' or ')} alone`)
}

interface DuplicateLike {
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

/** Returns the code of an error. Its class says nothing, because it may come from another copy of the package. */
export function codeOf (error: unknown): unknown {
  return findMember(error, 'code')
}
