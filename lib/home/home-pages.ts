import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessContext } from '../core/actions/authorize/level.js'
import { findUnlisted } from '../core/actions/authorize/refused-actions.js'
import type { CompiledResource } from '../core/compiled-resource.js'
import { describeError, NotAcceptableError, NothingHereError, type SaidProblem, withCodes } from '../core/errors.js'
import { escapeText } from '../core/formats/escape.js'
import type { Format } from '../core/formats/format.js'
import type { PossibleNavigation, Unlisted } from '../core/formats/view.js'
import { DECLARATION, writeProblem } from '../core/formats/xml/write.js'
import { appHooksOf } from '../core/registration/app-internals.js'
import type { PassedHooks } from '../core/relations/hook-guards.js'
import { checkLinks, findLinks, findListed } from '../core/relations/navigation.js'
import { chooseFormat, type FormatChoice } from '../core/request/accept.js'
import { checkQuery, withoutIgnored } from '../core/request/negotiate.js'
import { addHeaders } from '../core/response/responder.js'
import { type Home, registryOf } from '../core/routes/route-registry.js'
import { printFailure } from '../core/telemetry/action-log.js'
import { lazy } from '../core/util/functions.js'
import { resolveAppearance } from '../html/check-options.js'
import { TRACKERS } from '../html/html.js'
import { markup, type Markup } from '../html/html-tag.js'
import { type ChooseLanguage, compileLanguageChoice, directionOf } from '../html/languages/language.js'
import { compileOwn, compileTranslation, inEach, makeMessages } from '../html/languages/make-messages.js'
import type { PageMessages, Translate } from '../html/messages.js'
import { chooseLinks } from '../html/pages/links.js'
import { describeProblem } from '../html/pages/problem.js'
import type { AppearanceOptions, PageLanguage, ResolvedHtmlOptions } from '../html/options.js'
import { makeSecurityHeaders } from '../html/security-headers.js'
import { type Brand, resolveBrand } from '../html/style/brand.js'
import { HOME_RULES } from '../html/style/rules.js'
import { makeStylesheet } from '../html/style/stylesheet.js'
import type { Alternate } from '../html/views/model.js'
import { type DocumentFrame, renderDocument, renderProblem } from '../html/views/page-views.js'
import { type Entry, findEntry, findForm, PATIENCE_MS } from './entries.js'

/** The options of the home page. */
export interface HomeOptions extends AppearanceOptions {
  /** The title of the app: the heading of the page, and the first link of the bar on all pages. */
  readonly title: string
  /** The path of the page, below the prefix of the instance. @default '/' */
  readonly path?: string
  /**
   * Whether unknown paths below the prefix are answered with a page that leads home, or with an error in XML or JSON.
   * The app has no other handler for them then.
   * @default false
   */
  readonly notFound?: boolean
}

/** The checked options of a home page. Those of its face and its words are not checked yet. */
interface CheckedOptions extends HomeOptions, Pick<HomeSource, 'href' | 'prefix'> {
  /** The path below the prefix of the instance. */
  readonly path: string
}

/** The `max-age` of the stylesheet, in seconds: one year. Its path changes with its content. */
const FOR_EVER = 31_536_000

/** Serves a page with links to the lists of resources, as XML, HTML and JSON. */
export async function addHome (app: FastifyInstance, options: CheckedOptions): Promise<void> {
  const { path, title, href, prefix, notFound = false } = options
  const { languages, accent, brand, contentSecurityPolicy } = await resolveAppearance(options)
  const { font, density } = brand
  const { body, hash, extension, mediaType } = makeStylesheet({ accent, font, density }, HOME_RULES)
  const file = `${path.replace(/\/$/, '')}/home.${hash}.${extension}`
  const titleIn = inEach(languages, ({ messages }) => compileOwn(messages)(title))
  const face = { languages, brand, contentSecurityPolicy, stylesheet: `${prefix}${file}` }
  const pages = new HomePages({ app, titleIn, href, prefix, ...face })
  const hidden = { schema: { hide: true } } as object
  const sendError: Home['sendError'] = (error, request, reply) => pages.sendError(error, request, reply, false)
  app.setErrorHandler(sendError)
  app.get(file, hidden, (_request, reply) =>
    reply
      .header('cache-control', `public, max-age=${FOR_EVER}, immutable`)
      .header('x-content-type-options', 'nosniff')
      .type(`${mediaType}; charset=utf-8`)
      .send(body))
  app.get(path, { ...hidden, prefixTrailingSlash: 'no-slash' }, (request, reply) => pages.send(request, reply))
  if (notFound) {
    app.setNotFoundHandler((request, reply) => pages.sendError(new NothingHereError('page'), request, reply, true))
  }
  registryOf(app).homes.push({ titleIn, href, prefix, sendError })
}

/** The query parameters of a home page. */
const PARAMETERS = ['format'] as const

/** The dependencies of `HomePages`. */
export interface HomeSource extends Pick<Home, 'titleIn' | 'href' | 'prefix'> {
  readonly app: FastifyInstance
  readonly languages: readonly PageLanguage[]
  readonly brand: Brand
  readonly contentSecurityPolicy: ResolvedHtmlOptions['contentSecurityPolicy']
  /** The path of the stylesheet. */
  readonly stylesheet: string
}

/** A home page in one language. */
interface HomeWords {
  readonly lang: string
  readonly messages: PageMessages
  readonly translate: Translate
  readonly digits: Intl.NumberFormat
  readonly possible: () => PossibleNavigation
}

/** Sends a home page, and its errors, in the format and the language of the client. */
export class HomePages {
  readonly #source: HomeSource
  readonly #words: ReadonlyMap<string, HomeWords>
  readonly #choose: ChooseLanguage
  readonly #headers: Readonly<Record<string, string>>
  readonly #pageHeaders: Readonly<Record<string, string>>
  readonly #passed: PassedHooks
  readonly #listed: () => readonly CompiledResource[]

  constructor (source: HomeSource) {
    const { app, languages, prefix } = source
    this.#source = source
    this.#choose = compileLanguageChoice(languages.map(({ tag }) => tag))
    this.#headers = {
      vary: languages.length > 1 ? 'Accept, Accept-Language' : 'Accept',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff'
    }
    this.#pageHeaders = makeSecurityHeaders(source, false)
    this.#passed = { options: { routing: { hooks: new Map() } }, appHooks: lazy(() => appHooksOf(app)) }
    this.#listed = lazy(() => findListed(app, prefix))
    this.#words = new Map(languages.map((language) => [language.tag, this.#makeWords(language)]))
  }

  #makeWords (language: PageLanguage): HomeWords {
    const messages = makeMessages({ plural: 'resources', singular: 'resource' }, language)
    const { app } = this.#source
    return {
      lang: language.tag,
      messages,
      translate: compileTranslation(language, messages),
      digits: new Intl.NumberFormat(language.tag),
      possible: lazy(() => findLinks(app, this.#source, { from: this.#passed, lang: language.tag, path: '' }))
    }
  }

  /** Sends the home page. */
  async send (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      return await this.#send(request, reply)
    } catch (error) {
      return await this.sendError(error, request, reply, true)
    }
  }

  async #send (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = request.query as Readonly<Record<string, string>>
    const choice = findFormat(request)
    checkQuery(withoutIgnored(query, PARAMETERS, choice?.format.ignored), PARAMETERS)
    if (choice === undefined) throw makeNotAcceptable(query)
    const { lang } = this.#wordsFor(request)
    const listed = this.#listed()
    const found = await Promise.all(listed.map((one) => findEntry(one, { passed: this.#passed, request, lang })))
    const entries = found.filter((entry) => entry !== undefined)
    reply.headers(this.#headers).type(choice.contentType)
    if (choice.format.name === 'json') return reply.send(JSON.stringify({ resources: entries }))
    if (choice.format.name === 'xml') return reply.send(writeXml(entries))
    const { tables } = registryOf(this.#source.app)
    const linked = await Promise.all(listed.map(async (one, index): Promise<LinkedEntry[]> => {
      const entry = found[index]
      if (entry === undefined) return []
      const newHref = await findForm(one, { passed: this.#passed, request })
      return [{ ...entry, id: index, newHref, isView: tables.get(one)?.isView === true }]
    }))
    const unlisted = new Set(listed.filter((_, index) => found[index] === undefined).map(({ resource }) => resource))
    return reply.headers(this.#pageHeaders).send(this.#writeHome(linked.flat(), request, unlisted))
  }

  /**
   * Sends an error.
   * @param hasPassed whether the request has passed the hooks, so that the bar may have links to lists
   */
  async sendError (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    hasPassed: boolean
  ): Promise<FastifyReply> {
    const problem = describeError(error, reply.statusCode)
    const isFailure = problem.status >= 500
    reply.log[isFailure ? 'error' : 'info']({ err: error }, 'home page')
    if (isFailure) printFailure(reply.log, 'home page', error)
    const { format: { name }, contentType } = findErrorFormat(request)
    addHeaders(reply.code(problem.status).headers(this.#headers), Object(error).headers)
    if (name === 'json') return reply.type('application/problem+json').send(problem)
    if (name === 'xml') return reply.type(contentType).send(writeProblem(problem))
    const unlisted = isFailure || !hasPassed ? undefined : await this.#findUnlisted(request)
    const page = this.#writeProblem(withCodes(problem, error), request, unlisted)
    if (page !== undefined) return reply.type(contentType).headers(this.#pageHeaders).send(page)
    return reply.code(500).type('text/plain; charset=utf-8').send('Internal Server Error')
  }

  /** Writes the page of an error, or returns `undefined` if a function of the brand throws. */
  #writeProblem (problem: SaidProblem, request: FastifyRequest, unlisted: Unlisted): string | undefined {
    const { titleIn, href } = this.#source
    const { lang, possible, ...words } = this.#wordsFor(request)
    const label = titleIn(lang)
    const { title, texts } = describeProblem(problem, words)
    const content = renderProblem(problem.status, { title, texts, way: { label, href } })
    try {
      return this.#write({ title, navigation: chooseLinks(possible(), unlisted), alternates: [] }, content, request)
    } catch (error) {
      request.log.error({ err: error })
      printFailure(request.log, 'the answer to an error could not be written', error)
    }
  }

  #findUnlisted (request: FastifyRequest): Promise<Unlisted> {
    const { app } = this.#source
    const context = { request: request as AccessContext['request'], signal: AbortSignal.timeout(PATIENCE_MS) }
    return findUnlisted(checkLinks(app, this.#wordsFor(request).possible()), context, {})
  }

  #writeHome (entries: readonly LinkedEntry[], request: FastifyRequest, unlisted: Unlisted): string {
    const { titleIn, href } = this.#source
    const { lang, messages, digits, possible } = this.#wordsFor(request)
    const title = titleIn(lang)
    // A link to the other resources would lead to this page.
    const navigation = { ...chooseLinks(possible(), unlisted), isCurrent: true, hasMore: false }
    const content = renderHome(title, entries, messages, digits)
    return this.#write({ title, navigation, alternates: linkFormats(href) }, content, request)
  }

  #write (
    page: Pick<DocumentFrame, 'title' | 'navigation' | 'alternates'>,
    content: Markup,
    request: FastifyRequest
  ): string {
    const { brand, stylesheet } = this.#source
    const { lang, messages } = this.#wordsFor(request)
    return renderDocument({
      ...page,
      crumbs: [],
      stylesheet,
      brand: resolveBrand(brand, { request, lang }),
      lang,
      dir: directionOf(lang),
      messages
    }, page.title, content).toString()
  }

  #wordsFor ({ headers }: FastifyRequest): HomeWords {
    return this.#words.get(this.#choose(headers['accept-language'])) as HomeWords
  }
}

type HomeFormat = Pick<Format, 'name' | 'mediaTypes' | 'ignored'>

const FORMATS: readonly HomeFormat[] = [
  { name: 'xml', mediaTypes: ['application/xml', 'text/xml'] },
  { name: 'html', mediaTypes: ['text/html', 'application/xhtml+xml'], ignored: TRACKERS },
  { name: 'json', mediaTypes: ['application/json'] }
]

/** Finds the format of an answer: by `?format=`, the suffix of the path, or Accept. A malformed URL has no query. */
function findFormat (
  { headers: { accept }, query, url }: Pick<FastifyRequest, 'headers' | 'query' | 'url'>
): FormatChoice<HomeFormat> | undefined {
  const [, suffix] = /^[^?]*\.(xml|html|json)(?:\?|$)/.exec(url) ?? []
  const { format: name = suffix } = Object(query) as { readonly format?: string }
  return name === undefined
    ? chooseFormat(accept, FORMATS)
    : chooseFormat(undefined, FORMATS.filter((format) => format.name === name))
}

/** Returns the same for an error. If there is no such format, it is one of Accept, or else the first one. */
function findErrorFormat (request: Parameters<typeof findFormat>[0]): FormatChoice<HomeFormat> {
  return findFormat(request) ?? chooseFormat(request.headers.accept, FORMATS) ??
    chooseFormat(undefined, FORMATS) as FormatChoice<HomeFormat>
}

/** Makes the error for a request whose format is not offered. */
function makeNotAcceptable (query: unknown): Error {
  const isAsked = Object.hasOwn(Object(query), 'format')
  const reason = isAsked ? 'there is no such format' : 'none of the types in Accept is available here'
  const formats = FORMATS.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; ')
  return new NotAcceptableError(`${reason}; choose one of ${formats}`)
}

/** Returns the links to the other formats of a home page. */
function linkFormats (href: string): Alternate[] {
  return FORMATS.filter(({ name }) => name !== 'html').map(({ name, mediaTypes: [mediaType = ''] }) =>
    ({ label: name.toUpperCase(), href: `${href}?format=${name}`, mediaType }))
}

/** Writes the resources as XML. */
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

/** A resource on the page in HTML. */
interface LinkedEntry extends Entry {
  /** The number that distinguishes the ids in its row from others. */
  readonly id: number
  /** The path of the form for a new row, or `undefined` if the request may not create one. */
  readonly newHref: string | undefined
  /** Whether it is a view of a database. */
  readonly isView: boolean
}

/** Renders the resources as a table, and the views of a database as another one. */
function renderHome (
  title: string,
  entries: readonly LinkedEntry[],
  messages: PageMessages,
  digits: Intl.NumberFormat
): Markup {
  if (entries.length === 0) {
    return markup`<h1>${title}</h1>\n<div class="empty"><p><strong>${messages.noResources}</strong></p></div>\n`
  }
  const views = entries.filter(({ isView }) => isView)
  const tables = entries.filter(({ isView }) => !isView)
  const groups = [[messages.tables, tables], [messages.views, views]] as const
  const content = views.length === 0
    ? renderEntries(title, entries, messages, digits)
    : groups.map(([heading, group]) => group.length > 0 && markup`<section>
<h2>${heading}</h2>
${renderEntries(heading, group, messages, digits)}</section>
`)
  return markup`<h1>${title}</h1>\n<div class="index">\n${content}</div>\n`
}

/** Renders resources as a table with a name. The link to a form is called like its resource, too. */
function renderEntries (
  label: string,
  entries: readonly LinkedEntry[],
  { resourceName, resourceRows, moreRelated, newButton }: PageMessages,
  digits: Intl.NumberFormat
): Markup {
  const hasForms = entries.some(({ newHref }) => newHref !== undefined)
  const rows = entries.map(({ id, title, path, rows, hasMoreRows, newHref }) => {
    const written = rows === undefined ? '' : digits.format(rows)
    const number = hasMoreRows === true ? moreRelated(written) : written
    const [head, form] = [`list-${id}`, `new-${id}`]
    const add = newHref !== undefined &&
      markup`<a id="${form}" aria-labelledby="${form} ${head}" href="${newHref}">${newButton}</a>`
    return markup`<tr><th id="${head}" scope="row" dir="auto"><a href="${path}">${title}</a></th>${
      markup`<td class="number">${number}</td>`
    }${hasForms && markup`<td>${add}</td>`}</tr>\n`
  })
  return markup`<div class="scroll"><table aria-label="${label}">
<thead><tr><th scope="col">${resourceName}</th><th scope="col" class="number">${resourceRows}</th>${
  hasForms && markup`<td></td>`
}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`
}
