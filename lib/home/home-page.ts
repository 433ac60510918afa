import type { FastifyInstance } from 'fastify'
import { NothingHereError } from '../core/errors.js'
import { resolveAppearance } from '../html/check-options.js'
import { compileOwn } from '../html/languages/phrases.js'
import { compileText } from '../html/languages/texts.js'
import type { AppearanceOptions } from '../html/options.js'
import { makeStylesheet } from '../html/style/make-stylesheet.js'
import { type Home, registryOf } from '../core/routes/route-registry.js'
import { HomePages, type HomeSource } from './home-pages.js'

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
  const { body, hash, extension, mediaType } = makeStylesheet({ accent, font: brand.font, density: brand.density })
  const file = `${path.replace(/\/$/, '')}/home.${hash}.${extension}`
  const titleIn = compileText(languages, ({ messages }) => compileOwn(messages)(title))
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
