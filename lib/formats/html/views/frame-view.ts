import type { Navigation, NavigationLink } from '../../navigation.js'
import { html, type Markup } from '../html-tag.js'
import type { PageMessages } from '../messages.js'

/** The notices about the write before a page, by the fragment of the path that shows each. */
const NOTICES = ['saved', 'created', 'deleted', 'done'] as const

/** Renders all notices. The stylesheet shows the one that the fragment of the URL names. */
export function renderNotices (messages: PageMessages): Markup {
  return html`${NOTICES.map((name) => renderNotice(name, messages[name]))}`
}

/** Renders a notice. Following a link to it focuses it, so that a screen reader reads it. */
export function renderNotice (id: string, text: string): Markup {
  return html`<p id="${id}" class="notice" role="status" tabindex="-1" hidden="hidden">${text}</p>\n`
}

/** Renders the bar with the links of the app. `isOutermost` says that the page is the current list itself. */
export function renderBar (
  { title, href, links, hasMore }: Navigation,
  messages: PageMessages,
  isOutermost: boolean
): Markup {
  return html`<nav class="bar" aria-label="${messages.navigation}"><ul>
<li class="brand"><a href="${href}"${links.length === 0 && html` aria-current="page"`}>${title}</a></li>
${links.map((link) => renderLink(link, isOutermost))}${
  hasMore && html`<li><a href="${href}">${messages.allResources}</a></li>\n`
}</ul></nav>
`
}

function renderLink ({ label, href, isCurrent }: NavigationLink, isOutermost: boolean): Markup {
  const current = isOutermost ? 'page' : 'true'
  return html`<li><a href="${href}"${isCurrent && html` aria-current="${current}"`}>${label}</a></li>\n`
}
