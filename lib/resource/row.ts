import type { Attributes, Scalar } from '../schema/types.js'

/** What names a row: a positive integer up to 2^53 - 1, or a UUID in lower case. */
export type Id = number | string

/** A row as it is kept. It belongs to whoever receives it: a store never changes one that it has handed out. */
export interface Row<A = Attributes> {
  /** Given to this row alone, for ever. */
  readonly id: Id
  /**
   * Another one after each write, also one that changes nothing else, and never one that the row has had before;
   * letters, digits, `-` and `_` only, since it stands in the ETag.
   */
  readonly version: string
  /** An attribute that was never given is absent, or null where its schema allows null. */
  readonly attributes: A
}

/**
 * Attribute values that every row must carry (`{ tenant: 'a' }`): reads see no other row, writes touch no other,
 * creates get them stamped on, and no write changes them. Null stands for absence too.
 */
export type Scope = Readonly<Record<string, Scalar>>
