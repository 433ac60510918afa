import type { NavigationLink } from '../../core/formats/view.js'
import { type Content, markup, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { Alternate, PageFrame } from './model.js'

/** The members of a page that its document shows around the content. */
export type DocumentFrame =
  Pick<
    PageFrame,
    'title' | 'crumbs' | 'alternates' | 'stylesheet' | 'brand' | 'lang' | 'dir' | 'messages' | 'navigation'
  >

/** Renders a document with the links above and below its content. */
export function renderDocument (frame: DocumentFrame, title: Content, content: Markup, hasRows = false): Markup {
  return markup`${openDocument(frame, title, hasRows)}${content}${closeDocument(frame)}`
}

export function openDocument (frame: DocumentFrame, title: Content, hasRows: boolean): Markup {
  const { lang, dir, stylesheet, brand, alternates, messages, navigation } = frame
  const hasBar = navigation !== undefined || brand.name !== undefined
  return markup`<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>${title}${brand.name !== undefined && [DASH, brand.name]}</title>
<link rel="stylesheet" href="${stylesheet}"/>
${brand.stylesheet !== undefined && markup`<link rel="stylesheet" href="${brand.stylesheet}"/>\n`}${
  alternates.map(({ href, mediaType }) => markup`<link rel="alternate" type="${mediaType}" href="${href}"/>\n`)
}${isGiven(brand.head) && markup`${brand.head}\n`}</head>
<body>
<a class="skip" href="#main">${messages.skip}</a>
${
  hasRows && markup`<a class="skip" href="#rows">${messages.skipToRows}</a>\n`
}${hasBar && renderBar(frame)}${renderHeader(frame)}<main id="main">
`
}

export function closeDocument (frame: DocumentFrame): Markup {
  return markup`</main>
${renderFooter(frame)}</body>
</html>
`
}

// The characters are written as references. A single character beyond Latin-1 makes V8 store the whole page with two
// bytes a character, which more than doubles the time to write and send it (`test/bench`).
export const DASH: Markup = raw(' &#8211; ')
const SEPARATOR = raw(' &#183; ')

/** Returns whether a part of the brand is given. */
function isGiven (part: Content): boolean {
  return part !== undefined && part !== null && part !== false
}

function renderHeader ({ crumbs, title, messages, brand: { header } }: DocumentFrame): Content {
  const breadcrumb = crumbs.length > 0 && markup`<nav aria-label="${messages.breadcrumb}"><ol class="breadcrumb">${
    crumbs.map(({ label, href }) => markup`<li><a href="${href}">${label}</a></li>`)
  }<li aria-current="page">${title}</li></ol></nav>`
  return (crumbs.length > 0 || isGiven(header)) && markup`<header>${header}${breadcrumb}</header>\n`
}

function renderFooter ({ alternates, messages, brand: { footer } }: DocumentFrame): Content {
  const links = alternates.length > 0 && markup`<p>${messages.alsoAs} ${alternates.map(renderAlternate)}</p>`
  return (alternates.length > 0 || isGiven(footer)) && markup`<footer>${links}${footer}</footer>\n`
}

function renderAlternate ({ label, href, mediaType }: Alternate, index: number): Markup {
  return markup`${index > 0 && SEPARATOR}<a href="${href}" type="${mediaType}">${label}</a>`
}

/** Renders the bar: the brand, which leads to the home page, and the links of the app. */
function renderBar ({ navigation, crumbs, brand: { name, logo }, messages }: DocumentFrame): Content {
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
${links.map((link) => renderBarLink(link, crumbs.length === 0))}${
  hasMore && markup`<li><a href="${href}">${messages.allResources}</a></li>\n`
}</ul></nav>
`
}

function renderBarLink ({ label, href, isCurrent }: NavigationLink, isOutermost: boolean): Markup {
  const current = isOutermost ? 'page' : 'true'
  return markup`<li><a href="${href}"${isCurrent && markup` aria-current="${current}"`}>${label}</a></li>\n`
}

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
