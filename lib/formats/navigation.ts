/** The bar of all pages: the home page, and the lists of the app. */
export interface Navigation {
  /** The title of the app, which is the text of the link to the home page. */
  readonly title: string
  /** The path of the home page. */
  readonly href: string
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
