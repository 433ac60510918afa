import type { Id, Row } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import { readMember, setMember } from '../../core/util/own-property.js'
import type { Column, Dialect, RawRow } from '../dialect.js'
import type { Versions } from '../keys/versions.js'
import type { TableDefinition } from '../tables/definition.js'

/** Decodes the rows of a table. */
export class RowDecoder {
  readonly decodeId: (raw: RawRow) => Id
  /** Whether a row whose texts are cut still has its id and its version. */
  readonly identifiesCut: boolean
  readonly #versions: Versions
  readonly #columns: readonly Column[]
  readonly #longColumns: readonly Column[]
  readonly #isCut: Dialect['isCut']

  constructor ({ columns: { byAttribute }, ids, versions }: TableDefinition, { isCut }: Dialect) {
    this.decodeId = ids.decode
    this.#versions = versions
    this.identifiesCut = !versions.needsRow && (ids.isGenerated || !ids.parts.some(({ isLong }) => isLong))
    this.#columns = [...byAttribute.values()]
    this.#longColumns = this.#columns.filter(({ isLong }) => isLong)
    this.#isCut = isCut
  }

  decode (raw: RawRow): Row {
    return { id: this.decodeId(raw), version: this.decodeVersion(raw), attributes: this.#decodeAttributes(raw) }
  }

  #decodeAttributes (raw: RawRow): Attributes {
    const attributes: Record<string, unknown> = {}
    for (const { name, attribute, decode } of this.#columns) {
      const value = decode(readMember(raw, name))
      if (value !== undefined) setMember(attributes, attribute, value)
    }
    return attributes
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
