import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessContext } from '../core/actions/authorize/level.js'
import { findUnlisted } from '../core/actions/authorize/refused-actions.js'
import { describeError, type Problem } from '../core/errors.js'
import type { Markup } from '../html/html-tag.js'
import { compileLanguageChoice, type ChooseLanguage } from '../html/languages/choose-language.js'
import { directionOf } from '../html/languages/language.js'
import { compileTranslation, makeMessages } from '../html/languages/make-messages.js'
import type { Translate } from '../html/languages/phrases.js'
import type { PageMessages } from '../html/messages.js'
import type { ResolvedHtmlOptions, PageLanguage } from '../html/options.js'
import { makeSecurityHeaders } from '../html/security-headers.js'
import { type Brand, resolveBrand } from '../html/style/brand.js'
import { type DocumentFrame, renderDocument, renderProblem } from '../html/views/page-views.js'
import { chooseLinks } from '../html/navigation.js'
import type { PossibleNavigation, Unlisted } from '../core/formats/view.js'
import { writeProblem } from '../core/formats/xml/write.js'
import type { CompiledResource } from '../core/compiled-resource.js'
import type { PassedHooks } from '../core/relations/hook-guards.js'
import { checkQuery, withoutTrackers } from '../core/request/negotiate.js'
import { addHeaders } from '../core/response/responder.js'
import { printFailure } from '../core/telemetry/action-log.js'
import { lazy } from '../core/util/functions.js'
import type { MaybePromise } from '../core/util/maybe-promise.js'
import { appHooksOf } from '../core/registration/app-internals.js'
import { checkLinks, findLinks, findListed } from '../core/relations/navigation.js'
import type { Home } from '../core/routes/route-registry.js'
import { findErrorFormat, findFormat, linkFormats, makeNotAcceptable, renderEntries, writeXml } from './answers.js'
import { type Entry, findEntry, PATIENCE_MS } from './entries.js'

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
    this.#pageHeaders = makeSecurityHeaders(source)
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
    checkQuery(choice?.format.name === 'html' ? withoutTrackers(query, PARAMETERS) : query, PARAMETERS)
    if (choice === undefined) throw makeNotAcceptable(query)
    const { lang } = this.#wordsFor(request)
    const listed = this.#listed()
    const found = await Promise.all(listed.map((one) => findEntry(one, { passed: this.#passed, request, lang })))
    const entries = found.filter((entry) => entry !== undefined)
    reply.headers(this.#headers).type(choice.contentType)
    if (choice.format.name === 'json') return reply.send(JSON.stringify({ resources: entries }))
    if (choice.format.name === 'xml') return reply.send(writeXml(entries))
    const unlisted = new Set(listed.filter((_, index) => found[index] === undefined).map(({ resource }) => resource))
    return reply.headers(this.#pageHeaders).send(this.#writeHome(entries, request, unlisted))
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
    const page = this.#writeProblem(problem, request, unlisted)
    if (page !== undefined) return reply.type(contentType).headers(this.#pageHeaders).send(page)
    return reply.code(500).type('text/plain; charset=utf-8').send('Internal Server Error')
  }

  /** Writes the page of an error, or returns `undefined` if a function of the brand throws. */
  #writeProblem ({ status, ...problem }: Problem, request: FastifyRequest, unlisted: Unlisted): string | undefined {
    const { titleIn, href } = this.#source
    const { lang, translate, possible } = this.#wordsFor(request)
    const label = titleIn(lang)
    const title = translate(problem.title)
    const content = renderProblem(status, { title, texts: [translate(problem.detail)], way: { label, href } })
    try {
      return this.#write({ title, navigation: chooseLinks(possible(), unlisted), alternates: [] }, content, request)
    } catch (error) {
      request.log.error({ err: error })
      printFailure(request.log, 'the answer to an error could not be written', error)
    }
  }

  #findUnlisted (request: FastifyRequest): MaybePromise<Unlisted> {
    const { app } = this.#source
    const context = { request: request as AccessContext['request'], signal: AbortSignal.timeout(PATIENCE_MS) }
    return findUnlisted(checkLinks(app, this.#wordsFor(request).possible()), context, {})
  }

  #writeHome (entries: readonly Entry[], request: FastifyRequest, unlisted: Unlisted): string {
    const { titleIn, href } = this.#source
    const { lang, messages, digits, possible } = this.#wordsFor(request)
    const title = titleIn(lang)
    // A link to the other resources would lead to this page.
    const navigation = { ...chooseLinks(possible(), unlisted), isCurrent: true, hasMore: false }
    const content = renderEntries(title, entries, messages, digits)
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
