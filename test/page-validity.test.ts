import { HtmlValidate } from 'html-validate'
import { SaxesParser } from 'saxes'
import t from 'tap'
import { takePages } from './chromium.js'

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:standard', 'html-validate:recommended'],
  rules: {
    // A parser of XML reads the same pages: an element without content closes itself, and each attribute has a value.
    'void-style': ['error', { style: 'selfclose' }],
    'attribute-boolean-style': ['error', { style: 'name' }],
    // An id may be anything without white space (HTML §3.2.6); ours are made of the names of attributes.
    'valid-id': ['error', { relaxed: true }]
  }
})

t.test('every page is valid HTML', async (t) => {
  const { pages } = await takePages(t)
  for (const { name, html } of pages) {
    const { results } = await validator.validateString(html)
    t.strictSame(results.flatMap(({ messages }) => messages.map(({ ruleId, message, line, column }) => `${ruleId}: ${message} (${line}:${column})`)), [], name)
  }
})

t.test('every page is well-formed XML', async (t) => {
  const { pages } = await takePages(t)
  for (const { name, xhtml } of pages) {
    const [lang, dir] = name.includes('right to left') ? ['ar', 'rtl'] : ['en', 'ltr']
    t.strictSame(elementsOf(xhtml)[0], ['html', { xmlns: 'http://www.w3.org/1999/xhtml', lang, dir }], name)
  }
})

t.test('every link within a page leads to something in it, and every link to the stylesheet to the stylesheet', async (t) => {
  const { pages } = await takePages(t)
  for (const { name, xhtml } of pages) {
    const elements = elementsOf(xhtml)
    const ids = elements.flatMap(([, { id }]) => id === undefined ? [] : [id])
    const targets = elements.flatMap(([, { href = '' }]) => href.startsWith('#') ? [href.slice(1)] : [])
    t.strictSame(targets.filter((target) => !ids.includes(target)), [], name)
    t.match(elements.find(([, { rel }]) => rel === 'stylesheet')?.[1].href, /^\/[a-z]+\/pages\.[0-9a-f]{16}\.css$/)
  }
})

/** Every element with its attributes, in the order of the page. */
function elementsOf (xhtml: string): Array<[name: string, attributes: Record<string, string>]> {
  const elements: Array<[string, Record<string, string>]> = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => { elements.push([name, { ...attributes as Record<string, string> }]) })
  parser.on('error', (error) => { throw error })
  parser.write(xhtml).close()
  return elements
}
