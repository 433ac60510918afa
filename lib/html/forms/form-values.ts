import type { Resource } from '../../core/resource/resource.js'
import type { Id } from '../../core/resource/row.js'
import { isPartial } from '../../core/resource/visible.js'
import { isLegalValue, isOpenName } from '../../core/schema/legal-text.js'
import type { Attributes } from '../../core/schema/types.js'
import { isSame, isStructure, ownMember } from '../../core/util/own-property.js'
import { digest } from '../../core/formats/form/read.js'
import { MARKER } from '../../core/formats/form/parse.js'
import type { RowName } from '../values/row-names.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { HiddenField } from '../views/model.js'
import { PARTIAL } from './controls.js'

/** The row that a form is for. */
export interface FormTarget {
  /** The path that the form is posted to. */
  readonly action: string
  readonly id: Id
  readonly version: string | undefined
  readonly name: RowName
}

/**
 * Makes the hidden fields of a form for a row.
 * @param digests the digests of the values with which the form begins, or `undefined` if it sends none
 */
export function makeHidden (
  { singular, singleton }: Resource,
  method: string,
  { id, version }: Pick<FormTarget, 'id' | 'version'>,
  digests: string | undefined
): HiddenField[] {
  return [
    { name: '_method', value: method },
    ...(singleton ? [] : [{ name: 'id', value: String(id) }]),
    ...(hasVersion(version) ? [{ name: '_version', value: version }] : []),
    ...(digests === undefined ? [] : [{ name: `${singular}[${MARKER}][was]`, value: digests }])
  ]
}

/** Returns whether a form names the version of its row. A row from a custom action may have none. */
export function hasVersion (version: string | undefined): version is string {
  return version !== undefined && version !== ''
}

type Read = (attributes: Attributes) => unknown

/** The values that the forms of a resource may show. */
export class FormValues {
  readonly #shown: ShownAttributes
  readonly #isOpen: boolean
  /** The functions that read the declared attributes. */
  readonly #readers: ReadonlyMap<string, Read>

  constructor ({ open, attributes }: Resource, shown: ShownAttributes) {
    this.#shown = shown
    this.#isOpen = open
    const sendable = [...attributes.values()].filter(({ readOnly, writeOnly, shape }) =>
      !readOnly && !writeOnly && !isPartial(shape))
    this.#readers = new Map(sendable.map(({ name }) => [name, this.#makeReader(name)]))
  }

  has (name: string): boolean {
    return this.#isOpen || this.#readers.has(name)
  }

  /** Returns the value of an attribute, or `PARTIAL` if a form may not show all of it or could not send it back. */
  read (name: string, attributes: Attributes): unknown {
    const read = this.#isOpen ? this.#makeReader(name) : this.#readers.get(name)
    return read?.(attributes)
  }

  #makeReader (name: string): Read {
    const read = this.#shown.find(name)?.read as Read
    return (attributes) => {
      const value = read(attributes)
      // A form could not send such a value back.
      if (this.#isOpen && !isLegalValue(value)) return PARTIAL
      return isStructure(value) && !isSame(value, ownMember(attributes, name)) ? PARTIAL : value
    }
  }

  /** Returns a digest of each attribute, for the form. Later it tells who has changed a value. Names have no spaces. */
  digests (attributes: Attributes): string {
    const names = this.#isOpen ? Object.keys(attributes).filter(isOpenName) : this.#readers.keys()
    let text = ''
    for (const name of names) {
      const value = this.read(name, attributes)
      if (value !== PARTIAL) text += `${text === '' ? '' : ' '}${name} ${digest(value)}`
    }
    return text
  }
}
