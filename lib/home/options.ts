import type { AppearanceOptions } from '../html/options.js'

/** The options of the home page. */
export interface HomeOptions extends AppearanceOptions {
  /** The title of the app: the heading of the page, and the first link of the bar on all pages. */
  readonly title: string
  /** The path of the page, below the prefix of the instance. @default '/' */
  readonly path?: string
  /**
   * Whether unknown paths below the prefix are answered with a page that leads home, or with an error in XML or JSON.
   * The app has no other handler for them then.
   * @default false
   */
  readonly notFound?: boolean
}
