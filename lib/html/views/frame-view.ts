import type { NavigationLink } from '../../core/formats/view.js'
import { type Content, markup, type Markup } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { PageFrame } from './model.js'

/** The notices about the write before a page, by the fragment of the path that shows each. */
const NOTICES = ['saved', 'created', 'deleted', 'done'] as const

/** Renders all notices. The stylesheet shows the one that the fragment of the URL names. */
export function renderNotices (messages: PageMessages): Markup {
  return markup`${NOTICES.map((name) => renderNotice(name, messages[name]))}`
}

/** Renders a notice. Following a link to it focuses it, so that a screen reader reads it. */
export function renderNotice (id: string, text: string): Markup {
  return markup`<p id="${id}" class="notice" role="status" tabindex="-1" hidden="hidden">${text}</p>\n`
}

type BarMember = 'navigation' | 'crumbs' | 'brand' | 'messages'

/** Renders the bar: the brand, which leads to the home page, and the links of the app. */
export function renderBar (
  { navigation, crumbs, brand: { name, logo }, messages }: Pick<PageFrame, BarMember>
): Content {
  const image = logo !== undefined && markup`<img src="${logo}" alt=""/>`
  if (navigation === undefined) {
    const brand = markup`<li class="brand"><span>${image}${name}</span></li>`
    return markup`<div class="bar"><ul>${brand}</ul></div>\n`
  }
  const { title, href, isCurrent, links, hasMore } = navigation
  return markup`<nav class="bar" aria-label="${
    messages.navigation
  }"><ul>
<li class="brand"><a href="${href}"${isCurrent && markup` aria-current="page"`}>${image}${name ?? title}</a></li>
${links.map((link) => renderLink(link, crumbs.length === 0))}${
  hasMore && markup`<li><a href="${href}">${messages.allResources}</a></li>\n`
}</ul></nav>
`
}

function renderLink ({ label, href, isCurrent }: NavigationLink, isOutermost: boolean): Markup {
  const current = isOutermost ? 'page' : 'true'
  return markup`<li><a href="${href}"${isCurrent && markup` aria-current="${current}"`}>${label}</a></li>\n`
}
