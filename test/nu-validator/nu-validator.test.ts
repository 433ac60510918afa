import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { takePages, takeSpecimenPages } from '../support/html/chromium.js'

const JAR = fileURLToPath(new URL('node_modules/vnu-jar/build/dist/vnu.jar', import.meta.url))
/** HTML needs no slash at the end of an empty element. A parser of XML reads the same pages. */
const SLASH = 'Trailing slash on void elements'
/** The checker guesses the language of a page, whose rows may be in another one than its words. */
const LANGUAGE = 'This document appears to be written in'
const skip = spawnSync('java', ['-version']).status === 0 ? false : 'there is no Java'

interface Message {
  readonly url: string
  readonly type: string
  readonly message: string
  readonly extract?: string
}

t.test('the Nu HTML checker finds nothing on any page', { skip }, async (t) => {
  const pages = [...(await takePages(t)).pages, ...(await takeSpecimenPages(t)).pages]
  const folder = `${t.testdir()}/pages`
  mkdirSync(folder)
  for (const [index, { html }] of pages.entries()) writeFileSync(`${folder}/${index}.html`, html)
  const parameters = ['-Xss8m', '-jar', JAR, '--stdout', '--exit-zero-always', '--format', 'json', folder]
  const printed = execFileSync('java', parameters, {
    encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'ignore']
  })
  const { messages } = JSON.parse(printed) as { readonly messages: readonly Message[] }
  t.ok(messages.some(({ message }) => message.startsWith(SLASH)), 'it has read the pages')
  const found = messages.filter(({ message }) => !message.startsWith(SLASH) && !message.startsWith(LANGUAGE))
  const nameAt = (url: string): string | undefined => pages[Number(/(\d+)\.html$/.exec(url)?.[1])]?.name
  t.strictSame(found.map(({ url, type, message, extract }) => [nameAt(url), type, message, extract]), [])
})
