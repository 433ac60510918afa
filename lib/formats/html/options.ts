import type { PageMessages } from './messages.js'
import type { Views } from './views/types.js'

/** What an app says of its pages. */
export interface PageOptions {
  readonly lang: string
  readonly messages: Partial<PageMessages>
  readonly views: Partial<Views>
  /** `#rgb` or `#rrggbb` */
  readonly accent: string
  /** Undefined: the first that there are. */
  readonly columns: readonly string[] | undefined
  /** Directives beside ours, or in their place; undefined: the pages are sent without such a header. */
  readonly contentSecurityPolicy: Readonly<Record<string, string>> | undefined
}
