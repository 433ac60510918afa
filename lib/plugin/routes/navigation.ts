import type { FastifyInstance } from 'fastify'
import type { Navigation, NavigationLink } from '../../formats/navigation.js'
import type { CompiledResource } from '../../http/compiled-resource.js'
import { guardsMore } from '../../http/hook-guards.js'
import { capitalize } from '../../util/capitalize.js'
import { type Home, registryOf } from './route-registry.js'

/** The most links of a bar, beside the one to the home page. */
const MOST_LINKS = 8

/** Returns the resources whose list, or only record, has a path without parameters below a prefix. */
export function findListed (app: FastifyInstance, prefix: string): readonly CompiledResource[] {
  return registryOf(app).resources.map(({ compiled }) => compiled).filter(({ resource, resourcePaths, options }) =>
    resource.actions.has(resource.singleton ? 'show' : 'list') && resourcePaths.collection.names.length === 0 &&
      Object.keys(options.routing.routeConstraints).length === 0 && isBelow(resourcePaths.collection.text, prefix))
}

/** Returns the name of a resource as a link, on a page in a language. */
export function titleOf ({ resource: { singleton, singular }, options }: CompiledResource, lang: string): string {
  return singleton ? capitalize(singular) : options.labelIn(lang)
}

/**
 * Returns the bar of the pages of a resource, once the app is ready, or `undefined` if no home page covers it. The bar
 * is the same for all users. So it links only to lists that everybody who sees the page may list: those without
 * `authorize`, and without hooks that a request of the page has not passed.
 */
export function findNavigation (
  app: FastifyInstance,
  from: CompiledResource,
  lang: string
): Navigation | undefined {
  const own = from.resourcePaths.collection.text
  const [home] = registryOf(app).homes.filter(({ prefix }) => isBelow(own, prefix)).toSorted(byLength)
  if (home === undefined) return undefined
  const links = findListed(app, home.prefix).flatMap((listed): NavigationLink[] => {
    const { representations, resourcePaths: { collection: { text: href } }, options: { routing } } = listed
    const isCurrent = isBelow(own, href)
    const isOpen = routing.authorize.length === 0 && !guardsMore(listed, from, 'list')
    const isOffered = (isCurrent || isOpen) && representations.some(({ browser }) => browser === true)
    return isOffered ? [{ label: titleOf(listed, lang), href, isCurrent }] : []
  })
  const shown = links.length > MOST_LINKS ? limit(links) : links
  return { title: home.title, href: home.href, links: shown, hasMore: shown.length < links.length }
}

/** Returns the first links, and the current one. */
function limit (links: readonly NavigationLink[]): NavigationLink[] {
  const first = links.slice(0, MOST_LINKS - 1)
  return [...first, ...links.slice(MOST_LINKS - 1).filter(({ isCurrent }) => isCurrent)]
}

function byLength (one: Home, other: Home): number {
  return other.prefix.length - one.prefix.length
}

/** Returns whether a path is, or begins with, the segments of another one. */
function isBelow (path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}
