import assert, { AssertionError } from 'node:assert/strict'
import type { Id, Row } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import type { Written } from '../store.js'
import { NULLABLE } from './options.js'

/** Like `deepStrictEqual`, but that the message has both what is wrong and how the two differ. */
export function same (actual: unknown, expected: unknown, what: string): void {
  try {
    assert.deepStrictEqual(plain(actual), plain(expected))
  } catch (error) {
    const { message } = error as AssertionError
    throw new AssertionError({
      message: `${what}\n${message}`,
      actual,
      expected,
      operator: 'deepStrictEqual',
      stackStartFn: same
    })
  }
}

/** Whether an object inherits anything, and is frozen, is for the store to choose; a Date is no JSON. */
function plain (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}

/** The row has the attributes given, and of the others none that it was not given. */
export function carries ({ attributes }: Row, given: Attributes, what: string): void {
  const others = Object.entries(attributes).filter(
    ([name, value]) => !Object.hasOwn(given, name) && !isAbsence(name, value)
  )
  same({ ...pick(attributes, Object.keys(given)), ...Object.fromEntries(others) }, given, what)
}

function isAbsence (name: string, value: unknown): boolean {
  return value === undefined || (value === null && NULLABLE.includes(name))
}

function pick (attributes: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(attributes, name)).map((name) => [name, attributes[name]])
  )
}

/** The value of an attribute; null stands for absence. */
export function valueOf ({ attributes }: Row, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] ?? null : null
}

export function idsOf (rows: readonly Row[]): Id[] {
  return rows.map(({ id }) => id)
}

/** The row that must be there. */
export function existing (row: Row | undefined, what = 'the row must be there'): Row {
  assert.ok(row !== undefined, what)
  return row
}

/** The row of a write that must have happened. */
export function rowOf (written: Written, what = 'the write must happen'): Row {
  assert.ok(written.ok, `${what}, but was answered ${JSON.stringify(written)}`)
  return written.row
}

/** The current row of a write that must have been refused for its version. */
export function currentOf (written: Written, what = 'the write must be refused as stale'): Row {
  assert.ok(!written.ok && written.why === 'stale', `${what}, but was answered ${JSON.stringify(written)}`)
  return written.current
}

export function isMissing (written: Written, what = 'there must be no row to write'): void {
  same(written, { ok: false, why: 'missing' }, what)
}

/** No two are the same. */
export function distinct (values: readonly unknown[], what: string): void {
  const seen = new Set<unknown>()
  const repeated = values.filter((value) => seen.size === seen.add(value).size)
  same(repeated, [], what)
}

/** What became of a promise. */
export type Settled<T> =
  { readonly answered: true; readonly value: T } | { readonly answered: false; readonly error: unknown }

export function settle<T> (promise: Promise<T>): Promise<Settled<T>> {
  return promise.then((value) => ({ answered: true, value }), (error) => ({ answered: false, error }))
}

/** The write must throw a DuplicateError for an attribute of the group. */
export async function isDuplicate (write: Promise<unknown>, group: readonly string[], what: string): Promise<void> {
  const outcome = await settle(write)
  assert.ok(!outcome.answered, `${what}: a DuplicateError must be thrown, but the write was answered`)
  assert.ok(
    codeOf(outcome.error) === 'FST_RESOURCES_DUPLICATE',
    `${what}: a DuplicateError must be thrown, not ${String(outcome.error)}`
  )
  const errors = Object.entries((outcome.error as DuplicateLike).errors ?? {})
  const named = errors.filter(([, messages]) => messages.length > 0).map(([name]) => name)
  assert.ok(named.length > 0, `${what}: the errors of the DuplicateError must name the attribute`)
  same(
    named.filter((name) => !group.includes(name)),
    [],
    `${what}: the errors of the DuplicateError must name ${group.join(' or ')} alone`
  )
}

interface DuplicateLike {
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

/** The author's errors may come from another copy of the package, so that their class tells nothing. */
export function codeOf (error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code
}
