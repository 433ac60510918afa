import type { PageMessages } from './messages.js'
import type { RowTitle } from './values/row-names.js'
import type { Views } from './views/types.js'

/** The options for the pages of a resource. */
export interface PageOptions {
  readonly lang: string
  readonly messages: Partial<PageMessages>
  readonly views: Partial<Views>
  /** The colour of links and buttons, as `#rgb` or `#rrggbb`. */
  readonly accent: string
  /** What names a row, or `undefined` for the first required text. */
  readonly title?: RowTitle | undefined
  /** The names of the columns of a list, or `undefined` for the first attributes. */
  readonly columns: readonly string[] | undefined
  /** Directives that are added to the defaults or replace them, or `undefined` to send no such header. */
  readonly contentSecurityPolicy: Readonly<Record<string, string>> | undefined
}
