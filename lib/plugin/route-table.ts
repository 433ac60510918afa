import type { HTTPMethods, RouteHandlerMethod } from 'fastify'
import type { Hall, Own } from '../http/compiled-resource.js'
import type { Handlers } from '../http/handlers/handlers.js'
import type { Asked, Path, Service, Urls } from '../http/route.js'
import { compilePath } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import type { Stand } from '../routing/custom-action.js'
import type { HookLists } from '../routing/hooks.js'
import { routeKey } from './route-registry.js'

/** What the paths of a resource are called. */
export interface Names {
  readonly collection: string
  /** The collection's, but of shallow rows, which stand under a path of their own. */
  readonly members: string
  readonly member: string
  readonly blank: string
  readonly edit: string
  own (name: string, on: Stand): string
}

const NO_HOOKS: HookLists = new Map()

function parametersOf (owns: readonly Own[]): string[] {
  return ['format', ...new Set(owns.flatMap(({ parameters }) => parameters))]
}

/** The paths of a resource with all that is served on them; one on which nothing is served is left out. */
export function makeTable (hall: Hall, handlers: Handlers, names: Names, urls: Urls): readonly Path[] {
  const { resource: { actions, singleton }, options: { writes, routing }, listing, site } = hall
  const { param, pathNames, conditions, actionHooks } = routing
  const row = singleton ? urls.collection : `${urls.members}/:${param}`

  const asked = (name: ActionName): Asked => ({ name, hooks: actionHooks.get(name) ?? NO_HOOKS, isFor: ({ action }) => action === name })
  const path = (name: string, url: string, isMember: boolean, services: ReadonlyArray<Service | undefined>, more: Partial<Path> = {}): Path => {
    const given: Service[] = services.filter((service) => service !== undefined)
    return { name, pattern: compilePath('prefix', urls.prefix + url), url, isMember, param: undefined, isLast: false, conditions, services: given, ...more }
  }

  const reads = (action: ActionName, handler: RouteHandlerMethod, parameters: readonly string[], document?: Service['document']): Service | undefined =>
    actions.has(action) ? { methods: ['GET', 'HEAD'], actions: [asked(action)], parameters, handler, ...(document !== undefined && { document }) } : undefined

  /** What the actions' methods do on a path, and what a form does there by a POST. */
  function writesOn (wanted: readonly ActionName[], parameters: readonly string[], hasPatch: boolean): Array<Service | undefined> {
    const there = wanted.filter((action) => actions.has(action))
    const payload = handlers.readPayload(new Set(there))
    const service = (methods: readonly HTTPMethods[], action: ActionName): Service | undefined =>
      there.includes(action) ? { methods, actions: [asked(action)], parameters, payload, handler: handlers.write, document: 'record' } : undefined
    const [first, ...others] = there.map(asked)
    const post: Service | undefined = first === undefined ? undefined : { methods: ['POST'], actions: [first, ...others], parameters: ['format'], payload, handler: handlers.write, document: 'record', unnamed: !there.includes('create') }
    return [post, service(hasPatch ? ['PUT', 'PATCH'] : ['PUT'], 'update'), service(['DELETE'], 'delete')]
  }

  function ownPaths (): Path[] {
    const bases = { collection: urls.collection, member: row, new: `${urls.collection}/${pathNames.new}` }
    const groups = new Map<string, Own[]>()
    for (const own of hall.own) {
      const key = `${own.on} ${routeKey(own.segment, own.conditions)}`
      groups.set(key, [...groups.get(key) ?? [], own])
    }
    return [...groups.values()].map((owns) => {
      const { on, segment, name, conditions: more } = owns[0] as Own
      const isOfRow = on === 'member' && !singleton
      return path(names.own(name, on), `${bases[on]}/${segment}`, on === 'member', ownServices(owns), { param: isOfRow ? param : undefined, conditions: { ...conditions, ...more } })
    })
  }

  function ownServices (owns: readonly Own[]): Service[] {
    // Several may have one name; as long as no body says otherwise, it is the first of those that the route has.
    const askedOwn = (own: Own, index: number): Asked => ({ name: own.name, hooks: own.hooks, isFor: (state) => state.own === undefined ? index === 0 && state.action === own.name : state.own === own })
    const askedAll = ([first, ...others]: readonly [Own, ...Own[]]): Service['actions'] => [askedOwn(first, 0), ...others.map((own, index) => askedOwn(own, index + 1))]
    const written = owns.filter(({ verb }) => verb !== 'GET')
    const byVerb = new Map<string, Own>(written.map((own) => [own.verb, own]))
    const { read, check, handler } = handlers.writeOwn(byVerb)
    const services = written.map((own): Service => {
      // A form may ask for the others by its POST.
      const others = own.verb === 'POST' ? written.filter((other) => other !== own && other.verb !== 'PATCH') : []
      return { methods: [own.verb], actions: askedAll([own, ...others]), parameters: parametersOf([own, ...others]), payload: { read, check }, handler, own, name: names.own(own.name, own.on), document: 'record' }
    })
    const [formed, ...more] = written.filter(({ verb }) => verb === 'PUT' || verb === 'DELETE')
    const post: Service[] = formed === undefined || byVerb.has('POST') ? [] : [{ methods: ['POST'], actions: askedAll([formed, ...more]), parameters: parametersOf([formed, ...more]), payload: { read, check }, handler, own: formed, name: names.own(formed.name, formed.on), document: 'record', unnamed: true }]
    const gets = owns.filter(({ verb }) => verb === 'GET').map((own): Service => ({ methods: ['GET', 'HEAD'], actions: askedAll([own]), parameters: parametersOf([own]), handler: handlers.readOwn(own), own, name: names.own(own.name, own.on), document: 'record' }))
    return [...gets, ...services, ...post]
  }

  const withId = ['format', 'id']
  const onCollection: readonly ActionName[] = site.isShallow ? ['create'] : ['create', 'update', 'delete']
  const paths = singleton
    ? [path(names.member, urls.collection, false, [reads('show', handlers.show, ['format'], 'record'), ...writesOn(['create', 'update', 'delete'], ['format'], writes !== 'collection')])]
    : [
        path(names.collection, urls.collection, false, [reads('list', handlers.list, listing.parameters), ...writesOn(onCollection, withId, false).filter((service) => writes !== 'member' || service?.methods[0] === 'POST')]),
        ...(site.isShallow && writes !== 'member' ? [path(names.members, urls.members, true, writesOn(['update', 'delete'], withId, false))] : []),
        path(names.member, row, true, [reads('show', handlers.show, ['format'], 'record'), ...(writes === 'collection' ? [] : writesOn(['update', 'delete'], withId, true))], { param, isLast: true })
      ]
  return [
    ...paths,
    path(names.blank, `${urls.collection}/${pathNames.new}`, false, [reads('new', handlers.blank, ['format'], 'blank')]),
    path(names.edit, `${row}/${pathNames.edit}`, true, [reads('edit', handlers.edit, ['format'], 'record')], { param: singleton ? undefined : param }),
    ...ownPaths()
  ].filter(({ services }) => services.length > 0)
}
