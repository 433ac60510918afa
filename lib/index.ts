// The entry `fastify-resources`: the plugin, the routing module, and what their options are made of. It loads no wing
// but `draw` before a resource needs one.
import type { FastifyPluginAsync } from 'fastify'
import { makeResources } from './core/plugin.js'
import * as values from './core/public-values.js'
import type { ResourceOptions } from './core/options/options.js'
import type { ResourceRoute } from './core/routes/route-registry.js'
import type { Paths } from './core/routes/path-helpers.js'
import { type Draw, makeDraw } from './draw/draw.js'
import { home } from './home/home.js'
import { WINGS } from './wings.js'

/**
 * A Fastify plugin that serves a named resource as XML, HTML and JSON: list, show, create, update and delete. It may be
 * registered many times.
 *
 * @example
 * app.register(resources, { name: 'posts' })
 */
export const resources: FastifyPluginAsync<ResourceOptions> = makeResources(WINGS)
export default resources

/**
 * Returns a Fastify plugin that registers the resources of a map.
 *
 * @example
 * app.register(draw((map) => map
 *   .resources('posts', { store }, (posts) => posts.resources('comments'))))
 */
export const draw: Draw = makeDraw(WINGS)

/** The value that `require()` returns: the plugin, with all other exports as its members. */
const required: typeof resources & typeof values & {
  readonly resources: typeof resources
  readonly draw: typeof draw
  readonly home: typeof home
} = Object.assign(resources, values, { resources, draw, home })

// Node.js, "Loading ECMAScript modules using require()".
export { home, required as 'module.exports' }
export * from './core/public-values.js'
export type { HomeOptions } from './home/home-pages.js'

export type { Messages, Problem, SaidMessages } from './core/errors.js'
export type { CodedMessage, Message, MessageCode, MessageTexts, Said } from './core/messages.js'
export type {
  Convert, Entries, ConfiguredResource, Format, Input, JsonWriter, ListWriter,
  Prepared, PreparedProblem, Reader, Services, WriterContext,
  TextWriter,
  View, Writer
} from './core/formats/format.js'
export type { Location } from './core/resource/location.js'
export type { AjvSettings } from './core/schema/validation/validators.js'
export type { Issues } from './core/schema/validation/issues.js'
export type {
  DeclaredOptions, FormatOptions, IdempotencyOptions, OpenapiOptions, ReferenceOptions, ResourceOptions, ScopeOptions
} from './core/options/options.js'
export type { CheckContext, CheckRow, Transitions, WholeRow } from './core/rules/rules.js'
export type { ListQuery } from './core/actions/list.js'
export type { ListOutcome, Outcome, Source, Total } from './core/actions/outcome.js'
export type { ActionEvent } from './core/telemetry/tracing.js'
export type {
  ActionContext, ActionTransaction, HandlerAnswer, Handler, HandlerRow, ListContext
} from './core/options/handler.js'
export type { ActionOptions } from './core/actions/custom/custom-action.js'
export type { Hooks } from './core/options/hooks.js'
export type { FindRole, RoleOptions } from './core/options/roles.js'
export type { DrawOptions, MapPlugin } from './draw/draw.js'
export type { Mapper, ResourceMapper } from './draw/mapper.js'
export type { AuthorizeContext, Authorize, FindScope } from './core/actions/authorize/level.js'
export type { RoutingOptions } from './core/options/options.js'
export type { Paths, Register } from './core/routes/path-helpers.js'
export type { ResourceRoute } from './core/routes/route-registry.js'
export type { ActionName, IdType, Resource } from './core/resource/resource.js'
export type { AttributesOf, ChangesOf, CreateOf, VisibleOf } from './core/schema/infer.js'
export type { ResourceAttributes, RowsOf, StoreFor } from './core/stores/infer.js'
export type { Property, Shape } from './core/schema/shape.js'
export type { AttributesSchema, Schema, TypeName } from './core/schema/types.js'
export type { MemoryStore, MemoryStoreOptions } from './core/stores/memory.js'
export type { Id, Scope, Row } from './core/resource/row.js'
export type { Attributes, Scalar } from './core/schema/types.js'
export type {
  Batches, Capabilities, Changes, ComparedType, Condition, Context, Count, CountQuery, Operator, Filter, Guard,
  KeptRequest, KeptRequests, OnDelete, Order, Position, Query, Reference, RunInTransaction, Search, Store,
  Stores, TableRequest, Transaction, TransactionContext, TransactionOptions, WriteOutcome
} from './core/stores/store.js'
export type { Session, TransactionSource } from './core/stores/transaction.js'
export type { CsvOptions } from './core/formats/csv/csv.js'
export type { HtmlOptions } from './html/options.js'
export type { MaybePromise } from './core/util/maybe-promise.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The paths of the resources by name: `app.paths.post(7)` is `/posts/7`. */
    readonly paths: Paths
    /** All routes of resources on this server. */
    readonly resourceRoutes: readonly ResourceRoute[]
    /** Returns the routes as a table: name, verb, path, action and formats. */
    printResources (): string
  }
}
