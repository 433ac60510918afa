import type { TableOptions } from '../options.js'
import type { HiddenAttribute } from './settings.js'

/** The role of users without one. No user can have it by name. */
export const NO_ROLE = ''

/** Returns the options of the tables that have hidden attributes. */
export function hideAttributes (hidden: readonly HiddenAttribute[]): Readonly<Record<string, TableOptions>> {
  const roles = [...new Set(hidden.flatMap(({ role }) => role ?? []))]
  const options = (table: string): TableOptions => {
    const from = (role: string | undefined): string[] =>
      hidden.filter((one) => one.table === table && one.role === role).map(({ attribute }) => attribute)
    const hide = from(undefined)
    const byRole = roles.map((role) => [role, from(role).filter((name) => !hide.includes(name))] as const)
    return {
      ...(hide.length > 0 && { hide }),
      ...(byRole.some(([, names]) => names.length > 0) && {
        roles: Object.fromEntries([[NO_ROLE, {}], ...byRole.map(([role, hidden]) => [role, { hidden }])])
      })
    }
  }
  return Object.fromEntries(hidden.map(({ table }) => [table, options(table)]))
}
