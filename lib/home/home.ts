import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import { InvalidOptionError, withOwner } from '../core/errors.js'
import { checkBoolean, checkOptionNames, checkText } from '../core/util/check-option.js'
import { lazy } from '../core/util/functions.js'
import type { HomeOptions } from './home-pages.js'

/** Imports the page when the first home page is registered, because it imports nearly all other modules. */
const loadPage: () => Promise<typeof import('./home-pages.js')> = lazy(() => import('./home-pages.js'))

/**
 * A Fastify plugin with a page that links to the resources below its prefix, whenever they are registered. Their own
 * pages get a bar with links to it and to each other.
 *
 * @example
 * app.register(home, { title: 'Blog' })
 */
export const home: FastifyPluginAsync<HomeOptions> = async (
  app: FastifyInstance,
  options: HomeOptions & RegisterOptions
): Promise<void> => {
  try {
    const own = ['title', 'path', 'lang', 'messages', 'accent', 'brand', 'contentSecurityPolicy', 'notFound']
    checkOptionNames(options, [...own, 'prefix', 'logLevel', 'logSerializers'])
    const title = checkText('title', options.title, /\S/, "a text such as 'Blog'")
    const path = checkText('path', options.path ?? '/', /^\/(?:$|[^:*?#]*[^:*?#/]$)/, "a path such as '/' or '/start'")
    const prefix = app.prefix.replace(/\/$/, '')
    if (/[:*]/.test(prefix)) throw new InvalidOptionError('prefix', `must not have parameters, but it is '${prefix}'`)
    const { addHome } = await loadPage()
    const href = path === '/' && prefix !== '' ? prefix : `${prefix}${path}`
    checkBoolean('notFound', options.notFound ?? false)
    await addHome(app, { ...options, title, path, href, prefix })
  } catch (error) {
    throw withOwner(error, 'the plugin "home"')
  }
}
