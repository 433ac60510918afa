import type { LoadedLanguage } from './languages/language.js'
import type { PageMessages } from './messages.js'
import type { Brand } from './style/brand.js'
import type { RowTitle } from './values/row-names.js'
import type { Views } from './views/types.js'

/** A language that pages are offered in. */
export interface PageLanguage {
  /** The language tag: `de-AT`. */
  readonly tag: string
  /** The words of the package, or `undefined` for English and for a language that the package does not have. */
  readonly words: LoadedLanguage | undefined
  /** The words of the app, which take precedence. */
  readonly messages: Partial<PageMessages>
}

/** The options for the pages of a resource. */
export interface HtmlOptions {
  /** The languages that are offered, the default one first. */
  readonly languages: readonly PageLanguage[]
  readonly views: Partial<Views>
  /** The colour of links and buttons, as `#rgb` or `#rrggbb`. */
  readonly accent: string
  readonly brand: Brand
  /** The time zone of the dates and times, or `undefined` to show each with its own offset. */
  readonly timeZone: string | undefined
  /** What names a row, or `undefined` for the first required text. */
  readonly title?: RowTitle | undefined
  /** The names of the columns of a list, or `undefined` for the first attributes. */
  readonly columns: readonly string[] | undefined
  /** Directives that are added to the defaults or replace them, or `undefined` to send no such header. */
  readonly contentSecurityPolicy: Readonly<Record<string, string>> | undefined
}

/** The options for the pages in one language. */
export interface PageOptions extends Omit<HtmlOptions, 'languages'> {
  readonly language: PageLanguage
}
