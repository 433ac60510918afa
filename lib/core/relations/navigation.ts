import type { FastifyInstance } from 'fastify'
import type { ListCheck } from '../actions/authorize/refused-actions.js'
import { authorize } from '../actions/authorize/level.js'
import type { PossibleLink, PossibleNavigation } from '../formats/view.js'
import type { CompiledResource } from '../compiled-resource.js'
import { guardsMore, type PassedHooks } from './hook-guards.js'
import { wordsFor } from './row-links.js'
import { notFound, openingAction } from '../modes.js'
import { type Home, registryOf } from '../routes/route-registry.js'

/**
 * Returns the resources whose list, or only record, has a path without parameters below a prefix, in the order of their
 * registration. Views of a database come last.
 */
export function findListed (app: FastifyInstance, prefix: string): readonly CompiledResource[] {
  const { resources, tables } = registryOf(app)
  const listed = resources.map(({ compiled }) => compiled).filter(({ resource, resourcePaths, options }) =>
    resource.actions.has(openingAction(resource)) && resourcePaths.collection.names.length === 0 &&
      Object.keys(options.routing.routeConstraints).length === 0 && isBelow(resourcePaths.collection.text, prefix))
  const isView = (compiled: CompiledResource): boolean => tables.get(compiled)?.isView === true
  return listed.toSorted((one, other) => Number(isView(one)) - Number(isView(other)))
}

/**
 * Returns the links that the bar of the pages of a resource may have, once the app is ready, or `undefined` if no home
 * page covers it. Only a request of its own passes the hooks of a list, so that the bar does not link to lists with
 * hooks that a request of the page has not passed, except to the current one.
 */
export function findNavigation (
  app: FastifyInstance,
  from: CompiledResource,
  lang: string
): PossibleNavigation | undefined {
  const own = from.resourcePaths.collection.text
  const [home] = registryOf(app).homes.filter(({ prefix }) => isBelow(own, prefix))
    .toSorted((one, other) => other.prefix.length - one.prefix.length)
  return home && findLinks(app, home, { from, lang, path: own })
}

/** A page with a bar. */
interface LinkingPage {
  /** The hooks that its requests have passed. */
  readonly from: PassedHooks
  readonly lang: string
  readonly path: string
}

/** Returns the links that the bar of a home page may have on another page, or on itself. */
export function findLinks (
  app: FastifyInstance,
  { titleIn, href, prefix }: Pick<Home, 'titleIn' | 'href' | 'prefix'>,
  { from, lang, path }: LinkingPage
): PossibleNavigation {
  const { tables } = registryOf(app)
  const all = findListed(app, prefix)
  const links = all.flatMap((listed): PossibleLink[] => {
    const { resource, accessChecks, representations, resourcePaths: { collection: { text: href } } } = listed
    const isCurrent = isBelow(path, href)
    const isOpen = isCurrent || !guardsMore(listed, from, openingOf(listed).action)
    if (!isOpen || !representations.some(({ browser }) => browser === true)) return []
    const isGuarded = accessChecks.collection !== undefined
    const { weight = Number.MAX_VALUE } = tables.get(listed) ?? {}
    return [{ label: wordsFor(listed, lang).heading, href, isCurrent, resource, isGuarded, weight }]
  })
  return { title: titleIn(lang), href, links, hasTables: all.some((listed) => tables.has(listed)) }
}

/**
 * Returns the questions that the pages of a resource ask before they link to lists: to those of the bar, to their own,
 * and to those above it.
 */
export function findListChecks (app: FastifyInstance, compiled: CompiledResource): readonly ListCheck[] {
  const bar = findNavigation(app, compiled, '')
  const all = [...findChecksAbove(compiled), ...(bar === undefined ? [] : checkLinks(app, bar))]
  return [...new Map(all.map((check) => [check.resource, check])).values()]
}

/** Returns the questions that a bar asks before it links to lists. */
export function checkLinks (app: FastifyInstance, { links }: PossibleNavigation): readonly ListCheck[] {
  return registryOf(app).resources.flatMap(({ compiled }) => {
    const { resource, accessChecks: { collection: check } } = compiled
    const isLinked = check !== undefined && links.some((link) => link.resource === resource)
    return isLinked ? [{ ...openingOf(compiled), isOfBar: true, check }] : []
  })
}

/**
 * Returns the questions for the lists in the path of a page. The page has passed their scopes, and has found the rows
 * above it, so that only `authorize` is asked.
 */
function findChecksAbove (compiled: CompiledResource): readonly ListCheck[] {
  const { parent, level, resource } = compiled
  const above = parent === undefined ? [] : findChecksAbove(parent)
  if (level.authorize.length === 0 || !resource.actions.has('list')) return above
  const makeHidden = (): Error => notFound(resource, undefined)
  const check: ListCheck['check'] = ({ action, id }, { request }) =>
    authorize(level, request, { action, id, row: undefined, makeHidden })
  return [...above, { ...openingOf(compiled), isOfBar: false, check }]
}

/** Returns what opens a resource from a link: the action, and the parameters of its path. */
export function openingOf ({ resource, resourcePaths }: CompiledResource): Omit<ListCheck, 'check' | 'isOfBar'> {
  return { resource, action: openingAction(resource), parameters: resourcePaths.collection.names }
}

/** Returns whether a path is, or begins with, the segments of another one. */
function isBelow (path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}
