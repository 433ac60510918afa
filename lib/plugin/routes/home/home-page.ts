import type { FastifyInstance } from 'fastify'
import { NotAcceptableError } from '../../../errors.js'
import type { Format } from '../../../formats/format.js'
import { escapeText } from '../../../formats/escape.js'
import { html, type Markup } from '../../../formats/html/html-tag.js'
import { compileLanguageChoice } from '../../../formats/html/languages/choose-language.js'
import { directionOf, loadLanguages } from '../../../formats/html/languages/language.js'
import { makeMessages } from '../../../formats/html/languages/make-messages.js'
import type { PageMessages } from '../../../formats/html/messages.js'
import { makeSecurityHeaders } from '../../../formats/html/security-headers.js'
import { resolveBrand } from '../../../formats/html/style/brand.js'
import { makeStylesheet } from '../../../formats/html/style/make-stylesheet.js'
import { type DocumentFrame, renderDocument } from '../../../formats/html/views/page-views.js'
import { chooseLinks, type Navigation, type PossibleNavigation } from '../../../formats/navigation.js'
import { DECLARATION } from '../../../formats/xml/tags.js'
import { rankFormats } from '../../../http/request/accept.js'
import { checkQuery } from '../../../http/request/negotiate.js'
import { checkBrand } from '../../../routing/resolve/brand.js'
import { checkAccent } from '../../../routing/resolve/formats.js'
import { checkLanguages, checkMessages } from '../../../routing/resolve/languages.js'
import { lazy } from '../../../util/functions.js'
import { appHooksOf } from '../../app-internals.js'
import { findLinks, findListed } from '../navigation.js'
import { type Entry, findEntry } from './entries.js'
import type { HomeOptions } from './home.js'
import type { Home } from '../route-registry.js'

/** A home page, its path below the prefix of the instance, and the options of its words. */
interface HomePage extends Home, Omit<HomeOptions, 'title' | 'path'> {
  readonly path: string
}

/** What a home page shows of itself. */
interface HomeFrame {
  readonly title: string
  readonly navigation: Navigation
}

/** The words of a home page in one language. */
interface HomeWords {
  readonly lang: string
  readonly messages: PageMessages
  readonly digits: Intl.NumberFormat
}

/** The `max-age` of the stylesheet, in seconds: one year. Its path changes with its content. */
const FOR_EVER = 31_536_000

const FORMATS: ReadonlyArray<Pick<Format, 'name' | 'mediaTypes'>> = [
  { name: 'xml', mediaTypes: ['application/xml', 'text/xml'] },
  { name: 'html', mediaTypes: ['text/html', 'application/xhtml+xml'] },
  { name: 'json', mediaTypes: ['application/json'] }
]

/** Serves a page with links to the lists of resources, as XML, HTML and JSON. */
export async function addHome (app: FastifyInstance, { title, path, href, prefix, ...given }: HomePage): Promise<void> {
  const words = await findWords(given)
  const choose = compileLanguageChoice([...words.keys()])
  const accent = checkAccent('accent', given.accent ?? '#1d5fd1')
  const brand = checkBrand('brand', given.brand ?? {})
  const headers = makeSecurityHeaders({ contentSecurityPolicy: {}, brand })
  const { body, hash, extension, mediaType } = makeStylesheet({ accent, font: brand.font, density: brand.density })
  const stylesheet = `${path.replace(/\/$/, '')}/home.${hash}.${extension}`
  const listed = lazy(() => findListed(app, prefix))
  const passed = { options: { routing: { hooks: new Map() } }, appHooks: lazy(() => appHooksOf(app)) }
  const possibleIn = (lang: string): PossibleNavigation =>
    findLinks(app, { title, href, prefix }, { from: passed, lang, path: '' })
  const hidden = { schema: { hide: true } } as object
  app.get(stylesheet, hidden, (_request, reply) =>
    reply
      .header('cache-control', `public, max-age=${FOR_EVER}, immutable`)
      .header('x-content-type-options', 'nosniff')
      .type(`${mediaType}; charset=utf-8`)
      .send(body))
  app.get(path, { ...hidden, prefixTrailingSlash: 'no-slash' }, async (request, reply) => {
    const query = request.query as Readonly<Record<string, string>>
    const lang = choose(request.headers['accept-language'])
    reply.headers({
      vary: words.size > 1 ? 'Accept, Accept-Language' : 'Accept',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff'
    })
    checkQuery(query, ['format'])
    const { name, contentType } = chooseFormat(request.headers.accept, query.format)
    const found = await Promise.all(listed().map((resource) => findEntry(resource, { passed, request, lang })))
    const entries = found.filter((entry) => entry !== undefined)
    reply.type(contentType)
    if (name === 'json') return JSON.stringify({ resources: entries })
    if (name === 'xml') return writeXml(entries)
    reply.headers(headers)
    const shown = resolveBrand(brand, (part) => html`${part({ request, lang })}`)
    const unlisted = new Set(listed().filter((_, index) => found[index] === undefined).map(({ resource }) => resource))
    const links = chooseLinks(possibleIn(lang), unlisted)
    // A link to the other resources would lead to this page.
    const navigation = { ...links, isCurrent: true, hasMore: false }
    const frame = { title, stylesheet: `${prefix}${stylesheet}`, brand: shown, navigation }
    return writePage(frame, entries, words.get(lang) as HomeWords)
  })
}

/** Checks the options of the words, and returns the words of each language. */
async function findWords (
  { lang = 'en', messages = {} }: Pick<HomeOptions, 'lang' | 'messages'>
): Promise<ReadonlyMap<string, HomeWords>> {
  const tags = checkLanguages('lang', lang)
  const languages = checkMessages('messages', messages, tags, await loadLanguages(tags))
  return new Map(languages.map((language) => [language.tag, {
    lang: language.tag,
    messages: makeMessages({ plural: 'resources', singular: 'resource' }, language),
    digits: new Intl.NumberFormat(language.tag)
  }]))
}

/** @throws NotAcceptableError if there is no such format */
function chooseFormat (accept: string | undefined, name: string | undefined): { name: string, contentType: string } {
  const offered = name === undefined ? FORMATS : FORMATS.filter((format) => format.name === name)
  const { best } = rankFormats(name === undefined ? accept : undefined, offered)
  if (best !== undefined) return { name: best.format.name, contentType: best.contentType }
  throw new NotAcceptableError(
    name === undefined ? 'none of the types in Accept is available here' : 'there is no such format',
    FORMATS.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; ')
  )
}

function writeXml (entries: readonly Entry[]): string {
  const written = entries.map(({ name, title, path, rows, hasMoreRows }) => [
    '<resource>',
    `<name>${escapeText(name)}</name><title>${escapeText(title)}</title><path>${escapeText(path)}</path>`,
    rows === undefined ? '' : `<rows type="integer">${rows}</rows>`,
    hasMoreRows === true ? '<hasMoreRows type="boolean">true</hasMoreRows>' : '',
    '</resource>'
  ].join(''))
  return `${DECLARATION}<resources type="array">${written.join('')}</resources>\n`
}

function writePage (
  { title, stylesheet, brand, navigation }: Pick<DocumentFrame, 'stylesheet' | 'brand'> & HomeFrame,
  entries: readonly Entry[],
  words: HomeWords
): string {
  const { lang, messages } = words
  const alternates = FORMATS.filter(({ name }) => name !== 'html').map(({ name, mediaTypes: [mediaType = ''] }) =>
    ({ label: name.toUpperCase(), href: `${navigation.href}?format=${name}`, mediaType }))
  const frame = { title, crumbs: [], alternates, stylesheet, brand, lang, dir: directionOf(lang), messages, navigation }
  const content = entries.length === 0
    ? html`<div class="empty"><p><strong>${messages.noResources}</strong></p></div>\n`
    : html`<div class="scroll"><table class="list">
<thead><tr><th scope="col">${messages.resourceName}</th>${
  html`<th scope="col" class="number">${messages.resourceRows}</th>`
}</tr></thead>
<tbody>
${entries.map((entry) => renderEntry(entry, words))}</tbody>
</table></div>
`
  return renderDocument(frame, title, html`<h1>${title}</h1>\n${content}`).toString()
}

function renderEntry ({ title, path, rows, hasMoreRows }: Entry, { digits, messages }: HomeWords): Markup {
  const { moreRelated, resourceName, resourceRows } = messages
  const written = rows === undefined ? '' : digits.format(rows)
  const number = hasMoreRows === true ? moreRelated(written) : written
  return html`<tr><td data-label="${resourceName}" dir="auto"><a href="${path}">${title}</a></td>${
    html`<td data-label="${resourceRows}" class="number">${number}</td></tr>\n`
  }`
}
