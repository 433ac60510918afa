import { InvalidError, NO_SUCH_REFERENCE, ReferencedError } from '../../errors.js'
import type { Id, Row, Scope } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { mergeMembers, ownMember } from '../../util/own-property.js'
import type { OnDelete } from '../store.js'

/** The members of a table that foreign keys use. */
interface Rows {
  readonly name: string
  /** The foreign keys of other rows that refer to these. */
  readonly referrers: readonly ForeignKey[]
  get (id: Id, scope: Scope): Row | undefined
  replace (previous: Row, attributes: Attributes): Row
  remove (row: Row): void
}

/** The rows of a foreign key, the rows that it refers to, and what a deletion of these does. */
interface Relation {
  readonly rows: Rows
  readonly parent: Rows
  readonly onDelete: OnDelete
}

/** A foreign key, with an index of the rows by the id to which they refer. */
export class ForeignKey {
  readonly attribute: string
  readonly rows: Rows
  readonly onDelete: OnDelete
  readonly #parent: Rows
  readonly #ids = new Map<unknown, Set<Id>>()

  constructor (attribute: string, { rows, parent, onDelete }: Relation) {
    this.attribute = attribute
    this.rows = rows
    this.onDelete = onDelete
    this.#parent = parent
  }

  /** Throws `InvalidError` if the attribute refers to no row. Null refers to none on purpose. */
  check (attributes: Attributes, scope: Scope): void {
    const id = ownMember(attributes, this.attribute)
    if (id == null || this.#parent.get(id as Id, {}) !== undefined) return
    // A client cannot change an attribute of the scope.
    throw Object.hasOwn(scope, this.attribute)
      ? new InvalidError({}, { detail: `it ${NO_SUCH_REFERENCE}` })
      : new InvalidError({ [this.attribute]: [NO_SUCH_REFERENCE] })
  }

  add ({ id, attributes }: Row): void {
    const parent = ownMember(attributes, this.attribute)
    if (parent == null) return
    const ids = this.#ids.get(parent)
    if (ids === undefined) this.#ids.set(parent, new Set([id]))
    else ids.add(id)
  }

  remove ({ id, attributes }: Row): void {
    const parent = ownMember(attributes, this.attribute)
    const ids = this.#ids.get(parent)
    ids?.delete(id)
    if (ids?.size === 0) this.#ids.delete(parent)
  }

  /** Returns the rows that refer to a row. */
  rowsOf (id: Id): readonly Row[] {
    return [...this.#ids.get(id) ?? []].map((id) => this.rows.get(id, {}) as Row)
  }
}

/**
 * Deletes or changes the rows that refer to a row which is to be deleted, and those that refer to them in turn. Nothing
 * is written if one of them restricts the deletion.
 * @throws ReferencedError
 */
export function deleteReferrers (table: Rows, id: Id): void {
  const deleted = new Map<Rows, Map<Id, Row>>()
  const freed: Array<readonly [ForeignKey, Row]> = []
  const left: Array<readonly [Rows, Id]> = [[table, id]]
  const isDeleted = (rows: Rows, row: Row): boolean =>
    (rows === table && row.id === id) || deleted.get(rows)?.has(row.id) === true
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [rows, parent] = next
    for (const foreignKey of rows.referrers) {
      for (const row of foreignKey.rowsOf(parent)) {
        if (isDeleted(foreignKey.rows, row)) continue
        if (foreignKey.onDelete === 'restrict') throw new ReferencedError(foreignKey.rows.name)
        if (foreignKey.onDelete === 'set null') freed.push([foreignKey, row])
        else {
          deleted.set(foreignKey.rows, (deleted.get(foreignKey.rows) ?? new Map<Id, Row>()).set(row.id, row))
          left.push([foreignKey.rows, row.id])
        }
      }
    }
  }
  for (const [rows, found] of deleted) for (const row of found.values()) rows.remove(row)
  for (const [{ rows, attribute }, { id }] of freed) {
    const row = rows.get(id, {})
    if (row !== undefined) rows.replace(row, Object.freeze(mergeMembers(row.attributes, { [attribute]: null })))
  }
}
