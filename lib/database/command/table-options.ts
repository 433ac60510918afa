import type { TableOptions } from '../options.js'
import type { Settings } from './settings.js'

/** The role of users without one. No user can have it by name. */
export const NO_ROLE = ''

/** Returns the options of the tables that have hidden attributes, or are searched by an index. */
export function makeTableOptions (
  { hidden, indexes }: Pick<Settings, 'hidden' | 'indexes'>
): Readonly<Record<string, TableOptions>> {
  const roles = [...new Set(hidden.flatMap(({ role }) => role ?? []))]
  const options = (table: string): TableOptions => {
    const from = (role: string | undefined): string[] =>
      hidden.filter((one) => one.table === table && one.role === role).map(({ attribute }) => attribute)
    const hide = from(undefined)
    const index = indexes.find((one) => one.table === table)?.index
    const byRole = roles.map((role) => [role, from(role).filter((name) => !hide.includes(name))] as const)
    return {
      ...(hide.length > 0 && { hide }),
      ...(byRole.some(([, names]) => names.length > 0) && {
        roles: Object.fromEntries([[NO_ROLE, {}], ...byRole.map(([role, hidden]) => [role, { hidden }])])
      }),
      ...(index !== undefined && { search: { index } })
    }
  }
  return Object.fromEntries([...hidden, ...indexes].map(({ table }) => [table, options(table)]))
}
