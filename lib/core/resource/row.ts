import { createRequire } from 'node:module'
import type { Attributes, Scalar } from '../schema/types.js'
import { lazy } from '../util/functions.js'

/**
 * The id of a row: an integer, a UUID in lower case, or any text for the type `'string'`. An integer beyond 2^53 − 1 is
 * the text of its digits: `'1119360021460566017'`.
 */
export type Id = number | string

/** Returns whether a value is of a type that ids have: a number or a string. */
export function isId (value: unknown): value is Id {
  return typeof value === 'number' || typeof value === 'string'
}

/** Loads `uuid` when the first UUID is made, because it has 20 modules. */
const loadUuid: () => typeof import('uuid') = lazy(() => createRequire(import.meta.url)('uuid'))

/** Makes a UUID of version 7. They sort in the order in which they are made (RFC 9562 §5.7). */
export function makeUuid (): Id {
  return loadUuid().v7()
}

/** A row as the store keeps it. It belongs to its receiver: a store never changes a row that it has returned. */
export interface Row<A = Attributes> {
  /** The id, which no other row gets, except in a table that uses ids again. */
  readonly id: Id
  /**
   * The version, which each write changes, even a write that changes nothing else. A row never has the same version
   * twice. Only a digest of the values is the same for the same values. It has only letters, digits, `-` and `_`,
   * because the ETag contains it.
   */
  readonly version: string
  /** The attributes. One that was never supplied is absent, or null if its schema allows null. */
  readonly attributes: A
}

/**
 * Attribute values that every row must have (`{ tenant: 'a' }`). Reads and writes find no other rows, creates add the
 * values, and no write changes them. Null also matches an absent attribute.
 */
export type Scope = Readonly<Record<string, Scalar>>
