import type { PageView } from '../../format.js'
import type { Link } from '../views/model.js'

type ListAddress = Pick<PageView, 'path' | 'parameters'>

/** The list that was asked for, with some parameters otherwise; undefined takes one away. It begins at its beginning. */
export function linkTo (
  { path, parameters }: ListAddress,
  changes: Readonly<Record<string, string | undefined>>
): string {
  const given = Object.entries<string | undefined>({ ...parameters, after: undefined, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

/** What the links of a page are made of, for one place. */
export interface PagePaths {
  /** Of the list, or of a singleton. */
  readonly collection: string
  /** Whether there is a list. */
  readonly isListed: boolean
  /** Under which the rows are. */
  readonly members: string
  /** To the row that these belong to. */
  readonly parent: Link | undefined
}
