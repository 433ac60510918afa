import type { Resource } from '../core/resource/resource.js'

/** The bar of all pages: the home page, and the lists of the app. */
export interface Navigation {
  /** The title of the app, which is the text of the link to the home page. */
  readonly title: string
  /** The path of the home page. */
  readonly href: string
  /** Whether the page is the home page. */
  readonly isCurrent: boolean
  /** The links to lists, and to singletons. */
  readonly links: readonly NavigationLink[]
  /** Whether the home page links to more than these. */
  readonly hasMore: boolean
}

/** A link of the bar. */
export interface NavigationLink {
  /** The text of the link. */
  readonly label: string
  /** The path. */
  readonly href: string
  /** Whether the page belongs to that list. */
  readonly isCurrent: boolean
}

/** A link that a bar may have. */
export interface PossibleLink extends NavigationLink {
  readonly resource: Resource
  /** Whether `authorize` or a scope decides for each request if it may open the list. */
  readonly isGuarded: boolean
}

/** The bar of the pages of a resource, with all links that one of its pages may have. */
export type PossibleNavigation = Pick<Navigation, 'title' | 'href'> & { readonly links: readonly PossibleLink[] }

/** The resources whose lists a request may not open, as far as was asked; `undefined` if nothing was asked. */
export type Unlisted = ReadonlySet<Pick<Resource, 'plural'>> | undefined

/** The most links of a bar, beside the one to the home page. */
const MOST_LINKS = 8

/** Returns the bar of a request. If nothing was asked, it only leads home. */
export function chooseLinks ({ title, href, links: all }: PossibleNavigation, unlisted: Unlisted): Navigation {
  const links = all.filter(({ resource }) => unlisted?.has(resource) === false)
  const shown = links.length > MOST_LINKS
    ? links.filter(({ isCurrent }, index) => isCurrent || index < MOST_LINKS - 1)
    : links
  const chosen = shown.map(({ label, href, isCurrent }) => ({ label, href, isCurrent }))
  return { title, href, isCurrent: false, links: chosen, hasMore: shown.length < links.length }
}
