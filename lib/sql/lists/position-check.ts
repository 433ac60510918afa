import type { Id, Row } from '../../core/resource/row.js'
import type { Scalar } from '../../core/schema/types.js'
import { andThen, type MaybePromise } from '../../core/util/maybe-promise.js'
import type { Order, OrderBy, Position } from '../../core/stores/store.js'
import { decodeInteger } from '../columns/codec.js'
import type { Conditions } from '../conditions.js'
import type { RawRow } from '../dialect.js'
import { positionOfRow } from '../keys/id-columns.js'
import type { BoundStatement } from '../statements.js'
import type { TableDefinition } from '../tables/definition.js'
import type { Comparison } from './keyset.js'
import { COUNT, type ListStatements } from './list-statements.js'

/** A row after which a list continues: its id, and its position in the order of the statements. */
export interface Place {
  readonly id: Id
  readonly position: Position
}

/** The comparison of a criterion with the value of a position. */
type Equality = Comparison & OrderBy

/** How a check reads the table. */
export interface CheckReader {
  select (bound: BoundStatement): MaybePromise<readonly RawRow[]>
  get (id: Id): MaybePromise<Row | undefined>
}

/** Returns whether a text has U+FFFD, which a driver returns for bytes that are not UTF-8. A table may hold it, too. */
export function mayBeReplaced (value: unknown): boolean {
  return typeof value === 'string' && value.includes('\ufffd')
}

/**
 * Checks the places where lists continue. A list that continued after a text which the driver has altered would repeat
 * or lose rows.
 */
export class PositionCheck {
  readonly #definition: TableDefinition
  readonly #conditions: Conditions
  readonly #statements: ListStatements

  constructor (definition: TableDefinition, conditions: Conditions, statements: ListStatements) {
    this.#definition = definition
    this.#conditions = conditions
    this.#statements = statements
  }

  /**
   * Throws if the table holds another text than a place. Only a text with U+FFFD may differ. The row may have been
   * deleted or changed. No id finds a row whose key has other bytes.
   */
  verify (place: Place, order: Order, reader: CheckReader): MaybePromise<void> {
    const equal = equalTo(order, place.position)
    if (!equal.some(({ value }) => mayBeReplaced(value))) return
    return andThen(this.#exists(equal, reader), (exists) => {
      if (exists) return
      return andThen(reader.get(place.id), (row) => {
        if (row === undefined ? mayBeReplaced(place.id) : this.#isAt(row, equal)) throw this.#refuse(equal)
      })
    })
  }

  #exists (conditions: readonly Comparison[], { select }: CheckReader): MaybePromise<boolean> {
    const found = select(this.#statements.count(conditions, { scope: {}, most: 1 }, []))
    return andThen(found, ([row]) => decodeInteger(row?.[COUNT]) > 0)
  }

  /** Throws if one of the rows that the database returned after a place is the row at the place. */
  checkRows (rows: readonly Row[], { id, position }: Place, order: Order): void {
    for (const row of rows) {
      if (row.id !== id) continue
      const equal = equalTo(order, position)
      if (this.#isAt(row, equal)) throw this.#refuse(equal)
    }
  }

  /** Returns whether a row has a position. A row that has changed has another one. */
  #isAt (row: Row, equal: readonly Equality[]): boolean {
    return positionOfRow(this.#definition.ids, row, equal).every((value, index) => value === equal[index]?.value)
  }

  #refuse (equal: readonly Equality[]): Error {
    const texts = equal.filter(({ value }) => typeof value === 'string')
    const columns = texts.map(({ by }) => this.#conditions.columnOf(by).quoted).join(' or ')
    return new Error(
      `resources: a list of the table ${this.#definition.quoted} cannot continue after a row, because the driver ` +
      `does not return its text in the column ${columns} as the table holds it. The text contains U+0000, or bytes ` +
      'that are not UTF-8. Repair it by the statements in docs/existing-tables.md, section "Texts that a driver ' +
      'changes". If the text has U+FFFD and its row was deleted, read the list from its beginning.'
    )
  }
}

function equalTo (order: Order, position: Position): readonly Equality[] {
  return order.map((criterion, index) => ({ ...criterion, is: '=', value: position[index] as Scalar }))
}
