import { inspect } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { ClashError, InvalidOptionError } from '../errors.js'
import type { Route, RoutePath } from '../http/route.js'
import { type NamedPath, PathNames } from '../resource/path-helpers.js'

/** A route of a resource, as `printResources` prints it. */
export interface ResourceRoute {
  /** By which `app.paths` knows it. */
  readonly name: string
  /** `GET`, `POST` */
  readonly verb: string
  /** With the names of its parameters; a suffix may follow. */
  readonly path: string
  /** `posts#list` */
  readonly action: string
  /** Those it answers in, by name. */
  readonly formats: readonly string[]
}

/** A method of a path, and who has declared it, in words. */
interface Declared extends ResourceRoute {
  readonly by: string
  readonly formOnly: boolean
}

/** All that is declared on one server, whichever instance it is registered on. */
class Registry {
  readonly #routes = new Map<string, Declared>()

  get routes (): readonly ResourceRoute[] {
    return [...this.#routes.values()].flatMap(({ by: _, formOnly, ...route }) => formOnly ? [] : [route])
  }

  /** @throws ClashError */
  add (path: RoutePath, { name = path.name, methods, actions: [action], formOnly = false }: Route): void {
    for (const verb of methods.filter((method) => method !== 'HEAD')) {
      const { pattern: { text }, formats, by } = path
      const route = { name, verb, path: text, action: `${path.resource}#${action.name}`, formats, by, formOnly }
      const key = `${verb} ${routeKey(text, path.routeConstraints)}`
      const other = this.#routes.get(key)
      if (other !== undefined) {
        // The routes of one resource differ by their actions.
        const name = ({ by, action }: Declared): string =>
          other.by === route.by && other.action !== route.action ? `${action} of ${by}` : by
        throw new ClashError(name(other), name(route), `${verb} ${text}`)
      }
      this.#routes.set(key, route)
    }
  }
}

const REGISTRY: unique symbol = Symbol('fastify-resources.registry')
const NAMES: unique symbol = Symbol('fastify-resources.names')

interface Registered {
  [REGISTRY]?: Registry
}

interface Decorated {
  [NAMES]?: PathNames
}

/** All instances of an app have one server in common, which is where they meet. */
export function registryOf ({ server }: FastifyInstance): Registry {
  const registered = server as Registered
  registered[REGISTRY] ??= new Registry()
  return registered[REGISTRY]
}

/**
 * Gives an instance, and all inside of it, `paths`, `printResources` and `resourceRoutes`; each instance on which
 * resources are registered knows its own names and those of the instances around it.
 */
export function namesOf (app: FastifyInstance): PathNames {
  const decorated = app as FastifyInstance & Decorated
  if (Object.hasOwn(app, NAMES)) return decorated[NAMES] as PathNames
  const names = new PathNames(() => (Object.getPrototypeOf(app) as Decorated)[NAMES])
  for (const name of ['paths', 'printResources', 'resourceRoutes']) {
    if (Object.hasOwn(app, name) || (app.hasDecorator(name) && decorated[NAMES] === undefined)) {
      throw new InvalidOptionError(
        'name',
        `cannot be registered on an instance that is decorated with "${name}" already`
      )
    }
  }
  app.decorate(NAMES, names)
  // Fastify looks whether a value has a getter, which no path is called.
  app.decorate('paths', { getter: () => names.paths })
  app.decorate('printResources', () => printRoutes(registryOf(app).routes))
  app.decorate('resourceRoutes', { getter: () => registryOf(app).routes })
  return names
}

/** @throws InvalidOptionError, ClashError where a declaration beside it has the same name for another path */
export function addName (names: PathNames, path: NamedPath, beside: readonly NamedPath[]): void {
  if (path.name === 'url') {
    throw new InvalidOptionError('as', 'must be another name than "url", by which app.paths makes absolute URLs')
  }
  const other = beside.find((known) => known.name === path.name && known.pattern.text !== path.pattern.text)
  if (other !== undefined) {
    throw new ClashError(
      other.by,
      path.by,
      `the name "${path.name}" in app.paths; give one of them another one by the option "as"`
    )
  }
  if (!beside.some((known) => known.name === path.name)) names.add(path)
}

const HEADINGS = { name: 'Name', verb: 'Verb', path: 'Path', action: 'Action', formats: 'Formats' } as const

/** A table as `rails routes` prints it. */
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
 * Returns the same text for two paths that a router takes for one: neither the names of parameters nor the order of
 * constraints makes a difference to it.
 */
export function routeKey (path: string, routeConstraints: unknown): string {
  return `${path.replaceAll(/:\w+/g, ':')} ${inspect(routeConstraints, { sorted: true })}`
}
