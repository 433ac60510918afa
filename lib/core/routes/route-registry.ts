import { inspect } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ClashError, InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { CompiledResource } from '../compiled-resource.js'
import { warnOfTimeout } from '../registration/app-internals.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import type { Route, RoutePath } from './route.js'
import { type NamedPath, PathNames } from './path-helpers.js'
import { type AjvSettings, Validators } from '../schema/validation/validators.js'
import { didYouMean } from '../util/words.js'

/** A route of a resource, as `printResources` prints it. */
export interface ResourceRoute {
  /** The name of its path in `app.paths`, or the empty text if it has no helper. */
  readonly name: string
  /** The HTTP method: `GET`, `POST`. */
  readonly verb: string
  /** The path with the names of its parameters, without a suffix: `/posts/:id`. */
  readonly path: string
  /** The resource and the action: `posts#list`. */
  readonly action: string
  /** The names of the formats that it answers in. */
  readonly formats: readonly string[]
}

/** A route, with the words by which errors name its declaration. */
interface Declared extends ResourceRoute {
  readonly by: string
  readonly formOnly: boolean
}

/** The place where a resource is declared, which distinguishes it from others of its name. */
interface DeclarationPlace {
  readonly registration: object
  /** The segments of the scopes around it. */
  readonly path: string
}

/** The place of a resource that is not nested, and its options. */
export interface ReferencePlace extends DeclarationPlace {
  readonly options: ResolvedOptions
  /** The prefix of the instance. */
  readonly prefix: string
}

/** A resource that is not nested. */
interface ReferencedResource extends ReferencePlace {
  readonly compiled: CompiledResource
}

/** The place of a home page. */
export interface Home {
  /** Returns the title in a language. */
  readonly titleIn: (lang: string) => string
  /** The path of the page. */
  readonly href: string
  /** The prefix of the resources that belong to it. */
  readonly prefix: string
  /** Sends an error of a request that no route has taken, and whose hooks have not run. */
  sendError (error: unknown, request: FastifyRequest, reply: FastifyReply): unknown
}

/** A table or a view of a database among others, for home pages and bars. */
export interface TablePlace {
  readonly isView: boolean
  /** Tables with more weight come first where there is no room for all. */
  readonly weight: number
}

/** The resources and their routes on one server, whichever instance they are registered on. */
class Registry {
  readonly resources: ReferencedResource[] = []
  /** All resources, also those that are nested. */
  readonly all: Array<Pick<ReferencedResource, 'compiled' | 'registration'>> = []
  readonly homes: Home[] = []
  /** The tables and views of databases. */
  readonly tables: Map<CompiledResource, TablePlace> = new Map()
  readonly #routes = new Map<string, Declared>()
  readonly #paths = new Map<string, RoutePath[]>()
  readonly #validators: Validators[] = []

  get routes (): readonly ResourceRoute[] {
    return [...this.#routes.values()].flatMap(({ by: _, formOnly, ...route }) => formOnly ? [] : [route])
  }

  /** Returns the validators that all resources with the same settings share. */
  validatorsFor (settings: AjvSettings): Validators {
    const isEqual = ({ settings: { customOptions, plugins } }: Validators): boolean =>
      customOptions === settings.customOptions && plugins === settings.plugins
    const known = this.#validators.find(isEqual)
    const validators = known ?? new Validators(settings)
    if (known === undefined) this.#validators.push(validators)
    return validators
  }

  /**
   * Adds the methods of a route, except HEAD.
   * @throws ClashError if another route has the same method and path
   */
  add (path: RoutePath, { name = path.name, methods, actions: [action], formOnly = false }: Route): void {
    for (const verb of methods.filter((method) => method !== 'HEAD')) {
      const { pattern: { text }, formats, by } = path
      const route = { name, verb, path: text, action: `${path.resource}#${action.name}`, formats, by, formOnly }
      const key = `${verb} ${routeKey(text, path.routeConstraints)}`
      const other = this.#routes.get(key)
      if (other !== undefined) {
        // The actions distinguish two routes of one resource.
        const name = ({ by, action }: Declared): string =>
          other.by === route.by && other.action !== route.action ? `${action} of ${by}` : by
        throw new ClashError(name(other), name(route), `${verb} ${text}`)
      }
      this.#routes.set(key, route)
    }
  }

  /** Returns the paths that the router treats as this one, itself included, in the order of declaration. */
  pathsLike ({ pattern: { text }, routeConstraints }: RoutePath): RoutePath[] {
    const key = routeKey(text, routeConstraints)
    const alike = this.#paths.get(key) ?? []
    this.#paths.set(key, alike)
    return alike
  }
}

/**
 * Finds the resources that the option `references` may name. Those of the same scope, else of the same registration,
 * else with the same prefix come first.
 */
export function findNamed<T extends ReferencePlace> (
  name: string,
  { registration, path, prefix }: Omit<ReferencePlace, 'options'>,
  all: readonly T[]
): readonly T[] {
  const named = all.filter(({ options }) => !options.singleton && options.plural === name)
  const beside = named.filter((other) => other.registration === registration)
  const alike = named.filter((other) => other.prefix === prefix)
  const groups = [beside.filter((other) => other.path === path), beside, alike]
  return groups.find(({ length }) => length > 0) ?? named
}

/**
 * Finds the resource that the option `references` names.
 * @throws InvalidOptionError
 */
function findReferenced (
  name: string,
  own: Omit<ReferencePlace, 'options'>,
  all: readonly ReferencedResource[]
): CompiledResource {
  const [first, ...others] = findNamed(name, own, all)
  if (first === undefined) {
    const hint = didYouMean(name, all.map(({ compiled: { resource: { plural } } }) => plural))
    throw new InvalidOptionError(
      'references',
      `names "${name}", but the app has no such resource, or only a nested one${hint}`
    )
  }
  if (others.length === 0) return first.compiled
  throw new InvalidOptionError(
    'references',
    `names "${name}", of which the app has several; declare the one that is meant in the same scope or with the same ` +
      'prefix'
  )
}

/**
 * Adds the relations of the option `references`. The resources that they name are found once the app is ready.
 * @throws InvalidOptionError
 */
export function addReferences (app: FastifyInstance, compiled: CompiledResource, place: DeclarationPlace): void {
  const { options: { name, references }, relations, resourcePaths } = compiled
  const { resources } = registryOf(app)
  const own = { ...place, prefix: app.prefix }
  registryOf(app).all.push({ compiled, registration: place.registration })
  if (resourcePaths.parent === undefined) resources.push({ compiled, options: compiled.options, ...own })
  for (const [attribute, reference] of references) {
    relations.addReference(compiled, attribute, reference, () => findReferenced(reference.to, own, resources))
  }
  if (references.size === 0) return
  app.addHook('onReady', (done) => {
    nameOwner(ownerOf(name), () => relations.complete())
    done()
  })
}

/**
 * Returns the resources of the server by their names. One of the same registration takes precedence over others, and
 * an earlier one over later ones.
 */
export function neighborsOf (app: FastifyInstance, registration: object): ReadonlyMap<string, CompiledResource> {
  const { all } = registryOf(app)
  const ordered = [
    ...all.filter((other) => other.registration !== registration).reverse(),
    ...all.filter((other) => other.registration === registration).reverse()
  ]
  return new Map(ordered.map(({ compiled }) => [compiled.name, compiled]))
}

const REGISTRY: unique symbol = Symbol('fastify-resources.registry')
const NAMES: unique symbol = Symbol('fastify-resources.names')

interface Decorated {
  [NAMES]?: PathNames
}

/** Returns the registry of an app. The server keeps it, because all instances of the app share the server. */
export function registryOf (app: FastifyInstance): Registry {
  const server: typeof app.server & { [REGISTRY]?: Registry } = app.server
  const known = server[REGISTRY]
  if (known !== undefined) return known
  warnOfTimeout(app)
  return (server[REGISTRY] = new Registry())
}

/**
 * Returns the path names of an instance. On the first call it adds `paths`, `printResources` and `resourceRoutes`,
 * which the instances inside inherit. Each instance with resources knows its own names and those of the instances
 * around it.
 * @throws InvalidOptionError if the app has decorated the instance with one of these names
 */
export function namesOf (app: FastifyInstance): PathNames {
  const decorated: FastifyInstance & Decorated = app
  const known = decorated[NAMES]
  if (known !== undefined && Object.hasOwn(app, NAMES)) return known
  const outer: Decorated = Object.getPrototypeOf(app)
  const names = new PathNames(() => outer[NAMES])
  for (const name of ['paths', 'printResources', 'resourceRoutes']) {
    if (Object.hasOwn(app, name) || (app.hasDecorator(name) && known === undefined)) {
      throw new InvalidOptionError(
        'name',
        `cannot be registered on an instance that is decorated with "${name}" already`
      )
    }
  }
  app.decorate(NAMES, names)
  // A getter, because Fastify would read the member `getter` of the paths, which throw for an unknown name.
  app.decorate('paths', { getter: () => names.paths })
  app.decorate('printResources', () => printRoutes(registryOf(app).routes))
  app.decorate('resourceRoutes', { getter: () => registryOf(app).routes })
  return names
}

/**
 * Adds the names of the paths of one registration to `app.paths`, and their routes to the registry.
 * @throws InvalidOptionError, ClashError if another path has the same name, or another route the same method and path
 */
export function addPaths (
  app: FastifyInstance,
  names: PathNames,
  prepared: ReadonlyArray<{ readonly compiled: CompiledResource, readonly paths: readonly RoutePath[] }>
): void {
  const registry = registryOf(app)
  const beside = new Map<string, NamedPath>()
  for (const { compiled: { options }, paths } of prepared) {
    for (const path of paths) {
      registry.pathsLike(path).push(path)
      for (const route of path.routes) {
        const name = route.name ?? path.name
        if (name !== '') nameOwner(ownerOf(options.name), () => { addName(names, { ...path, name }, beside) })
        registry.add(path, route)
      }
    }
  }
}

function addName (names: PathNames, path: NamedPath, beside: Map<string, NamedPath>): void {
  if (path.name === 'url') {
    throw new InvalidOptionError('as', 'must not be "url", because app.paths.url makes absolute URLs')
  }
  const other = beside.get(path.name)
  if (other === undefined) names.add(path)
  else if (other.pattern.text !== path.pattern.text) {
    throw new ClashError(
      other.by,
      path.by,
      `the name "${path.name}" in app.paths; give one of them another name by the option "as"`
    )
  }
  beside.set(path.name, path)
}

const HEADINGS = { name: 'Name', verb: 'Verb', path: 'Path', action: 'Action', formats: 'Formats' } as const

/** Renders the routes as a table, as `rails routes` does. */
function printRoutes (routes: readonly ResourceRoute[]): string {
  const rows = routes.map(({ name, verb, path, action, formats }) => [name, verb, path, action, formats.join(' ')])
  const table = [Object.values<string>(HEADINGS), ...rows]
  const widths = Object.keys(HEADINGS).map((_, column) =>
    Math.max(...table.map((row) => (row[column] as string).length))
  )
  return table
    .map((row) =>
      row
        .map((text, column) =>
          column === 0 ? text.padStart(widths[0] as number) : text.padEnd(widths[column] as number)
        )
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/**
 * Returns a key that is the same for two paths that the router treats as one. The names of parameters and the order of
 * constraints make no difference.
 */
export function routeKey (path: string, routeConstraints: RoutePath['routeConstraints']): string {
  const key = path.replaceAll(/:\w+/g, ':')
  return Object.keys(routeConstraints).length === 0 ? key : `${key} ${inspect(routeConstraints, { sorted: true })}`
}
