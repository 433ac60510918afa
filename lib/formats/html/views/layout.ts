import { type Content, html, type Markup, raw } from '../html-tag.js'
import type { Alternate, Page } from './model.js'

export function layout (page: Page, content: Markup): Markup {
  const { lang, dir, stylesheet, alternates, messages } = page
  return html`<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>${titleOf(page)}</title>
<link rel="stylesheet" href="${stylesheet}"/>
${alternates.map(({ href, mediaType }) => html`<link rel="alternate" type="${mediaType}" href="${href}"/>\n`)}</head>
<body>
<a class="skip" href="#main">${messages.skip}</a>
${renderCrumbs(page)}<main id="main">
${content}</main>
${alternates.length > 0 && html`<footer><p>${messages.alsoAs} ${alternates.map(renderAlternate)}</p></footer>\n`}</body>
</html>
`
}

/** What is wrong is said first: it is what a screen reader says first. */
function titleOf (page: Page): Content {
  const isForm = page.kind === 'edit' || page.kind === 'stale'
  const isWrong = isForm && page.form !== undefined && page.form.errors.length > 0
  const title = isWrong ? page.messages.problemTitle(page.title) : page.title
  return page.parent === undefined ? title : [title, DASH, page.parent.label]
}

// As references, since one character beyond Latin-1 makes a text of two bytes a character: without one, all of the page
// is written and sent in less than half the time (`test/bench`).
const DASH = raw(' &#8211; ')
const SEPARATOR = raw(' &#183; ')

function renderCrumbs ({ crumbs, title, messages }: Page): Content {
  return crumbs.length > 0 && html`<header><nav aria-label="${messages.breadcrumb}"><ol class="breadcrumb">${
    crumbs.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)
  }<li aria-current="page">${title}</li></ol></nav></header>\n`
}

function renderAlternate ({ label, href, mediaType }: Alternate, index: number): Markup {
  return html`${index > 0 && SEPARATOR}<a href="${href}" type="${mediaType}">${label}</a>`
}
