import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, nameOwner, ownerOf, withOwner } from '../errors.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import { Handlers } from '../http/handlers/handlers.js'
import { Negotiator } from '../http/request/negotiate.js'
import type { Path, Urls } from '../http/route.js'
import { describeRoutes } from '../openapi/describe-routes.js'
import { nameDescribed } from '../openapi/names.js'
import { ID_SCHEMAS } from '../openapi/resource-schemas.js'
import { camelize } from '../resource/inflection.js'
import type { NamedPath, PathNames } from '../resource/path-helpers.js'
import { compilePath } from '../resource/path-pattern.js'
import { makeResource, nameOf, type Resource } from '../resource/resource.js'
import type { Declaration } from '../routing/declaration.js'
import type { ResourceOptions } from '../routing/options.js'
import { resolveOptions } from '../routing/resolve-options.js'
import { resolveRouting, type Routing } from '../routing/resolve-routing.js'
import { type AppSchemas, bundleSchema } from '../schema/bundle.js'
import type { Schema } from '../schema/types.js'
import { noStore } from '../stores/null-store.js'
import { isObject } from '../util/own-property.js'
import { addRoutes, type Ready, type Sharing } from './add-routes.js'
import { appSchemasOf } from './app-schemas.js'
import { compileResource } from './compile-resource.js'
import { type ParentContext, linkTo, nameRoutes } from './route-names.js'
import { addName, type DeclaredRoute, registryOf, routeKey } from './route-registry.js'
import { makeTable, type RouteNames } from './route-table.js'

/** The same with who has declared it, in words. */
interface Declared extends Ready {
  readonly by: string
}

/**
 * Registers what has been declared: each resource in a scope of its own, after all of them have been found to be right.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError, ClashError
 */
export async function addResources (
  app: FastifyInstance,
  names: PathNames,
  declarations: readonly Declaration[],
  prefix: string
): Promise<void> {
  const ready = declarations.flatMap((declaration) => prepare(app, names, declaration, prefix, undefined))
  registerRoutes(app, names, ready)
  const sharing = shareOut(ready)
  for (const resource of ready) {
    await prepareStore(resource.compiled)
    // A resource that exists only for what is nested in it has a store, and no routes.
    if (resource.paths.length === 0) continue
    // Hooks, parsers and the error handler stay in a scope of their own.
    await app.register(async (scope) => {
      nameOwner(ownerOf(resource.compiled.options.name), () => {
        addRoutes(scope, resource, sharing)
      })
    })
  }
}

/** Checks that the store can keep the rows. */
async function prepareStore ({ options: { store, name } }: CompiledResource): Promise<void> {
  try {
    await store.prepare?.()
  } catch (error) {
    throw withOwner(error, `the store of ${ownerOf(name)}`)
  }
}

/** The resource, and those that are nested in it; errors about an option name the resource. */
function prepare (
  app: FastifyInstance,
  names: PathNames,
  declaration: Declaration,
  prefix: string,
  parentContext: ParentContext | undefined
): Declared[] {
  return nameOwner(ownerOf(declaration.options.name), () => prepareAll(app, names, declaration, prefix, parentContext))
}

function prepareAll (
  app: FastifyInstance,
  names: PathNames,
  declaration: Declaration,
  prefix: string,
  parentContext: ParentContext | undefined
): Declared[] {
  const { options, singleton, inherited, children } = declaration
  const { shared, ajv } = appSchemasOf(app)
  const bundled =
    options.attributes === undefined
      ? options
      : { ...options, attributes: bundleAttributes(options.attributes, shared) }
  const own = declaration.customActions.map((action) => ({
    ...action,
    attributes: bundleSchema(action.attributes, shared),
    query: bundleSchema(action.query, shared)
  }))
  const resolved = resolveOptions(bundled, singleton, inherited.guards)
  const { routing } = resolved
  const isShallow = inherited.shallow && parentContext !== undefined && !singleton
  const before = parentContext === undefined ? prefix : parentContext.url
  const collection = `${before}${inherited.path.map((segment) => `/${segment}`).join('')}/${routing.segment}`
  const urls: Urls = {
    prefix: encodePrefix(app.prefix),
    collection,
    members: isShallow
      ? `${prefix}${inherited.shallowPath.map((segment) => `/${segment}`).join('')}/${routing.segment}`
      : collection
  }
  if (children.length > 0 && resolved.store === noStore) {
    throw new InvalidOptionError(
      'store',
      'is needed: a request for what is nested in it looks up its row first. Give the resource the store that has its rows'
    )
  }
  if (parentContext === undefined && routing.foreignKey !== undefined) {
    throw new InvalidOptionError(
      'foreignKey',
      'can be given only to a resource that is nested in another one, which this one is not'
    )
  }
  const foreignKey =
    routing.foreignKey ??
    parentContext?.parent.param ??
    (parentContext === undefined ? undefined : idParameter(parentContext.parent.resource, 'id'))
  const mount = {
    collection: compilePath('prefix', urls.prefix + urls.collection),
    members: compilePath('prefix', urls.prefix + urls.members),
    isShallow,
    parent: parentContext === undefined ? undefined : { ...parentContext.parent, foreignKey: foreignKey as string }
  }
  const location = {
    plural: resolved.plural,
    singular: resolved.singular,
    path: mount.collection.text,
    memberWrites: resolved.writes === 'member',
    singleton,
    actions: routing.actions,
    foreignKey
  }
  const resource = makeResource(
    location,
    resolved.idType,
    parentContext === undefined ? resolved.schema : withoutKey(resolved.schema, foreignKey as string)
  )
  const compiled = compileResource(resolved, resource, {
    mount,
    parent: parentContext?.compiled,
    customActions: own,
    children: children.filter(hasPage).map(linkTo),
    paths: names.paths,
    ajv
  })
  const negotiator = new Negotiator(compiled)
  const named = nameRoutes(resolved, singleton, inherited, parentContext, isShallow)
  const handlers = new Handlers(compiled)
  const paths = makeTable(compiled, handlers, named, urls)
  if (paths.length === 0 && children.length === 0) {
    throw new InvalidOptionError('only', 'leaves no action and no nested resource')
  }
  const by = `${singleton ? 'resource' : 'resources'} '${options.name}'`
  const parameters = new Map([
    ...(parentContext?.parameters ?? []),
    ...Object.entries(routing.constraints).map(
      ([name, schema]) => [name, { ...parentContext?.parameters.get(name), ...schema }] as const
    ),
    ...(singleton ? [] : [[routing.param, describeParameter(resource, routing)] as const])
  ])
  const inner = children.length === 0 ? undefined : open(compiled, named, urls, parameters)
  const description = describeRoutes(compiled, { names: nameDescribed(app.prefix + prefix, named), parameters })
  return [
    { compiled, negotiator, handlers, paths, urls, description, by },
    ...children.flatMap((child) => prepare(app, names, child, prefix, inner))
  ]
}

function encodePrefix (prefix: string): string {
  if (/[:*]/.test(prefix)) {
    throw new InvalidOptionError(
      'prefix',
      `must not have parameters, but the resource stands under "${prefix}": give them by the option "prefix" itself, or by a scope with such a path`
    )
  }
  return prefix.replace(/\/$/, '')
}

/** A schema that is none is told of later. */
function bundleAttributes (
  attributes: NonNullable<ResourceOptions['attributes']>,
  shared: AppSchemas['shared']
): NonNullable<ResourceOptions['attributes']> {
  return isObject(attributes)
    ? (bundleSchema(attributes as Schema, shared) as unknown as NonNullable<ResourceOptions['attributes']>)
    : attributes
}

/** What is nested in a row of the resource stands under the row's path. */
function open (
  compiled: CompiledResource,
  { member }: RouteNames,
  { prefix, collection, members }: Urls,
  parameters: ParentContext['parameters']
): ParentContext {
  const {
    resource,
    options: { routing }
  } = compiled
  const param = resource.singleton ? undefined : idParameter(resource, routing.param)
  const url = resource.singleton ? collection : `${members}/:${param}`
  const own = param === undefined ? [] : [[param, describeParameter(resource, routing)] as const]
  return {
    compiled,
    url,
    name: member,
    parameters: new Map([...parameters, ...own]),
    parent: {
      resource,
      param,
      path: compilePath('prefix', prefix + url),
      formats: compiled.representations.map(({ name }) => name)
    }
  }
}

/** An id, as far as the app lets it be one. */
function describeParameter ({ idType }: Resource, { param, constraints }: Routing): Schema {
  return { ...ID_SCHEMAS[idType], ...constraints[param] }
}

/** `postId`; of a parameter that has another name than `id` that one: `postSlug`. */
function idParameter ({ singular }: Resource, param: string): string {
  return `${camelize(singular)}${param.charAt(0).toUpperCase()}${param.slice(1)}`
}

/** Which row is a row's parent is said by its path: an attribute that has it is only read. */
function withoutKey (schema: Schema | undefined, foreignKey: string): Schema | undefined {
  const properties = schema?.properties as Schema | undefined
  if (properties === undefined || !Object.hasOwn(properties, foreignKey)) return schema
  return {
    ...schema,
    properties: { ...properties, [foreignKey]: { ...(properties[foreignKey] as Schema), readOnly: true } }
  }
}

/** Whether there is something to be seen of it, at a path that a row alone tells. */
function hasPage ({ options, singleton, inherited }: Declaration): boolean {
  const { actions } = nameOwner(ownerOf(options.name), () =>
    resolveRouting(options.name, options, singleton, inherited.guards)
  )
  return actions.has(singleton ? 'show' : 'list') && !inherited.path.some((segment) => segment.includes(':'))
}

/** Which resources have a path in common. */
function shareOut (ready: readonly Declared[]): Sharing {
  const all = new Map<string, Path[]>()
  const keyOf = ({ url, routeConstraints }: Path): string => routeKey(url, routeConstraints)
  for (const path of ready.flatMap(({ paths }) => paths)) all.set(keyOf(path), [...all.get(keyOf(path)) ?? [], path])
  return (path) => {
    const alike = all.get(keyOf(path)) as Path[]
    return {
      services: alike.flatMap((other) => (other === path ? [] : other.services)),
      endsWithId: alike.at(-1) === path
    }
  }
}

/** Enters the routes of all in what is printed, and their names in what `app.paths` knows. */
function registerRoutes (app: FastifyInstance, names: PathNames, ready: readonly Declared[]): void {
  const beside: NamedPath[] = []
  const routes: DeclaredRoute[] = []
  for (const { compiled, paths, by } of ready) {
    const formats = compiled.representations.map(({ name }) => name)
    for (const path of paths) {
      const { pattern, endsWithId, routeConstraints, services } = path
      const whose = `${by} at ${compiled.resource.path}`
      for (const { methods, actions: [{ name: action }], formOnly, name = path.name } of services) {
        const named = { name, pattern, isMember: endsWithId, formats, by: whose }
        nameOwner(ownerOf(compiled.options.name), () => { addName(names, named, beside) })
        beside.push(named)
        for (const verb of methods) {
          if (verb !== 'HEAD') {
            routes.push({
              name,
              hidden: formOnly === true,
              verb,
              path: pattern.text,
              action: `${nameOf(compiled.resource)}#${action}`,
              formats,
              routeConstraints,
              by: whose
            })
          }
        }
      }
    }
  }
  const registry = registryOf(app)
  for (const route of routes) registry.add(route)
}
