import type { HTTPMethods, RouteHandlerMethod } from 'fastify'
import type { CompiledResource, CompiledCustomAction } from '../http/compiled-resource.js'
import type { Handlers } from '../http/handlers/handlers.js'
import type { RouteAction, Path, Service, Urls } from '../http/route.js'
import { compilePath } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import type { ActionScope } from '../routing/custom-action.js'
import type { HookLists } from '../routing/hooks.js'
import { routeKey } from './route-registry.js'

/** What the paths of a resource are called. */
export interface RouteNames {
  readonly collection: string
  /** The collection's, but of shallow rows, which stand under a path of their own. */
  readonly members: string
  readonly member: string
  readonly blank: string
  readonly edit: string
  custom (name: string, on: ActionScope): string
}

const NO_HOOKS: HookLists = new Map()

function parametersOf (owns: readonly CompiledCustomAction[]): string[] {
  return ['format', ...new Set(owns.flatMap(({ parameters }) => parameters))]
}

/** The paths of a resource with all that is served on them; one on which nothing is served is left out. */
export function makeTable (
  compiled: CompiledResource,
  handlers: Handlers,
  names: RouteNames,
  urls: Urls
): readonly Path[] {
  const {
    resource: { actions, singleton },
    options: { writes, routing },
    listQuery,
    mount
  } = compiled
  const { param, pathNames, routeConstraints, actionHooks } = routing
  const row = singleton ? urls.collection : `${urls.members}/:${param}`

  const routeAction = (name: ActionName): RouteAction => ({
    name,
    hooks: actionHooks.get(name) ?? NO_HOOKS,
    isFor: ({ action }) => action === name
  })
  const path = (
    name: string,
    url: string,
    isMember: boolean,
    services: ReadonlyArray<Service | undefined>,
    more: Partial<Path> = {}
  ): Path => {
    const given: Service[] = services.filter((service) => service !== undefined)
    return {
      name,
      pattern: compilePath('prefix', urls.prefix + url),
      url,
      isMember,
      param: undefined,
      endsWithId: false,
      routeConstraints,
      services: given,
      ...more
    }
  }

  const reads = (
    action: ActionName,
    handler: RouteHandlerMethod,
    parameters: readonly string[],
    document?: Service['document']
  ): Service | undefined =>
    actions.has(action)
      ? {
          methods: ['GET', 'HEAD'],
          actions: [routeAction(action)],
          parameters,
          handler,
          ...(document !== undefined && { document })
        }
      : undefined

  /** What the actions' methods do on a path, and what a form does there by a POST. */
  function writesOn (
    wanted: readonly ActionName[],
    parameters: readonly string[],
    hasPatch: boolean
  ): Array<Service | undefined> {
    const there = wanted.filter((action) => actions.has(action))
    const payload = handlers.readPayload(new Set(there))
    const service = (methods: readonly HTTPMethods[], action: ActionName): Service | undefined =>
      there.includes(action)
        ? { methods, actions: [routeAction(action)], parameters, payload, handler: handlers.write, document: 'record' }
        : undefined
    const [first, ...others] = there.map(routeAction)
    const post: Service | undefined =
      first === undefined
        ? undefined
        : {
            methods: ['POST'],
            actions: [first, ...others],
            parameters: ['format'],
            payload,
            handler: handlers.write,
            document: 'record',
            formOnly: !there.includes('create')
          }
    return [post, service(hasPatch ? ['PUT', 'PATCH'] : ['PUT'], 'update'), service(['DELETE'], 'delete')]
  }

  function ownPaths (): Path[] {
    const bases = { collection: urls.collection, member: row, new: `${urls.collection}/${pathNames.new}` }
    const groups = new Map<string, CompiledCustomAction[]>()
    for (const own of compiled.customActions) {
      const key = `${own.on} ${routeKey(own.segment, own.routeConstraints)}`
      groups.set(key, [...(groups.get(key) ?? []), own])
    }
    return [...groups.values()].map((owns) => {
      const { on, segment, name, routeConstraints: more } = owns[0] as CompiledCustomAction
      const isOfRow = on === 'member' && !singleton
      return path(names.custom(name, on), `${bases[on]}/${segment}`, on === 'member', ownServices(owns), {
        param: isOfRow ? param : undefined,
        routeConstraints: { ...routeConstraints, ...more }
      })
    })
  }

  function ownServices (owns: readonly CompiledCustomAction[]): Service[] {
    // Several may have one name; as long as no body says otherwise, it is the first of those that the route has.
    const askedOwn = (own: CompiledCustomAction, index: number): RouteAction => ({
      name: own.name,
      hooks: own.hooks,
      isFor: (state) =>
        state.customAction === undefined ? index === 0 && state.action === own.name : state.customAction === own
    })
    const askedAll = ([first, ...others]: readonly [
      CompiledCustomAction,
      ...CompiledCustomAction[]
    ]): Service['actions'] => [askedOwn(first, 0), ...others.map((own, index) => askedOwn(own, index + 1))]
    const written = owns.filter(({ verb }) => verb !== 'GET')
    const byVerb = new Map<string, CompiledCustomAction>(written.map((own) => [own.verb, own]))
    const { read, check, handler } = handlers.writeCustom(byVerb)
    const services = written.map((own): Service => {
      // A form may ask for the others by its POST.
      const others = own.verb === 'POST' ? written.filter((other) => other !== own && other.verb !== 'PATCH') : []
      return {
        methods: [own.verb],
        actions: askedAll([own, ...others]),
        parameters: parametersOf([own, ...others]),
        payload: { read, check },
        handler,
        customAction: own,
        name: names.custom(own.name, own.on),
        document: 'record'
      }
    })
    const [formed, ...more] = written.filter(({ verb }) => verb === 'PUT' || verb === 'DELETE')
    const post: Service[] =
      formed === undefined || byVerb.has('POST')
        ? []
        : [
            {
              methods: ['POST'],
              actions: askedAll([formed, ...more]),
              parameters: parametersOf([formed, ...more]),
              payload: { read, check },
              handler,
              customAction: formed,
              name: names.custom(formed.name, formed.on),
              document: 'record',
              formOnly: true
            }
          ]
    const gets = owns
      .filter(({ verb }) => verb === 'GET')
      .map((own): Service => ({
        methods: ['GET', 'HEAD'],
        actions: askedAll([own]),
        parameters: parametersOf([own]),
        handler: handlers.readCustom(own),
        customAction: own,
        name: names.custom(own.name, own.on),
        document: 'record'
      }))
    return [...gets, ...services, ...post]
  }

  const withId = ['format', 'id']
  const onCollection: readonly ActionName[] = mount.isShallow ? ['create'] : ['create', 'update', 'delete']
  const paths = singleton
    ? [
        path(names.member, urls.collection, false, [
          reads('show', handlers.show, ['format'], 'record'),
          ...writesOn(['create', 'update', 'delete'], ['format'], writes !== 'collection')
        ])
      ]
    : [
        path(names.collection, urls.collection, false, [
          reads('list', handlers.list, listQuery.parameters),
          ...writesOn(onCollection, withId, false).filter(
            (service) => writes !== 'member' || service?.methods[0] === 'POST'
          )
        ]),
        ...(mount.isShallow && writes !== 'member'
          ? [path(names.members, urls.members, true, writesOn(['update', 'delete'], withId, false))]
          : []),
        path(
          names.member,
          row,
          true,
          [
            reads('show', handlers.show, ['format'], 'record'),
            ...(writes === 'collection' ? [] : writesOn(['update', 'delete'], withId, true))
          ],
          { param, endsWithId: true }
        )
      ]
  return [
    ...paths,
    path(names.blank, `${urls.collection}/${pathNames.new}`, false, [
      reads('new', handlers.blank, ['format'], 'blank')
    ]),
    path(names.edit, `${row}/${pathNames.edit}`, true, [reads('edit', handlers.edit, ['format'], 'record')], {
      param: singleton ? undefined : param
    }),
    ...ownPaths()
  ].filter(({ services }) => services.length > 0)
}
