import type { Navigation, PossibleNavigation, Unlisted } from '../core/formats/view.js'

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
