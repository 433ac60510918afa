import { HtmlValidate } from 'html-validate'
import { SaxesParser } from 'saxes'
import t from 'tap'
import { takePages, takeSpecimenPages } from '../../../support/html/chromium.js'

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:standard', 'html-validate:recommended'],
  rules: {
    // The rule counts `&quot;` as six characters. A title has at most 50 characters beside its other words, as has that
    // of its parent.
    'long-title': ['error', { maxlength: 130 }],
    // A parser of XML reads the same pages. An empty element closes itself, and each attribute has a value.
    'void-style': ['error', { style: 'selfclose' }],
    'attribute-boolean-style': ['error', { style: 'name' }],
    // An id may have any characters except white space (HTML §3.2.6). Ours contain the names of attributes.
    'valid-id': ['error', { relaxed: true }]
  }
})

t.test('every page is valid HTML', async (t) => {
  for (const { name, html } of [...(await takePages(t)).pages, ...(await takeSpecimenPages(t)).pages]) {
    const { results } = await validator.validateString(html)
    t.strictSame(
      results.flatMap(({ messages }) => messages.map(({ ruleId, message, line, column }) => `${ruleId}: ${message} ` +
        `(${line}:${column})`)),
      [],
      name
    )
  }
})

t.test('every page is well-formed XML', async (t) => {
  const { pages } = await takePages(t)
  for (const { name, xhtml } of pages) {
    const [lang, dir] = name.includes('right to left') ? ['ar', 'rtl'] : ['en', 'ltr']
    t.strictSame(elementsOf(xhtml)[0], ['html', { xmlns: 'http://www.w3.org/1999/xhtml', lang, dir }], name)
  }
})

t.test('every link within a page has a target, and every link to the stylesheet finds it', async (t) => {
  const { app, pages } = await takePages(t)
  for (const { name, xhtml } of pages) {
    const elements = elementsOf(xhtml)
    const ids = elements.flatMap(([, { id }]) => id === undefined ? [] : [id])
    const targets = elements.flatMap(([, { href = '' }]) => href.startsWith('#') ? [href.slice(1)] : [])
    t.strictSame(targets.filter((target) => !ids.includes(target)), [], name)
    const href = elements.find(([, { rel }]) => rel === 'stylesheet')?.[1].href as string
    const { statusCode, headers } = await app.inject(href)
    t.strictSame([statusCode, headers['content-type']], [200, 'text/css; charset=utf-8'], href)
  }
})

t.test('every link leads to a page', async (t) => {
  const { app, pages } = await takePages(t)
  const links = new Map(pages.flatMap(({ name, xhtml }) => linksIn(xhtml).map((href) => [href, name])))
  for (const [href, name] of links) {
    const { statusCode, headers } = await app.inject({ url: href, headers: { accept: 'text/html' } })
    // The link to a missing cover leads to the form that creates one.
    const status = /\/cover$/.test(href) && statusCode === 404 ? 404 : 200
    t.match([statusCode, headers['content-type']], [status, /^text\/html|^application\/(?:json|xml)/],
      `${name}: ${href}`)
  }
})

t.test('the page of a deleted row leads to its list', async (t) => {
  const { app } = await takePages(t)
  for (const [url, list] of [['/specimens', '/specimens'], ['/flat/comments', '/flat/posts/2/comments']] as const) {
    const { statusCode, headers } = await app.inject({
      method: 'POST',
      url,
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: '_method=DELETE&id=1'
    })
    t.strictSame([statusCode, headers.location], [303, `${list}#deleted`])
  }
})

function linksIn (xhtml: string): string[] {
  return elementsOf(xhtml).flatMap(([name, { href }]) => name === 'a' && /^\/(?!brokens\b)/.test(href ?? '')
    ? [href as string]
    : [])
}

/** Returns every element with its attributes, in the order of the page. */
function elementsOf (xhtml: string): Array<[name: string, attributes: Record<string, string>]> {
  const elements: Array<[string, Record<string, string>]> = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => { elements.push([name, { ...attributes as Record<string, string> }]) })
  parser.on('error', (error) => { throw error })
  parser.write(xhtml).close()
  return elements
}
