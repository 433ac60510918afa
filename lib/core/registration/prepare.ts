import type { FastifyInstance } from 'fastify'
import { isDeepStrictEqual } from 'node:util'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { CompiledResource } from '../compiled-resource.js'
import { Handlers } from '../actions/handlers.js'
import type { CustomAction } from '../actions/custom/custom-action.js'
import { bodyLimitOf, filesOf } from '../formats/files.js'
import { Negotiator } from '../request/negotiate.js'
import type { RoutePath, Urls } from '../routes/route.js'
import { idParameter, ofId, openingAction, rowPath } from '../modes.js'
import type { Parent, ResourcePaths } from '../resource/location.js'
import type { PathNames } from '../routes/path-helpers.js'
import { compilePath } from '../resource/path-pattern.js'
import { compilePublicVersion } from '../resource/visible.js'
import { makeResource, type Resource } from '../resource/resource.js'
import type { ResolvedDeclaration } from '../options/declaration.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import type { Routing } from '../options/resolve/routing.js'
import { compileRules } from '../rules/rules.js'
import { bundleSchema } from '../schema/subschemas.js'
import type { Schema } from '../schema/types.js'
import { lazy } from '../util/functions.js'
import { isObject } from '../util/own-property.js'
import { findListChecks, findNavigation } from '../relations/navigation.js'
import { addReferences, neighborsOf, registryOf } from '../routes/route-registry.js'
import type { DescribeRoutes, RouteDescriptions } from '../wings.js'
import { makeTable, nameRoutes } from '../routes/route-table.js'
import { appHooksOf, longestParameter } from './app-internals.js'
import { compileResource, type ResourceContext } from './compile-resource.js'
import { narrowOptions, narrowResource, RoleLacks, warnOfJoins } from './roles.js'
import { VariantNegotiator, Variants, varyRoutes } from './variants.js'

/** The values that all resources of one registration share. */
export interface Registration {
  readonly app: FastifyInstance
  readonly names: PathNames
  readonly prefix: string
  /** The resources that serve files of the pages. */
  readonly assetOwners: AssetOwner[]
  /** Describes routes for @fastify/swagger, or `undefined` if the app has none. */
  readonly describeRoutes: DescribeRoutes | undefined
}

/** A resource that is checked and compiled, with its routes. */
export interface PreparedResource {
  readonly compiled: CompiledResource
  readonly negotiator: Negotiator
  readonly paths: readonly RoutePath[]
  readonly urls: Urls
  readonly descriptions: RouteDescriptions | undefined
}

/** The paths of a resource, without those of its files. */
type LocatedUrls = Omit<Urls, 'files' | 'bodyLimit'>

/** Fastify's default of `bodyLimit`, in bytes. */
const MIB = 1_048_576

/** The parent of nested resources. */
interface ParentContext {
  readonly compiled: CompiledResource
  /** The path of its row in the router's syntax, without the prefix of the instance. */
  readonly url: string
  /** The name of that path in `app.paths`. */
  readonly name: string
  readonly link: Omit<Parent, 'foreignKey'>
}

/**
 * Compiles a resource and the resources nested in it. Errors about an option name the resource.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function prepare (
  registration: Registration,
  declaration: ResolvedDeclaration,
  parent?: ParentContext
): PreparedResource[] {
  const { options, inherited, children } = declaration
  return nameOwner(ownerOf(options.name), () => {
    const { app, names: { paths: helpers }, prefix, assetOwners, describeRoutes } = registration
    const { urls, resourcePaths, declared } = describe(registration, declaration, parent)
    const validators = registryOf(app).validatorsFor(options.ajv)
    const lacks = options.roles && new RoleLacks(options.roles, declared, options, resourcePaths.isShallow)
    const resource = lacks === undefined ? declared : Object.freeze({ ...declared, hiddenFromSome: lacks.hidden })
    const variants = lacks && new Variants(lacks, (lack) => {
      if (lack.hidden.size + lack.readOnly.size === 0) return { compiled, paths: table }
      const variant: CompiledResource = compileResource(
        narrowOptions(options, lack),
        narrowResource(resource, lack, options.store),
        { ...context, variantOf: { whole: compiled, lack }, listChecks: lazy(() => findListChecks(app, variant)) }
      )
      return { compiled: variant, paths: makeTable(variant, new Handlers(variant), names, urls) }
    })
    if (lacks !== undefined) warnOfJoins(app, lacks, { resource, options, validators })
    const context: ResourceContext = {
      resourcePaths,
      variants,
      parent: parent?.compiled,
      customActions: bundleActions(declaration, app),
      validators,
      rules: compileRules(resource, options, validators),
      children: linkSingletons(children),
      paths: helpers,
      assetOwner: (file) => findAssetOwner(assetOwners, { file, path: resource.path, routing: options.routing }),
      navigation: (lang) => findNavigation(app, compiled, lang),
      listChecks: lazy(() => findListChecks(app, compiled)),
      appHooks: () => appHooksOf(app),
      neighbors: lazy(() => neighborsOf(app, registration))
    }
    const compiled: CompiledResource = compileResource(options, resource, context)
    const names = nameRoutes(options, inherited, parent?.name, resourcePaths.isShallow)
    const inner = openRow(compiled, names.member, urls)
    const nested = children.map((child) => {
      const all = prepare(registration, child, inner)
      const [own] = all
      if (own !== undefined && isLinkable(child)) compiled.relations.addChild(compiled, own.compiled)
      return all
    })
    addReferences(app, compiled, { registration, path: inherited.path.join('/') })
    const table = makeTable(compiled, new Handlers(compiled), names, urls)
    const paths = variants === undefined ? table : varyRoutes(table, variants)
    if (paths.length === 0 && children.length === 0) {
      throw new InvalidOptionError('only', 'leaves neither an action nor a nested resource')
    }
    const descriptions = describeRoutes?.(compiled, { prefix: app.prefix + prefix, names })
    const negotiator =
      variants === undefined ? new Negotiator(compiled) : new VariantNegotiator(compiled, paths, variants)
    return [{ compiled, negotiator, paths, urls, descriptions }, ...nested.flat()]
  })
}

/** Describes a resource, and finds its paths. */
function describe (
  registration: Registration,
  declaration: ResolvedDeclaration,
  parent: ParentContext | undefined
): { readonly urls: Urls, readonly resourcePaths: ResourcePaths, readonly declared: Resource } {
  const { app } = registration
  const { options } = declaration
  const located = locate(registration, declaration, parent)
  const resourcePaths = compilePaths(located, declaration, parent)
  const declared = describeResource(options, resourcePaths, longestParameter(app))
  return { urls: { ...located, ...findFiles(app, options, declared) }, resourcePaths, declared }
}

/** Returns the custom actions, with the schemas of the app that they refer to. */
function bundleActions ({ customActions }: ResolvedDeclaration, app: FastifyInstance): readonly CustomAction[] {
  const schemas = app.getSchemas()
  return customActions.map((action) => ({
    ...action,
    attributes: bundleSchema(action.attributes, schemas),
    query: bundleSchema(action.query, schemas)
  }))
}

/** Returns the paths of a resource for the router. */
function locate (
  { app, prefix }: Registration,
  { inherited, options, options: { singleton, routing: { segment, param } } }: ResolvedDeclaration,
  parent: ParentContext | undefined
): LocatedUrls {
  const isShallow = inherited.shallow && parent !== undefined && !singleton
  const collection = [parent?.url ?? prefix, ...inherited.path, segment].join('/')
  const members = isShallow ? [prefix, ...inherited.shallowPath, segment].join('/') : collection
  const row = rowPath(options, members, param)
  if (!/[:*]/.test(app.prefix)) return { prefix: app.prefix.replace(/\/$/, ''), collection, members, row, isShallow }
  throw new InvalidOptionError(
    'prefix',
    `must not have parameters in an enclosing app.register, but it is "${app.prefix}" there; put them into the ` +
      'prefix of the resource itself, or into the path of a scope'
  )
}

/** Returns the attributes that are files, which have paths if there are pages, and the size of the bodies with them. */
function findFiles (
  { initialConfig: { bodyLimit = MIB } }: FastifyInstance,
  { formats }: ResolvedOptions,
  resource: Resource
): Pick<Urls, 'files' | 'bodyLimit'> {
  const files = filesOf(resource)
  return {
    files: formats.some(({ browser }) => browser === true) ? files : [],
    bodyLimit: files.length === 0 ? undefined : bodyLimitOf(files, bodyLimit)
  }
}

function compilePaths (
  { prefix, collection, members, isShallow }: LocatedUrls,
  { foreignKey }: ResolvedDeclaration,
  parent: ParentContext | undefined
): ResourcePaths {
  return {
    collection: compilePath('prefix', prefix + collection),
    members: compilePath('prefix', prefix + members),
    isShallow,
    parent: parent && { ...parent.link, foreignKey: foreignKey as string }
  }
}

function describeResource (
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
  // The path says what a foreign key is.
  const isHidden = (name: string): boolean =>
    schema !== undefined && !resource.attributes.has(name) && name !== foreignKey
  const hidden = new Set(Object.keys(store.attributes?.properties ?? {}).filter(isHidden))
  const publicVersion = store.versions === 'values' ? compilePublicVersion(resource, store.attributes) : undefined
  return Object.freeze({ ...resource, hidden, publicVersion })
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

/** Returns the context for nested resources, whose paths begin with the path of a row. */
function openRow (compiled: CompiledResource, name: string, { prefix, members }: Urls): ParentContext {
  const { resource, resourcePaths, representations, options } = compiled
  const param = idParameter(options)
  const url = rowPath(resource, members, param)
  return {
    compiled,
    url,
    name,
    link: {
      resource,
      param: ofId(resource, param),
      path: compilePath('prefix', prefix + url),
      formats: representations.map(({ name }) => name),
      list: resource.actions.has('list') ? resourcePaths.collection : undefined,
      parent: resourcePaths.parent
    }
  }
}

/**
 * Returns whether a parent's page can link to a nested resource: to its list, or its one record, without further
 * parameters.
 */
function isLinkable ({ inherited, options, options: { routing: { actions } } }: ResolvedDeclaration): boolean {
  return actions.has(openingAction(options)) && !inherited.path.some((segment) => segment.includes(':'))
}

/** Returns the nested singletons to which the page of a row links. */
function linkSingletons (children: readonly ResolvedDeclaration[]): ResourceContext['children'] {
  return children.filter((child) => child.singleton && isLinkable(child)).map((child) => ({
    name: child.options.singular,
    segment: encodeURI([...child.inherited.path, child.options.routing.segment].join('/'))
  }))
}

/** A resource that serves a file, also to the pages of others. */
interface AssetOwner {
  readonly file: string
  readonly path: string
  readonly routing: Routing
}

/**
 * Returns the path of the resource that serves a file. Browsers load the file once for all resources that share it. Its
 * hooks guard the file, so only a resource with the same hooks shares it.
 */
function findAssetOwner (owners: AssetOwner[], own: AssetOwner): string {
  // A resource without actions has no routes.
  if (own.routing.actions.size === 0) return own.path
  const keyOf = ({ file, routing: { hooks, routeConstraints } }: AssetOwner) => [file, hooks, routeConstraints]
  const owner = owners.find((other) => isDeepStrictEqual(keyOf(other), keyOf(own)))
  if (owner === undefined) owners.push(own)
  return (owner ?? own).path
}
