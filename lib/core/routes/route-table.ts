import type { HTTPMethods, RouteHandlerMethod } from 'fastify'
import type { CompiledResource, CompiledCustomAction } from '../compiled-resource.js'
import type { Handlers } from '../actions/handlers.js'
import type { Route, RouteAction, RoutePath, Urls } from './route.js'
import { ofId } from '../modes.js'
import { compileImportHook } from '../request/payload-hooks.js'
import { camelize, singularize } from '../resource/inflection.js'
import { compilePath } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import type { InheritedOptions } from '../options/declaration.js'
import type { HookLists } from '../options/hooks.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import { CREATE, MATCH } from '../request/match.js'
import { canCopy, COPIED } from '../request/prefill.js'
import { DRY_RUN, IDS } from '../request/rows.js'
import { FILES } from '../formats/files.js'
import { IMPORT } from '../formats/importing.js'
import { routeKey } from './route-registry.js'

/** The names of the paths of a resource in `app.paths`. */
export interface RouteNames {
  readonly collection: string
  /** The name of the path before the ids of rows. It differs from `collection` only for shallow rows. */
  readonly members: string
  readonly member: string
  readonly new: string
  readonly edit: string
}

/**
 * Returns the names of the paths of a resource.
 * @param parent the name of the path of a parent row, or `undefined` if the resource is not nested
 */
export function nameRoutes (
  { singleton, plural, singular, routing: { as } }: ResolvedOptions,
  { as: outer, shallowAs }: InheritedOptions,
  parent: string | undefined,
  isShallow: boolean
): RouteNames {
  const one = singleton ? as : as === plural ? singular : singularize(as)
  // If singular and plural are the same, the name belongs to a row, and the list gets the ending `index`.
  const all = as === one && !singleton ? [as, 'index'] : [as]
  const before = [...(parent === undefined ? [] : [parent]), ...outer]
  const beforeRow = isShallow ? shallowAs : before
  return {
    collection: joinNames(...before, ...all),
    members: joinNames(...beforeRow, ...all),
    member: joinNames(...beforeRow, one),
    new: joinNames('new', ...before, one),
    edit: joinNames('edit', ...beforeRow, one)
  }
}

function joinNames (...parts: readonly string[]): string {
  return camelize(parts.join('_'))
}

/** Returns the paths of a resource with their routes. A path without routes is left out. */
export function makeTable (
  compiled: CompiledResource,
  handlers: Handlers,
  names: RouteNames,
  urls: Urls
): readonly RoutePath[] {
  const table = new RouteTable(compiled, handlers, names, urls)
  const own = compiled.resource.singleton ? table.singleton() : table.rows()
  return [...own, ...table.forms(), ...table.files(), ...table.custom()]
}

type SomeActions = readonly [CompiledCustomAction, ...CompiledCustomAction[]]
type RoutePathOptions = Partial<Pick<RoutePath, 'isPage' | 'isMember' | 'param' | 'endsWithId' | 'routeConstraints'>>

const NO_HOOKS: HookLists = new Map()
const FORMAT = ['format']
const FORMAT_AND_DRY_RUN = [...FORMAT, DRY_RUN]
const FORMAT_AND_ID = [...FORMAT_AND_DRY_RUN, 'id']
const FORMAT_AND_IDS = [...FORMAT_AND_ID, IDS]
/** The members by which a route of QUERY differs from one of GET. */
const QUERY: Pick<Route, 'methods' | 'hasQueryBody'> = { methods: ['QUERY'], hasQueryBody: true }

class RouteTable {
  readonly #compiled: CompiledResource
  readonly #handlers: Handlers
  readonly #names: RouteNames
  readonly #urls: Urls
  /** The options of the path of a row. */
  readonly #member: RoutePathOptions
  readonly #showParameters: readonly string[]
  readonly #includeParameters: readonly string[]

  constructor (compiled: CompiledResource, handlers: Handlers, names: RouteNames, urls: Urls) {
    const { resource, relations, options: { routing: { param } } } = compiled
    this.#compiled = compiled
    this.#handlers = handlers
    this.#names = names
    this.#urls = urls
    this.#member = { isMember: true, param: ofId(resource, param) }
    this.#includeParameters = relations.names.length > 0 ? ['include'] : []
    this.#showParameters = [...FORMAT, ...(resource.open ? [] : ['only']), ...this.#includeParameters]
  }

  singleton (): RoutePath[] {
    const hasPatch = this.#compiled.options.writes !== 'collection'
    return this.#path(this.#names.member, this.#urls.collection, {}, [
      ...this.#reads('show', this.#handlers.show, this.#showParameters),
      ...this.#writes(['create', 'update', 'delete'], FORMAT_AND_DRY_RUN, hasPatch)
    ])
  }

  rows (): RoutePath[] {
    const { listQuery, options: { writes } } = this.#compiled
    const { collection, members, row, isShallow } = this.#urls
    const { list, show } = this.#handlers
    const writesRow = (parameters: readonly string[], hasPatch: boolean): Route[] =>
      this.#writes(['update', 'delete'], parameters, hasPatch)
    const writesAll = this.#writes(isShallow ? ['create'] : ['create', 'update', 'delete'], FORMAT_AND_IDS, false)
    return [
      ...this.#path(this.#names.collection, collection, {}, [
        ...this.#reads('list', list, [...listQuery.parameters, ...this.#includeParameters]),
        ...this.#reads('list', list, FORMAT).map((route) => ({ ...route, ...QUERY })),
        ...writesAll.filter(({ methods }) => writes !== 'member' || methods[0] === 'POST')
      ]),
      ...(isShallow && writes !== 'member'
        ? this.#path(this.#names.members, members, { isMember: true }, writesRow(FORMAT_AND_IDS, false))
        : []),
      ...this.#path(this.#names.member, row, { ...this.#member, endsWithId: true }, [
        ...this.#reads('show', show, this.#showParameters),
        ...(writes === 'collection' ? [] : writesRow(FORMAT_AND_ID, true))
      ])
    ]
  }

  /** Returns the paths of the forms. */
  forms (): RoutePath[] {
    const { options: { routing, routing: { pathNames } }, prefill, resource } = this.#compiled
    const { collection, row } = this.#urls
    const { blank, edit } = this.#handlers
    const parameters = [...FORMAT, ...prefill.parameters, ...(canCopy(resource, routing) ? [COPIED] : [])]
    const importName = joinNames(IMPORT, this.#names.collection)
    return [
      ...this.#path(this.#names.new, `${collection}/${pathNames.new}`, {}, this.#reads('new', blank, parameters)),
      ...this.#path(this.#names.edit, `${row}/${pathNames.edit}`, this.#member, this.#reads('edit', edit, FORMAT)),
      ...this.#path(importName, `${collection}/${IMPORT}`, { isPage: true }, this.#imports())
    ]
  }

  /** Returns the paths of the files of rows, which have no helpers. Whoever may see a row may open them. */
  files (): RoutePath[] {
    return this.#urls.files.flatMap(({ name }) => this.#path(
      '',
      `${this.#urls.row}/${FILES}/${name}`,
      { isMember: true, param: this.#member.param, isPage: true },
      this.#reads('show', this.#handlers.file(name), FORMAT).map((route) => ({ ...route, sendsBytes: true }))
    ))
  }

  /** Returns the routes of the page that imports rows. Its form can be opened by who may open the list. */
  #imports (): Route[] {
    const { importing } = this.#compiled
    if (importing === undefined) return []
    const [first, ...others] = [...importing.actions].map((action) => this.#action(action))
    return [...this.#reads('list', this.#handlers.importForm, FORMAT).map((route) => ({ ...route, form: importing })), {
      methods: ['POST'],
      actions: [first as RouteAction, ...others],
      parameters: FORMAT,
      readPayload: compileImportHook(this.#compiled),
      handler: this.#handlers.import,
      form: importing,
      bodyLimit: importing.bodyLimit
    }]
  }

  /** Returns the paths of the custom actions. Actions with the same path are grouped. */
  custom (): RoutePath[] {
    const { customActions, options: { routing: { pathNames, routeConstraints } } } = this.#compiled
    const { collection, row } = this.#urls
    const bases = { collection, member: row, new: `${collection}/${pathNames.new}` }
    const groups = new Map<string, [CompiledCustomAction, ...CompiledCustomAction[]]>()
    for (const action of customActions) {
      const key = `${action.on} ${routeKey(action.segment, action.routeConstraints)}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [action])
      else group.push(action)
    }
    return [...groups.values()].flatMap((actions) => {
      const [{ on, segment, name, routeConstraints: own }] = actions
      const constraints = { routeConstraints: { ...routeConstraints, ...own } }
      const single = this.#path(
        joinNames(name, this.#names[on]),
        `${bases[on]}/${segment}`,
        { ...(on === 'member' && this.#member), ...constraints },
        this.#customRoutes(actions, false)
      )
      const [first, ...others] = actions.filter(({ many }) => many)
      if (first === undefined) return single
      const isMember = this.#urls.isShallow
      return [...single, ...this.#path(
        joinNames(name, this.#names.members),
        `${this.#urls.members}/${segment}`,
        { isMember, ...constraints },
        this.#customRoutes([first, ...others], true)
      )]
    })
  }

  /** @param hasManyRows whether the requests name several rows */
  #customRoutes (actions: SomeActions, hasManyRows: boolean): Route[] {
    const written = actions.filter(({ verb }) => verb !== 'GET')
    const byVerb = new Map<string, CompiledCustomAction>(written.map((action) => [action.verb, action]))
    const write = this.#handlers.writeCustom(byVerb, hasManyRows)
    const [submitted, ...others] = written.filter(({ verb }) => verb === 'PUT' || verb === 'DELETE')
    const routes: Route[] = [
      ...actions
        .filter(({ verb }) => verb === 'GET')
        .map((action) => this.#customRoute(['GET', 'HEAD'], [action], { handler: this.#handlers.readCustom(action) })),
      ...written.map((action) =>
        // A form asks for PUT and DELETE by its POST.
        this.#customRoute([action.verb], [
          action,
          ...(action.verb === 'POST' ? written.filter((other) => other !== action && other.verb !== 'PATCH') : [])
        ], write)
      ),
      ...(submitted === undefined || byVerb.has('POST')
        ? []
        : [this.#customRoute(['POST'], [submitted, ...others], { ...write, formOnly: true })])
    ]
    if (!hasManyRows) return routes
    return routes.map((route) => ({
      ...route,
      name: joinNames(route.actions[0].name, this.#names.members),
      parameters: [...route.parameters, DRY_RUN]
    }))
  }

  #customRoute (
    methods: readonly HTTPMethods[],
    actions: SomeActions,
    more: Pick<Route, 'handler' | 'readPayload' | 'formOnly'>
  ): Route {
    const [first, ...others] = actions
    return {
      methods,
      bodyLimit: this.#urls.bodyLimit,
      actions: [makeCustomAction(first, true), ...others.map((action) => makeCustomAction(action, false))],
      parameters: ['format', ...new Set(actions.flatMap(({ parameters }) => parameters))],
      customAction: first,
      name: joinNames(first.name, this.#names[first.on]),
      ...more
    }
  }

  /** Returns one path, or none if it has no routes. */
  #path (name: string, url: string, options: RoutePathOptions, [first, ...others]: readonly Route[]): RoutePath[] {
    if (first === undefined) return []
    const { resource, name: called, representations, options: { name: declared, routing } } = this.#compiled
    return [{
      name,
      by: `${resource.singleton ? 'resource' : 'resources'} '${declared}' at ${resource.path}`,
      resource: called,
      formats: representations.map(({ name }) => name),
      pattern: compilePath('prefix', this.#urls.prefix + url),
      url,
      isMember: false,
      param: undefined,
      endsWithId: false,
      routeConstraints: routing.routeConstraints,
      routes: [first, ...others],
      ...options
    }]
  }

  #action (name: ActionName): RouteAction {
    const { actionHooks } = this.#compiled.options.routing
    return { name, hooks: actionHooks.get(name) ?? NO_HOOKS, isFor: ({ action }) => action === name }
  }

  #reads (action: ActionName, handler: RouteHandlerMethod, parameters: readonly string[]): Route[] {
    if (!this.#compiled.resource.actions.has(action)) return []
    return [{ methods: ['GET', 'HEAD'], actions: [this.#action(action)], parameters, handler }]
  }

  /** Returns the routes of the served writes on a path. A POST is among them, because forms can send nothing else. */
  #writes (wanted: readonly ActionName[], parameters: readonly string[], mergesPatches: boolean): Route[] {
    const served = wanted.filter((action) => this.#compiled.resource.actions.has(action))
    const [first, ...others] = served.map((action) => this.#action(action))
    if (first === undefined) return []
    const write = {
      readPayload: this.#handlers.readPayload(new Set(served)),
      handler: this.#handlers.write,
      bodyLimit: this.#urls.bodyLimit
    } as const
    const routes: Route[] = [{
      ...write,
      methods: ['POST'],
      actions: [first, ...others],
      parameters: FORMAT_AND_DRY_RUN,
      formOnly: !served.includes('create')
    }]
    if (served.includes('update')) {
      const methods: HTTPMethods[] = mergesPatches ? ['PUT', 'PATCH'] : ['PUT']
      const matching = parameters.includes(IDS) ? [...parameters, MATCH, CREATE] : parameters
      routes.push({ ...write, methods, actions: [this.#action('update')], parameters: matching, mergesPatches })
    }
    if (served.includes('delete')) {
      routes.push({ ...write, methods: ['DELETE'], actions: [this.#action('delete')], parameters })
    }
    return routes
  }
}

/**
 * Makes an action of a route. Actions may share a name, so the action of a request is compared by identity. While it is
 * unknown, the request counts as one for the first action of its route.
 */
function makeCustomAction (own: CompiledCustomAction, isFirst: boolean): RouteAction {
  const { name, hooks } = own
  return {
    name,
    hooks,
    isFor: ({ action, customAction }) =>
      customAction === undefined ? isFirst && action === name : customAction.declared === own.declared
  }
}
