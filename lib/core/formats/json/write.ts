import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileRead, compileVisible } from '../../resource/visible.js'
import { lazy } from '../../util/functions.js'
import { setMember } from '../../util/own-property.js'
import type { Writer, WriterContext } from '../format.js'

/** Compiles the JSON writer of a resource. */
export function compileJsonWriter (whole: Resource, { selection }: Pick<WriterContext, 'selection'>): Writer {
  const resource = selection?.resource ?? whole
  const { plural, singular } = resource
  const makeRecord = lazy(() => compileRecord(resource))
  return {
    document: (row) => ({ [singular]: makeRecord()(row) }),
    serialize: JSON.stringify,
    list: {
      open: `{"${plural}":[`,
      row: (row) => JSON.stringify(makeRecord()(row)),
      separator: ',',
      close: ']}'
    },
    problemType: 'application/problem+json'
  }
}

/**
 * Compiles a function that makes `{ id, …attributes }` of a row, in the order of the schema, without undeclared and
 * `writeOnly` attributes. A singleton has no id.
 */
function compileRecord (resource: Resource): (row: Row) => Readonly<Record<string, unknown>> {
  const { open, singleton } = resource
  if (open) return singleton ? ({ attributes }) => ({ ...attributes }) : ({ id, attributes }) => ({ id, ...attributes })
  const visible = [...compileVisible(resource)].map(([name, hide]) => ({ name, read: compileRead(name, hide) }))
  return ({ id, attributes }) => {
    const record: Record<string, unknown> = singleton ? {} : { id }
    for (const { name, read } of visible) {
      const value = read(attributes)
      if (value !== undefined) setMember(record, name, value)
    }
    return record
  }
}
