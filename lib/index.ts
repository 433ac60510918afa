import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { show } from './checks.js'
import { addResources } from './register-resources.js'
import { InvalidOptionError, nameOwner, ownerOf, UnknownOptionError } from './errors.js'
import * as named from './named.js'
import { suggest } from './nearest.js'
import type { ResourceOptions } from './options.js'
import type { HELPERS, Mapper, NamesIn } from './routing/map.js'
import { drawOn, MapBuilder } from './routing/map-builder.js'
import { namesOf, type ResourceRoute } from './routing/registry.js'
import type { NamedHelpers, Paths } from './routing/paths.js'
import { type AttributesSchema, isSchema } from './shape.js'
import type { Store } from './stores/store.js'
import { warnOfTimeout } from './timeout-warning.js'

/**
 * A Fastify plugin that makes a named resource a web resource: list, show, create, update and delete, in XML, HTML and
 * JSON. May be registered many times.
 *
 * @example
 * app.register(resources, { name: 'posts' })
 */
const resources: FastifyPluginAsync<ResourceOptions> = fp(register, { fastify: '5.x', name: 'fastify-resources' })

async function register (app: FastifyInstance, declared: ResourceOptions & RegisterOptions): Promise<void> {
  // Fastify hands on whatever it was given, also a text.
  if (!isSchema(declared)) throw new InvalidOptionError('name', `must stand in an object of options: app.register(resources, { name: 'posts' }). It was registered with ${show(declared)}`)
  const { name, prefix, logLevel, logSerializers, ...options } = declared
  const given = Object.entries({ prefix, logLevel, logSerializers }).filter(([, value]) => value !== undefined)
  await addTo(app, (map) => map.resources([name], options), Object.fromEntries(given), ownerOf(name))
}

/** A plugin that has been drawn; the compiler knows its names where it has been drawn by chains. */
export interface Drawn<N = NamedHelpers> extends FastifyPluginAsync<RegisterOptions> {
  readonly [HELPERS]?: N
}

/**
 * A Fastify plugin that registers all that is declared by the helper methods of a map.
 *
 * @example
 * app.register(draw((map) => map
 *   .resources('posts', { store }, (posts) => posts.resources('comments'))))
 */
export function draw<R> (declare: (map: Mapper) => R): Drawn<NamesIn<R>> {
  // The builder does what the types say.
  const build = declare as unknown as (map: MapBuilder) => unknown
  return fp(async (app: FastifyInstance, options: RegisterOptions) => { await addTo(app, build, checkRegistered(options), 'a map') }, { fastify: '5.x', name: 'fastify-resources' })
}

/** Options for `app.register(resources, …)` of which the compiler types the handlers by the schema. */
export function defineResource<const S extends AttributesSchema | undefined = undefined, T extends Store<any> = Store> (options: ResourceOptions<S, T>): ResourceOptions {
  return options as unknown as ResourceOptions
}

/** @param owner what an error about the prefix names */
async function addTo (app: FastifyInstance, declare: (map: MapBuilder) => unknown, { prefix = '', ...options }: RegisterOptions, owner: string): Promise<void> {
  const map = new MapBuilder()
  drawOn('draw', declare, map)
  map.end()
  const names = namesOf(app)
  warnOfTimeout(app)
  // What a scope of its own is for: the level and the serializers of its log.
  const inner = nameOwner(owner, () => normalizePrefix(prefix))
  await app.register(async (scope) => { await addResources(scope, names, map.declarations, inner) }, options)
}

/** What else is given there would be passed over, and a guard with it. */
function checkRegistered (options: RegisterOptions): RegisterOptions {
  const known = ['prefix', 'logLevel', 'logSerializers']
  for (const key of Object.keys(options)) if (!known.includes(key)) throw new UnknownOptionError(key, suggest(key, known))
  return options
}

/** As Fastify takes it: with a slash at its beginning or without, and one at its end makes no difference. */
function normalizePrefix (prefix: unknown): string {
  if (typeof prefix !== 'string') throw new InvalidOptionError('prefix', `must be a path such as '/blog', not ${String(prefix)}`)
  if (prefix === '' || prefix === '/') return ''
  const inner = prefix.replace(/^\//, '').replace(/\/$/, '')
  // Other paths than those that are asked for (WHATWG URL §4.4).
  if (inner.split('/').some((segment) => ['', '.', '..'].includes(segment))) throw new InvalidOptionError('prefix', `must be a path such as '/blog', without "." and ".." and two slashes in a row, not '${prefix}'`)
  return `/${inner}`
}

export default resources
/** What `require()` gives: the plugin itself (Node.js, "Loading ECMAScript modules using require()"), with all else as its members. */
const required: typeof resources & typeof named & { readonly resources: typeof resources, readonly draw: typeof draw, readonly defineResource: typeof defineResource } = Object.assign(resources, named, { resources, draw, defineResource })
export { resources, required as 'module.exports' }
export * from './named.js'
export type { Messages, Problem } from './errors.js'
export type { ActionLink, Asset, ChildLink, Convert, Entries, Format, Input, JsonWriter, ListWriter, PageView, PageWriter, Place, Reader, Surroundings, TextWriter, View, Writer } from './formats/format.js'
export type { Content } from './formats/html/markup.js'
export type { PageMessages } from './formats/html/messages.js'
export type {
  Alternate, Button, CheckboxesField, CheckField, Column, Conflict, Constraints, EditPage, ErrorPage, Field, FieldFrame, FilterField, FilterForm, Form,
  FormError, FreeRows, GroupField, HiddenField, InputField, KeptField, Link, ListPage, MomentField, Option, Page, PageAction, PageFrame, RadiosField, RecordPage, Row, RowsField,
  SelectField, StalePage, TextField, Value
} from './formats/html/model.js'
export type { ResolvedViews, Views } from './formats/html/views.js'
export type { Issues } from './issues.js'
export type { DeclaredOptions, OpenapiOptions, ResourceOptions } from './options.js'
export type { Wanted } from './actions/list.js'
export type { Listed, Outcome, Source } from './outcome.js'
export type { ActionEvent, ActionOutcome } from './action-event.js'
export type { ActionContext, Answer, Handler, HandlerBatches, HandlerList, HandlerOutcome, HandlerRow, ListContext } from './routing/handler.js'
export type { HookName, Hooks } from './routing/hooks.js'
export type { ActionMapper, ActionOptions, Concern, Mapper, NestedOptions, ResourceMapper, ScopeOptions } from './routing/map.js'
export type { ActionHandlers, Attempt, Authorize, FindScope, RoutingOptions } from './routing/options.js'
export type { NamedHelpers, PathHelper, PathOptions, PathParameter, Paths, Register, UrlHelper } from './routing/paths.js'
export type { ResourceRoute } from './routing/registry.js'
export type { ActionName, GeneratedIdType, IdType, Resource } from './resource.js'
export type { AttributesOf, ChangesOf, CreateOf, OtherRows, ResourceAttributes, RowsOf, StoreFor, VisibleOf } from './row-types.js'
export type { AttributesSchema, Property, Schema, Shape, TypeName } from './shape.js'
export type { MemoryStore, MemoryStoreOptions } from './stores/memory.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresStore, PostgresStoreOptions } from './stores/postgres.js'
export type { SqlStore, SqlStoreOptions } from './stores/sql/store.js'
export type { SqliteDatabase, SqliteStatement, SqliteStore, SqliteStoreOptions } from './stores/sqlite.js'
export type {
  Attributes, Batches, Capabilities, Context, Criterion, Filter, Guard, Id, MaybePromise, Order, Position, Query, Scalar, Scope,
  Store, Stored, Written
} from './stores/store.js'
export type { XmlSchemaOptions } from './xml-schema.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The paths of the resources by name: `app.paths.post(7)` is `/posts/7`. */
    readonly paths: Paths
    /** All routes of resources on this server. */
    readonly resourceRoutes: readonly ResourceRoute[]
    /** The same as a table: name, verb, path, action and formats. */
    printResources (): string
  }
}
