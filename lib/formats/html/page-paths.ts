import type { Link } from './model.js'

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
