import type { FoundTable, Right } from '../../tables/found-table.js'
import type { CatalogTable, TableParts } from './catalog-parts.js'

const VERBS = { create: 'create', update: 'change', delete: 'delete' } as const
const DONE = { create: 'created', update: 'changed', delete: 'deleted' } as const
const GRANTED: Readonly<Record<Right, (table: CatalogTable) => boolean>> = {
  create: ({ mayCreate }) => mayCreate,
  update: ({ mayUpdate }) => mayUpdate,
  delete: ({ mayDelete }) => mayDelete
}
/** The events of rules, by the writes that they replace. */
const EVENTS = { create: '3', update: '2', delete: '4' } as const
const RIGHTS = ['create', 'update', 'delete'] as const satisfies readonly Right[]

/** Returns whether the user may read some column of a table. */
export function isReadable ({ table, columns }: TableParts): boolean {
  return table.isReachable && (columns.length === 0 || columns.some(({ mayRead }) => mayRead))
}

/** Reads which writes a table allows, and why it does not allow the others. */
export function readRights (parts: TableParts): Pick<FoundTable, 'may' | 'problems'> {
  const problem = findProblem(parts)
  const policies = findPolicies(parts)
  if (problem !== undefined) {
    return { may: { create: false, update: false, delete: false }, problems: [problem, ...policies] }
  }
  const obstacles = RIGHTS.map((right) => findObstacle(right, parts))
  const [create, update, remove] = obstacles.map((obstacle) => obstacle === undefined) as [boolean, boolean, boolean]
  return {
    may: { create, update, delete: remove },
    problems: [...obstacles.flatMap((obstacle) => obstacle ?? []), ...policies]
  }
}

/** Returns a sentence about the policies of a table, if it has row security. */
function findPolicies ({ table: { name, hasPolicies } }: TableParts): string[] {
  return hasPolicies
    ? [`"${name}" has row security: rows that its policies hide are not shown, and writes that they forbid ` +
      'are refused.']
    : []
}

/** Returns why one kind of write is impossible, or `undefined` if it is possible. */
function findObstacle (right: Right, { table, columns }: TableParts): string | undefined {
  const { name, rules } = table
  if (!GRANTED[right](table)) return `The database does not let you ${VERBS[right]} rows of "${name}".`
  if (rules?.includes(EVENTS[right]) === true) {
    return `A rule of "${name}" replaces statements that ${VERBS[right]} rows, so rows cannot be ${DONE[right]}.`
  }
  const uncounted = right === 'create' ? columns.find(({ mayCount }) => !mayCount)?.name : undefined
  if (uncounted === undefined) return undefined
  return `The database does not let you use the sequence of "${uncounted}", which new rows of "${name}" need.`
}

/** Returns why no rows of a table can be written, or `undefined` if they can. */
function findProblem (parts: TableParts): string | undefined {
  const { name, schema, kind, rules, ...table } = parts.table
  if (!table.isReachable) return `The database does not let you use the schema "${schema}".`
  if (!isReadable(parts)) return `The database does not let you read "${name}".`
  if (table.isReadOnly) return 'The database is read-only.'
  if (kind === 'f') return `The foreign table "${name}" is read-only, because its key is unknown.`
  if (kind === 'm') return `The materialized view "${name}" is read-only.`
  if (kind === 'v') {
    const isWritable = rules !== null || table.hasTriggers
    return `The view "${name}" is read-only${isWritable ? ', although it has rules or triggers for writes' : ''}.`
  }
  if (!table.mayCreate && !table.mayUpdate && !table.mayDelete) return `The database does not let you write "${name}".`
  if (!table.hasHeirs) return undefined
  return `Other tables inherit from "${name}", so its keys are not unique, and its rows are read-only.`
}
