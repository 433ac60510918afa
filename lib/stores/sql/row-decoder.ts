import type { Id, Row } from '../../resource/row.js'
import { decodeInteger, isLongKind } from './column.js'
import type { Column, Dialect, RawRow } from './dialect.js'
import type { TableDefinition } from './table-check.js'

/** Decodes the rows of a table. */
export class RowDecoder {
  readonly #id: string
  readonly #version: string
  readonly #columns: readonly Column[]
  readonly #longColumns: readonly string[]
  readonly #isCut: Dialect['isCut']
  readonly #hasUuids: boolean

  constructor ({ columns: { id, version, byAttribute }, idType }: TableDefinition, { isCut }: Dialect) {
    this.#id = id
    this.#version = version
    this.#columns = [...byAttribute.values()]
    this.#longColumns = this.#columns.filter(isLongKind).map(({ name }) => name)
    this.#isCut = isCut
    this.#hasUuids = idType === 'uuid'
  }

  decode (raw: RawRow): Row {
    const attributes: Record<string, unknown> = {}
    for (const { attribute, name, decode } of this.#columns) {
      const value = decode(raw[name])
      if (value !== undefined) attributes[attribute] = value
    }
    return { id: this.decodeId(raw), version: this.decodeVersion(raw), attributes }
  }

  decodeId (raw: RawRow): Id {
    return this.#hasUuids ? raw[this.#id] as string : decodeInteger(raw[this.#id])
  }

  decodeVersion (raw: RawRow): string {
    return String(raw[this.#version])
  }

  /** Returns whether a text of a row that was read with `mostBytes` is cut. */
  isCut (raw: RawRow, mostBytes: number): boolean {
    return this.#longColumns.some((name) => this.#isCut(raw[name], mostBytes))
  }
}
