import type { FastifyRequest } from 'fastify'
import { type Content, markup } from '../html-tag.js'

/** The context of a function in a brand. */
export interface BrandContext {
  /** The request that is answered. */
  readonly request: FastifyRequest
  /** The language tag of the page. */
  readonly lang: string
}

/** Markup for a place on every page, a text that is escaped, or a function that returns one for each page. */
export type BrandPart = Content | ((context: BrandContext) => Content)

/** The face of an app on its pages. */
export interface Brand {
  /** The name of the app, in the bar and at the end of the titles of documents. @default the title of the home page */
  readonly name?: string
  /** The path or the URL of a logo, which stands before the name. It needs a `name`. @default none */
  readonly logo?: string
  /** The families of the fonts, as in CSS: `'Inter, sans-serif'`. @default the font of the user's system */
  readonly font?: string
  /** The height of rows. @default 'comfortable' */
  readonly density?: 'comfortable' | 'compact'
  /** The path or the URL of a stylesheet that follows the one of the package. @default none */
  readonly stylesheet?: string
  /** Elements at the end of `<head>`, such as a link to an icon. @default none */
  readonly head?: BrandPart
  /** Content at the top of each page, below the bar. @default none */
  readonly header?: BrandPart
  /** Content at the bottom of each page. @default none */
  readonly footer?: BrandPart
}

const PARTS = ['head', 'header', 'footer'] as const

/** The brand as a page shows it. */
export interface PageBrand {
  /** The name of the app. */
  readonly name: string | undefined
  /** The path or the URL of its logo. */
  readonly logo: string | undefined
  /** The path or the URL of its stylesheet. */
  readonly stylesheet: string | undefined
  /** The elements at the end of `<head>`. */
  readonly head: Content
  /** The content at the top. */
  readonly header: Content
  /** The content at the bottom. */
  readonly footer: Content
}

/** Returns whether the parts of a brand can differ between two requests. */
export function dependsOnRequest (brand: Brand): boolean {
  return PARTS.some((name) => typeof brand[name] === 'function')
}

/** Makes the brand of a page: calls its functions. */
export function resolveBrand (
  { name, logo, stylesheet, ...parts }: Brand,
  context: BrandContext
): PageBrand {
  const resolve = (part: BrandPart): Content => typeof part === 'function' ? markup`${part(context)}` : part
  return {
    name, logo, stylesheet, head: resolve(parts.head), header: resolve(parts.header), footer: resolve(parts.footer)
  }
}
