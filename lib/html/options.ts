import type { ConfiguredResource } from '../core/formats/format.js'
import type { AttributesSchema, Attributes } from '../core/schema/types.js'
import type { VisibleOf } from '../core/schema/infer.js'
import type { Language } from './languages/language.js'
import type { PageMessages } from './messages.js'
import type { ImportBounds } from './multipart.js'
import type { Brand } from './style/brand.js'
import type { Tones } from './values/render-value.js'
import type { RowTitle } from './values/row-names.js'
import type { Views } from './views/types.js'

declare module '../core/options/options.js' {
  interface FormatOptions<S extends AttributesSchema | undefined> {
    /** The options of the format `html`. Those of `html(…)` are their defaults. @default {} */
    readonly html?: HtmlOptions<VisibleOf<S>>
  }
}

/** The options of the appearance of an app, which its home page has, too. */
export interface AppearanceOptions {
  /**
   * The language of the pages (BCP 47), also for numbers, dates and the direction of texts. Of several languages, each
   * request gets the one that its `Accept-Language` prefers, or else the first. `'auto'` offers all languages that the
   * package has words for.
   * @default 'en'
   */
  readonly lang?: string | readonly string[]
  /** Words that replace those of the language, or a function that returns them for a language. @default {} */
  readonly messages?: Partial<PageMessages> | ((lang: string) => Partial<PageMessages>)
  /**
   * The colour of links and buttons, `'#rgb'` or `'#rrggbb'`, which is adjusted for contrast.
   * @default '#1d5fd1'
   */
  readonly accent?: string
  /** The name, the logo and further parts of the pages' face. @default {} */
  readonly brand?: Brand
  /**
   * Directives of the pages' Content-Security-Policy, which are added to the default ones or replace those of the same
   * name: `{ 'img-src': "'self'" }`. `false` sends no such header, for an app that sends its own.
   * @default {}
   */
  readonly contentSecurityPolicy?: Readonly<Record<string, string>> | false
}

/**
 * The options of the format `html`. `html({ … })` gives them to all resources with this format, and the option `html`
 * of a map, a scope or a resource to the resources in it.
 */
export interface HtmlOptions<A = Attributes> extends AppearanceOptions {
  /**
   * The time zone of dates and times on pages, such as `'Europe/Berlin'` (IANA). Forms keep the offset of each value.
   * @default none: each is shown with its own offset
   */
  readonly timeZone?: string
  /**
   * What names a row on pages: an attribute, a function of the row, or `'id'`.
   * @default the first and the last name, or else a text such as `name`, a unique text, the first required text, or
   * the id
   */
  readonly title?: RowTitle
  /** The columns of the list besides the name and the id, by the names of attributes. @default the first eight */
  readonly columns?: readonly string[]
  /**
   * The values of enumerations that are good or bad news, by attribute: `{ status: { paid: 'good', late: 'bad' } }`.
   * Their badges are green or red.
   * @default all badges are grey
   */
  readonly badges?: Readonly<Record<string, Readonly<Record<string, 'good' | 'bad'>>>>
  /** The length of a page of the list, in rows. @default 50, at most `maxLimit` */
  readonly pageSize?: number
  /**
   * Whether the list has a page that imports rows from a CSV file, or the bounds of such a file: its rows, and its size
   * in bytes or as a text such as `'16MB'`. It needs a store with transactions.
   * @default false; `true` stands for `{ rows: 20000, bytes: '16MB' }`
   */
  readonly import?: boolean | ImportOptions
  /** Functions that render pages and their parts. @default the views in `defaultViews` */
  readonly views?: Partial<Views<A>>
}

/** The bounds of an imported file. */
export interface ImportOptions {
  /** The most rows, up to 50000. @default 20000 */
  readonly rows?: number
  /** The largest size: a number of bytes, or a text such as `'500kB'` or `'16MB'`, up to 100 MB. @default '16MB' */
  readonly bytes?: number | string
}

/** A language that pages are offered in. */
export interface PageLanguage {
  /** The language tag: `de-AT`. */
  readonly tag: string
  /** The words of the package, or `undefined` for English and for a language that the package does not have. */
  readonly words: Language | undefined
  /** The words of the app, which take precedence. */
  readonly messages: Partial<PageMessages>
}

/** The checked options of the pages of a resource. */
export interface ResolvedHtmlOptions {
  /** The languages that are offered, the default one first. */
  readonly languages: readonly PageLanguage[]
  readonly views: Partial<Views>
  /** The colour of links and buttons, as `#rgb` or `#rrggbb`. */
  readonly accent: string
  readonly brand: Brand
  /** The time zone of the dates and times, or `undefined` to show each with its own offset. */
  readonly timeZone: string | undefined
  /** What names a row, or `undefined` for what the names of the attributes tell. */
  readonly title?: RowTitle | undefined
  /** The names of the columns of a list, or `undefined` for the first attributes. */
  readonly columns: readonly string[] | undefined
  /** The tones of the values of enumerations, by attribute. */
  readonly badges: ReadonlyMap<string, Tones>
  /** The bounds of an imported file, or `undefined` if there is no import. */
  readonly import: ImportBounds | undefined
  /** Directives that are added to the defaults or replace them, or `undefined` to send no such header. */
  readonly contentSecurityPolicy: Readonly<Record<string, string>> | undefined
}

/** The options for the pages in one language. */
export interface PageOptions extends Omit<ResolvedHtmlOptions, 'languages'> {
  readonly names: ConfiguredResource
  readonly language: PageLanguage
}
