import type { PageView } from '../format.js'

type ListAddress = Pick<PageView, 'path' | 'parameters'>

/** The list that was asked for, with some parameters otherwise; undefined takes one away. It begins at its beginning. */
export function linkTo ({ path, parameters }: ListAddress, changes: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries<string | undefined>({ ...parameters, after: undefined, ...changes }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}
