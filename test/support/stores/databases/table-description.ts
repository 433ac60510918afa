import type { TableDescription } from '../../../../lib/sql/sqlite/index.js'

/** Makes the description of a table with a column of texts, and changes some of its members. */
export function describeTable (members: Partial<TableDescription> = {}): TableDescription {
  return {
    name: 'posts',
    kind: 'table',
    id: 'integer',
    columns: {},
    attributes: { type: 'object', properties: { title: { type: 'string' } } },
    unique: [],
    references: {},
    version: 'values',
    canCreate: true,
    canUpdate: true,
    canDelete: true,
    needsVersion: false,
    problems: [],
    isServed: true,
    ...members
  }
}
