import type { Attributes, Id, Store, Row } from '../../../lib/index.js'

/** Returns a custom store with string ids: the given ones, and the title of each new row. */
export function textStore (ids: readonly string[] = []): Store {
  const rows = new Map<Id, Row>()
  const put = (id: Id, version: number, attributes: Attributes): Row => {
    const row = Object.freeze({ id, version: String(version), attributes: Object.freeze(attributes) })
    rows.set(id, row)
    return row
  }
  for (const id of ids) put(id, 1, { title: `of ${id}` })
  return {
    id: 'string',
    list: () => [[...rows.values()]],
    get: (id) => rows.get(id),
    create: (attributes) => put(String(attributes.title), 1, attributes),
    update (id, changes) {
      const row = rows.get(id)
      return row === undefined
        ? { ok: false, why: 'missing' }
        : { ok: true, row: put(id, Number(row.version) + 1, { ...row.attributes, ...changes }) }
    },
    delete (id) {
      const row = rows.get(id)
      rows.delete(id)
      return row === undefined ? { ok: false, why: 'missing' } : { ok: true, row }
    }
  }
}
