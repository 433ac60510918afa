import { compileMember } from '../../members.js'
import type { Resource } from '../../resource.js'
import type { Attributes, Id, Stored } from '../../stores/store.js'
import { compileVisible } from '../../visible.js'

/** Anything that JSON.stringify would change in a string. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/ // eslint-disable-line no-control-regex

/** What goes out of a row: `{ id, …attributes }`, without what is not declared, and what is `writeOnly`. */
export type MakeRecord = (row: Stored) => { readonly id: Id, readonly [name: string]: unknown }

export function compileRecord (resource: Resource): MakeRecord {
  if (resource.open) return ({ id, attributes }) => ({ id, ...attributes })
  const parts = [...compileVisible(resource)].map(([name, see]) => ({ name, read: compileMember(name), see }))
  return ({ id, attributes }) => {
    const record: { id: Id, [name: string]: unknown } = { id }
    for (const { name, read, see } of parts) {
      const value = read(attributes)
      if (value !== undefined) record[name] = see(value)
    }
    return record
  }
}

/**
 * Writes a row as a JSON object: the id, then the attributes in the order of the schema. Values are written by their own
 * type, nothing is coerced.
 */
export function compileJsonRow (resource: Resource): (id: Id, attributes: Attributes) => string {
  if (resource.open) return (id, attributes) => JSON.stringify({ id, ...attributes })
  const parts = [...compileVisible(resource)].map(([name, see]) => ({ key: `,${JSON.stringify(name)}:`, read: compileMember(name), see }))
  return (id, attributes) => {
    let text = `{"id":${writeValue(id)}`
    for (const { key, read, see } of parts) {
      const value = read(attributes)
      if (value !== undefined) text += key + writeValue(see(value))
    }
    return text + '}'
  }
}

function writeValue (value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`
}
