import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { ChildLink } from '../formats/format.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import { Handlers } from '../http/handlers/handlers.js'
import { Negotiator } from '../http/request/negotiate.js'
import type { RoutePath, Urls } from '../http/route.js'
import { describeRoutes, type Description } from '../openapi/describe-routes.js'
import { nameDescribed } from '../openapi/described.js'
import { ID_SCHEMAS } from '../openapi/resource-schemas.js'
import { camelize, capitalize } from '../resource/inflection.js'
import type { Mount, Parent } from '../resource/location.js'
import type { PathNames } from '../resource/path-helpers.js'
import { compilePath } from '../resource/path-pattern.js'
import { makeResource, type Resource } from '../resource/resource.js'
import type { Declaration } from '../routing/declaration.js'
import type { ResourceOptions } from '../routing/options.js'
import { resolveOptions, type ResolvedOptions } from '../routing/resolve-options.js'
import { resolveRouting, type Routing } from '../routing/resolve-routing.js'
import { type AjvSettings, type AppSchemas, bundleSchema } from '../schema/bundle.js'
import type { Schema } from '../schema/types.js'
import { noStore } from '../stores/null-store.js'
import { isObject } from '../util/own-property.js'
import { compileResource } from './compile-resource.js'
import { makeTable, nameRoutes, type RouteNames } from './route-table.js'

/** What all resources of one registration have in common. */
export interface Registration {
  readonly app: FastifyInstance
  readonly names: PathNames
  readonly prefix: string
}

/** A resource that has been found to be right, with its routes. */
export interface PreparedResource {
  readonly compiled: CompiledResource
  readonly negotiator: Negotiator
  readonly handlers: Handlers
  readonly paths: readonly RoutePath[]
  readonly urls: Urls
  readonly description: Description
}

/** A resource in which others are nested. */
interface ParentContext {
  readonly compiled: CompiledResource
  /** The path of its row, as the router takes it. */
  readonly url: string
  /** What `app.paths` calls that. */
  readonly name: string
  /** The schemas of the parameters of that. */
  readonly parameters: ReadonlyMap<string, Schema>
  readonly link: Omit<Parent, 'foreignKey'>
}

/**
 * Compiles a resource, and those that are nested in it. Errors about an option name the resource.
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
    const { shared, ajv } = appSchemasOf(app)
    const customActions = declaration.customActions.map((action) => ({
      ...action,
      attributes: bundleSchema(action.attributes, shared),
      query: bundleSchema(action.query, shared)
    }))
    const options = resolveOptions(bundleAttributes(declaration.options, shared), singleton, inherited.guards)
    const isShallow = inherited.shallow && parent !== undefined && !singleton
    const urls = locate(registration, declaration, options.routing, parent)
    checkNesting(options, children, parent)
    const mount = makeMount(options, urls, isShallow, parent)
    const compiled = compileResource(options, nameResource(options, mount), {
      mount,
      parent: parent?.compiled,
      customActions,
      children: children.filter(hasPage).map(linkTo),
      paths: helpers,
      ajv
    })
    const negotiator = new Negotiator(compiled)
    const handlers = new Handlers(compiled)
    const names = nameRoutes(options, inherited, parent?.name, isShallow)
    const paths = makeTable(compiled, handlers, names, urls)
    if (paths.length === 0 && children.length === 0) {
      throw new InvalidOptionError('only', 'leaves no action and no nested resource')
    }
    const parameters = describeParameters(compiled, parent)
    const description = describeRoutes(compiled, { names: nameDescribed(app.prefix + prefix, names), parameters })
    const inner = children.length === 0 ? undefined : openRow(compiled, names, urls, parameters)
    return [
      { compiled, negotiator, handlers, paths, urls, description },
      ...children.flatMap((child) => prepare(registration, child, inner))
    ]
  })
}

/** Fastify keeps its options under a symbol of this description, and hands them to its own validator from there. */
const OPTIONS = 'fastify.options'

/** Returns the schemas, formats and keywords that Fastify's own routes on this instance have. */
export function appSchemasOf (app: FastifyInstance): AppSchemas {
  let around: object | null = app
  while (around !== null) {
    const key = Object.getOwnPropertySymbols(around).find(({ description }) => description === OPTIONS)
    if (key !== undefined) {
      return { shared: app.getSchemas(), ajv: (Reflect.get(around, key) as { readonly ajv: AjvSettings }).ajv }
    }
    around = Object.getPrototypeOf(around) as object | null
  }
  return { shared: app.getSchemas(), ajv: {} }
}

/** What is no schema is refused later. */
function bundleAttributes (options: ResourceOptions, shared: AppSchemas['shared']): ResourceOptions {
  const { attributes } = options
  if (attributes === undefined || !isObject(attributes)) return options
  const bundled: unknown = bundleSchema(attributes as Schema, shared)
  return { ...options, attributes: bundled as typeof attributes }
}

/** The row's path is another one only where it is shallow. */
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
      `must not have parameters, but the resource stands under "${prefix}": give them by the option "prefix" itself, ` +
        'or by a scope with such a path'
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
      'is needed: a request for what is nested in it looks up its row first. Give the resource the store that has ' +
        'its rows'
    )
  }
  if (parent === undefined && foreignKey !== undefined) {
    throw new InvalidOptionError(
      'foreignKey',
      'can be given only to a resource that is nested in another one, which this one is not'
    )
  }
}

function makeMount (
  { routing }: ResolvedOptions,
  { prefix, collection, members }: Urls,
  isShallow: boolean,
  parent: ParentContext | undefined
): Mount {
  return {
    collection: compilePath('prefix', prefix + collection),
    members: compilePath('prefix', prefix + members),
    isShallow,
    parent: parent && {
      ...parent.link,
      foreignKey: routing.foreignKey ?? parent.link.param ?? idParameter(parent.link.resource, 'id')
    }
  }
}

function nameResource (options: ResolvedOptions, { collection, parent }: Mount): Resource {
  const { plural, singular, singleton, writes, routing: { actions }, idType, schema } = options
  const foreignKey = parent?.foreignKey
  return makeResource(
    { plural, singular, path: collection.text, memberWrites: writes === 'member', singleton, actions, foreignKey },
    idType,
    foreignKey === undefined ? schema : protectKey(schema, foreignKey)
  )
}

/** The path says which row is a row's parent: an attribute that has its id becomes `readOnly`. */
function protectKey (schema: Schema | undefined, foreignKey: string): Schema | undefined {
  const properties = schema?.properties as Schema | undefined
  if (properties === undefined || !Object.hasOwn(properties, foreignKey)) return schema
  return {
    ...schema,
    properties: { ...properties, [foreignKey]: { ...(properties[foreignKey] as Schema), readOnly: true } }
  }
}

/** The schemas of the parameters of the resource's paths, as far as the app restricts them. */
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

/** What is nested in a row of the resource stands under the row's path. */
function openRow (
  compiled: CompiledResource,
  { member }: RouteNames,
  { prefix, collection, members }: Urls,
  parameters: ParentContext['parameters']
): ParentContext {
  const { resource, representations, options: { routing } } = compiled
  const param = resource.singleton ? undefined : idParameter(resource, routing.param)
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
    link: { resource, param, path: compilePath('prefix', prefix + url), formats }
  }
}

/** `postId`; of a parameter that has another name than `id` that one: `postSlug`. */
function idParameter ({ singular }: Resource, param: string): string {
  return camelize(singular) + capitalize(param)
}

/** Returns whether there is something to be seen of a nested resource, at a path that needs the parent's row alone. */
function hasPage ({ options, singleton, inherited }: Declaration): boolean {
  const { actions } = nameOwner(ownerOf(options.name), () =>
    resolveRouting(options.name, options, singleton, inherited.guards)
  )
  return actions.has(singleton ? 'show' : 'list') && !inherited.path.some((segment) => segment.includes(':'))
}

function linkTo ({ options, singleton, inherited }: Declaration): ChildLink {
  const { name, path = name } = options
  return {
    name: singleton ? (options.singular ?? name) : name,
    segment: [...inherited.path, path].map((segment) => encodeURI(segment)).join('/')
  }
}
