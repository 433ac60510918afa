import type { Id, Row } from '../../../resource/row.js'
import type { Attributes } from '../../../schema/types.js'
import { compileCopy } from '../../../util/generated-code.js'
import type { Column, Dialect, RawRow } from '../dialect.js'
import type { Versions } from '../keys/versions.js'
import type { TableDefinition } from '../tables/definition.js'

/** Decodes the rows of a table. */
export class RowDecoder {
  readonly decodeId: (raw: RawRow) => Id
  /** Whether a row whose texts are cut still has its id and its version. */
  readonly identifiesCut: boolean
  readonly #versions: Versions
  readonly #decodeAttributes: (raw: RawRow) => Attributes
  readonly #longColumns: readonly Column[]
  readonly #isCut: Dialect['isCut']

  constructor ({ columns: { byAttribute }, ids, versions }: TableDefinition, { isCut }: Dialect) {
    this.decodeId = ids.decode
    this.#versions = versions
    this.identifiesCut = !versions.needsRow && (ids.isGenerated || !ids.parts.some(({ isLong }) => isLong))
    const columns = [...byAttribute.values()]
    this.#decodeAttributes = compileCopy(columns.map(({ name, attribute, decode }) =>
      ({ from: name, to: attribute, convert: decode })))
    this.#longColumns = columns.filter(({ isLong }) => isLong)
    this.#isCut = isCut
  }

  decode (raw: RawRow): Row {
    return { id: this.decodeId(raw), version: this.decodeVersion(raw), attributes: this.#decodeAttributes(raw) }
  }

  decodeVersion (raw: RawRow): string {
    return this.#versions.decode(raw)
  }

  /** Returns whether a text of a row that was read with `mostBytes` is cut. */
  isCut (raw: RawRow, mostBytes: number): boolean {
    for (const column of this.#longColumns) if (this.#isCut(raw[column.name], mostBytes, column)) return true
    return false
  }
}
