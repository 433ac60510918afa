import type { FastifyInstance } from 'fastify'
import { isDeepStrictEqual } from 'node:util'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { ChildLink } from '../formats/format.js'
import type { CompiledResource } from '../compiled-resource.js'
import { Handlers } from '../actions/handlers.js'
import { Negotiator } from '../request/negotiate.js'
import type { RoutePath, Urls } from '../routes/route.js'
import { idParameter, type Parent, type ResourcePaths } from '../resource/location.js'
import type { PathNames } from '../routes/path-helpers.js'
import { compilePath } from '../resource/path-pattern.js'
import { compilePublicVersion } from '../resource/visible.js'
import { ID_SCHEMAS, makeResource, type Resource } from '../resource/resource.js'
import type { Declaration } from '../options/declaration.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import { resolveRouting, type Routing } from '../options/resolve/routing.js'
import { bundleSchema } from '../schema/bundle.js'
import type { Schema } from '../schema/types.js'
import { noStore } from '../stores/store.js'
import { lazy } from '../util/functions.js'
import { isObject } from '../util/own-property.js'
import { findListChecks, findNavigation } from '../relations/navigation.js'
import { addReferences } from '../routes/route-registry.js'
import type { DescribeRoutes, RouteDescriptions } from '../wings.js'
import { makeTable, nameRoutes, type RouteNames } from '../routes/route-table.js'
import { appHooksOf, longestParameter } from './app-internals.js'
import { compileResource } from './compile-resource.js'

/** The values that all resources of one registration share. */
export interface Registration {
  readonly app: FastifyInstance
  readonly names: PathNames
  readonly prefix: string
  /** The checked options of each declaration. */
  readonly options: ReadonlyMap<Declaration, ResolvedOptions>
  /** The resources that serve files of the pages. */
  readonly assetOwners: AssetOwner[]
  /** Describes routes for @fastify/swagger, or `undefined` if the app has none. */
  readonly describeRoutes: DescribeRoutes | undefined
}

/** A resource that is checked and compiled, with its routes. */
export interface PreparedResource {
  readonly compiled: CompiledResource
  readonly negotiator: Negotiator
  readonly handlers: Handlers
  readonly paths: readonly RoutePath[]
  readonly urls: Urls
  readonly descriptions: RouteDescriptions | undefined
}

/** The parent of nested resources. */
interface ParentContext {
  readonly compiled: CompiledResource
  /** The path of its row in the router's syntax, without the prefix of the instance. */
  readonly url: string
  /** The name of that path in `app.paths`. */
  readonly name: string
  /** The schemas of the parameters in that path. */
  readonly parameters: ReadonlyMap<string, Schema>
  readonly link: Omit<Parent, 'foreignKey'>
}

/**
 * Compiles a resource and the resources nested in it. Errors about an option name the resource.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function prepare (
  registration: Registration,
  declaration: Declaration,
  parent?: ParentContext
): PreparedResource[] {
  return nameOwner(ownerOf(declaration.options.name), () => {
    const { singleton, inherited, children } = declaration
    const { app, names: { paths: helpers }, prefix } = registration
    const shared = app.getSchemas()
    const customActions = declaration.customActions.map((action) => ({
      ...action,
      attributes: bundleSchema(action.attributes, shared),
      query: bundleSchema(action.query, shared)
    }))
    const options = registration.options.get(declaration) as ResolvedOptions
    const isShallow = inherited.shallow && parent !== undefined && !singleton
    const urls = locate(registration, declaration, options.routing, parent)
    checkNesting(options, children, parent)
    const resourcePaths = makeResourcePaths(options, urls, isShallow, parent)
    const resource = nameResource(options, resourcePaths, longestParameter(app))
    const compiled: CompiledResource = compileResource(options, resource, {
      resourcePaths,
      parent: parent?.compiled,
      customActions,
      children: children.filter((child) => child.singleton && hasPage(child)).map(linkTo),
      paths: helpers,
      assetOwner: (file) => findAssetOwner(registration.assetOwners, file, resource.path, options),
      navigation: (lang) => findNavigation(app, compiled, lang),
      listChecks: lazy(() => findListChecks(app, compiled)),
      appHooks: () => appHooksOf(app)
    })
    const negotiator = new Negotiator(compiled)
    const handlers = new Handlers(compiled)
    const names = nameRoutes(options, inherited, parent?.name, isShallow)
    const parameters = describeParameters(compiled, parent)
    const inner = children.length === 0 ? undefined : openRow(compiled, names, urls, parameters)
    const nested = children.map((child) => ({ child, prepared: prepare(registration, child, inner) }))
    for (const { child, prepared: [own] } of nested) {
      if (own !== undefined && hasPage(child)) compiled.relations.addChild(compiled, own.compiled)
    }
    addReferences(app, compiled, { registration, path: inherited.path.join('/') })
    const paths = makeTable(compiled, handlers, names, urls)
    if (paths.length === 0 && children.length === 0) {
      throw new InvalidOptionError('only', 'leaves neither an action nor a nested resource')
    }
    const descriptions = registration.describeRoutes?.(compiled, { prefix: app.prefix + prefix, names, parameters })
    return [
      { compiled, negotiator, handlers, paths, urls, descriptions },
      ...nested.flatMap(({ prepared }) => prepared)
    ]
  })
}

/** Returns the paths of a resource. `members` differs from `collection` only for shallow rows. */
function locate (
  { app, prefix }: Registration,
  { singleton, inherited: { path, shallow, shallowPath } }: Declaration,
  { segment }: Routing,
  parent: ParentContext | undefined
): Urls {
  const collection = [parent?.url ?? prefix, ...path.map((part) => `/${part}`), `/${segment}`].join('')
  return {
    prefix: encodePrefix(app.prefix),
    collection,
    members:
      shallow && parent !== undefined && !singleton
        ? [prefix, ...shallowPath.map((part) => `/${part}`), `/${segment}`].join('')
        : collection
  }
}

function encodePrefix (prefix: string): string {
  if (/[:*]/.test(prefix)) {
    throw new InvalidOptionError(
      'prefix',
      `must not have parameters in an enclosing app.register, but it is "${prefix}" there; put them into the prefix ` +
        'of the resource itself, or into the path of a scope'
    )
  }
  return prefix.replace(/\/$/, '')
}

function checkNesting (
  { store, routing: { foreignKey } }: ResolvedOptions,
  children: readonly Declaration[],
  parent: ParentContext | undefined
): void {
  if (children.length > 0 && store === noStore) {
    throw new InvalidOptionError(
      'store',
      'is required, because a request for a nested resource looks up the row of this one first; give the store that ' +
        'has these rows'
    )
  }
  if (parent === undefined && foreignKey !== undefined) {
    throw new InvalidOptionError(
      'foreignKey',
      'can be given only to a resource that is nested in another one, and this one is not nested'
    )
  }
}

function makeResourcePaths (
  { routing }: ResolvedOptions,
  { prefix, collection, members }: Urls,
  isShallow: boolean,
  parent: ParentContext | undefined
): ResourcePaths {
  return {
    collection: compilePath('prefix', prefix + collection),
    members: compilePath('prefix', prefix + members),
    isShallow,
    parent: parent && {
      ...parent.link,
      foreignKey: routing.foreignKey ?? parent.link.param ?? idParameter(parent.link.resource.singular, 'id')
    }
  }
}

function nameResource (
  options: ResolvedOptions,
  { collection: { text: path }, parent }: ResourcePaths,
  longestId: number
): Resource {
  const { plural, singular, singleton, writes, routing: { actions }, idType, schema, store } = options
  const { key = [] } = store
  const foreignKey = parent?.foreignKey
  const memberWrites = writes === 'member'
  const resource = makeResource(
    { plural, singular, path, memberWrites, singleton, actions, foreignKey, longestId, key },
    idType,
    foreignKey === undefined ? schema : protectKey(schema, foreignKey)
  )
  if (store.versions !== 'values') return resource
  return Object.freeze({ ...resource, publicVersion: compilePublicVersion(resource, store.attributes) })
}

/** Makes a declared foreign key `readOnly`, because the path decides which parent a row has. */
function protectKey (schema: Schema | undefined, foreignKey: string): Schema | undefined {
  const properties = schema?.properties
  if (!isObject(properties) || !Object.hasOwn(properties, foreignKey)) return schema
  return {
    ...schema,
    properties: { ...properties, [foreignKey]: { ...(properties[foreignKey] as Schema), readOnly: true } }
  }
}

/** Returns the schemas of the path parameters: the ids, and others that `constraints` restricts. */
function describeParameters (
  { resource, options: { routing } }: CompiledResource,
  parent: ParentContext | undefined
): ReadonlyMap<string, Schema> {
  return new Map([
    ...(parent?.parameters ?? []),
    ...Object.entries(routing.constraints).map(
      ([name, schema]) => [name, { ...parent?.parameters.get(name), ...schema }] as const
    ),
    ...(resource.singleton ? [] : [[routing.param, describeId(resource, routing)] as const])
  ])
}

function describeId ({ idType }: Resource, { param, constraints }: Routing): Schema {
  return { ...ID_SCHEMAS[idType], ...constraints[param] }
}

/** Returns the context for nested resources, whose paths begin with the path of a row. */
function openRow (
  compiled: CompiledResource,
  { member }: RouteNames,
  { prefix, collection, members }: Urls,
  parameters: ParentContext['parameters']
): ParentContext {
  const { resource, resourcePaths, representations, options: { routing } } = compiled
  const param = resource.singleton ? undefined : idParameter(resource.singular, routing.param)
  const url = param === undefined ? collection : `${members}/:${param}`
  const formats = representations.map(({ name }) => name)
  return {
    compiled,
    url,
    name: member,
    parameters: new Map([
      ...parameters,
      ...(param === undefined ? [] : [[param, describeId(resource, routing)] as const])
    ]),
    link: {
      resource,
      param,
      path: compilePath('prefix', prefix + url),
      formats,
      list: !resource.singleton && resource.actions.has('list') ? resourcePaths.collection : undefined,
      parent: resourcePaths.parent
    }
  }
}

/**
 * Returns whether a parent's page can link to a nested resource: to its list, or its one record, without further
 * parameters.
 */
function hasPage ({ options, singleton, inherited }: Declaration): boolean {
  const { actions } = nameOwner(ownerOf(options.name), () =>
    resolveRouting(options.name, options, singleton, inherited.guards)
  )
  return actions.has(singleton ? 'show' : 'list') && !inherited.path.some((segment) => segment.includes(':'))
}

function linkTo ({ options, inherited }: Declaration): ChildLink {
  const { name, path = name } = options
  return {
    name: options.singular ?? name,
    segment: [...inherited.path, path].map((segment) => encodeURI(segment)).join('/')
  }
}

/** A resource that serves a file, also to the pages of others. */
interface AssetOwner {
  readonly file: string
  readonly path: string
  readonly routing: ResolvedOptions['routing']
}

/**
 * Returns the path of the resource that serves a file. Browsers load the file once for all resources that share it. Its
 * hooks guard the file, so only a resource with the same hooks shares it.
 */
function findAssetOwner (
  owners: AssetOwner[],
  file: string,
  path: string,
  { routing }: Pick<ResolvedOptions, 'routing'>
): string {
  // A resource without actions has no routes.
  if (routing.actions.size === 0) return path
  const owner = owners.find((other) => other.file === file &&
    isDeepStrictEqual(other.routing.hooks, routing.hooks) &&
    isDeepStrictEqual(other.routing.routeConstraints, routing.routeConstraints))
  if (owner !== undefined) return owner.path
  owners.push({ file, path, routing })
  return path
}
