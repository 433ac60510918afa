import { IdConflictError, NotFoundError } from '../../errors.js'
import type { Entries, Reader } from '../../formats/format.js'
import { parseId, type Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { abbreviate } from '../../util/truncate.js'

/** An id as one part of a request spells it; `id` is undefined if the text is no id. */
interface Claim {
  readonly text: string
  readonly id: Id | undefined
}

/** The ids that a write names in its path, its query and its body. */
export class IdClaims {
  readonly #resource: Resource
  readonly #reader: Reader
  readonly #claims: Claim[] = []

  constructor (resource: Resource, reader: Reader) {
    this.#resource = resource
    this.#reader = reader
  }

  get isEmpty (): boolean {
    return this.#claims.length === 0
  }

  addText (text: string | undefined): void {
    if (text !== undefined && text !== '') this.#claims.push({ text, id: parseId(this.#resource.idType, text) })
  }

  /** Adds the member `id` of a body, or of the group of attributes in it. A singleton has no id. */
  addMember (entries: Entries | undefined): void {
    const node = entries?.id
    if (node === undefined || this.#resource.singleton) return
    const value = this.#reader.scalar(node)
    if (this.#reader.typed) return this.#addValue(value)
    for (const text of Array.isArray(value) ? value : [value]) this.addText(text)
  }

  /** JSON is not converted: `"1"` is no id of a resource whose ids are numbers. */
  #addValue (value: unknown): void {
    if (value === null || value === '') return
    const { idType } = this.#resource
    const text = typeof value === 'object' ? 'an object' : String(value)
    const isOfType = idType === 'integer' ? typeof value === 'number' : typeof value === 'string'
    this.#claims.push({ text, id: isOfType ? parseId(idType, text) : undefined })
  }

  /**
   * Returns the one id that is named; undefined if none is.
   * @throws IdConflictError, NotFoundError
   */
  agree (): Id | undefined {
    const [first] = this.#claims
    if (first === undefined) return undefined
    const other = this.#claims.find(({ text }) => text !== first.text)
    if (other !== undefined) throw new IdConflictError(abbreviate(first.text), abbreviate(other.text))
    if (this.#claims.some(({ id }) => id === undefined)) {
      throw new NotFoundError(this.#resource.singular, JSON.stringify(abbreviate(first.text)))
    }
    return first.id
  }
}
