import type { Id, Row } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import { readMember, setMember } from '../../core/util/own-property.js'
import type { SqlColumn, RawRow } from '../dialect.js'
import type { Versions } from '../keys/versions.js'
import type { TableDefinition } from '../tables/definition.js'

/** Decodes the rows of a table. */
export class RowDecoder {
  readonly #decodeId: (raw: RawRow) => Id
  readonly #versions: Versions
  readonly #columns: readonly SqlColumn[]

  constructor ({ columns: { byAttribute }, ids, versions }: TableDefinition) {
    this.#decodeId = ids.decode
    this.#versions = versions
    this.#columns = [...byAttribute.values()]
  }

  decode (raw: RawRow): Row {
    return { id: this.#decodeId(raw), version: this.#versions.decode(raw), attributes: this.#decodeAttributes(raw) }
  }

  #decodeAttributes (raw: RawRow): Attributes {
    const attributes: Record<string, unknown> = {}
    for (const { name, attribute, decode } of this.#columns) {
      const value = decode(readMember(raw, name))
      if (value !== undefined) setMember(attributes, attribute, value)
    }
    return attributes
  }
}
