import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidOptionError } from './errors.js'
import { buildHall } from './hall.js'
import { type ResourceOptions, resolveOptions } from './options.js'
import { makeResource } from './resource.js'
import { addRoutes } from './routes.js'

/**
 * A Fastify plugin that makes a named resource a web resource: list, show, create, update and delete, in XML, HTML and
 * JSON. May be registered many times.
 *
 * @example
 * app.register(resources, { name: 'posts' })
 */
const resources: FastifyPluginAsync<ResourceOptions> = fp(register, {
  fastify: '5.x',
  name: 'fastify-resources',
  // Hooks, parsers and the error handler stay in a scope of their own.
  encapsulate: true
})

async function register (app: FastifyInstance, options: ResourceOptions): Promise<void> {
  const resolved = resolveOptions(options)
  const { plural, singular, store, idType, schema, writes } = resolved
  if (app.prefix.includes(':') || app.prefix.includes('*')) throw new InvalidOptionError('prefix', `must not have parameters, but the resource stands under "${app.prefix}"`)
  const place = { plural, singular, path: `${encodeURI(app.prefix)}/${plural}`.replace('//', '/'), memberWrites: writes === 'member' }
  const hall = buildHall(resolved, makeResource(place, idType, schema))
  await store.prepare?.()
  addRoutes(app, hall)
}

export default resources
// Under this name require() gives the plugin itself (Node.js, "Loading ECMAScript modules using require()").
export { resources, resources as 'module.exports' }
export { DuplicateError, InvalidError, NotFoundError, StoreFullError, UnavailableError, UnknownOutcomeError } from './errors.js'
export type { Messages, Problem } from './errors.js'
export type { Asset, Convert, Entries, Format, Input, JsonWriter, ListWriter, PageView, PageWriter, Reader, Surroundings, TextWriter, View, Writer } from './formats/format.js'
export { html, Markup, raw } from './formats/html/markup.js'
export type { Content } from './formats/html/markup.js'
export type { PageMessages } from './formats/html/messages.js'
export type {
  Alternate, Button, CheckboxesField, CheckField, Column, Conflict, Constraints, EditPage, ErrorPage, Field, FieldFrame, FilterField, FilterForm, Form,
  FormError, FreeRows, GroupField, HiddenField, InputField, KeptField, Link, ListPage, MomentField, Option, Page, PageFrame, RadiosField, RecordPage, Row, RowsField,
  SelectField, StalePage, TextField, Value
} from './formats/html/model.js'
export { defaultViews } from './formats/html/views.js'
export type { ResolvedViews, Views } from './formats/html/views.js'
export type { ResourceOptions } from './options.js'
export type { IdType, Resource } from './resource.js'
export type { AttributesSchema, Property, Schema, Shape, TypeName } from './shape.js'
export { memoryStore } from './stores/memory.js'
export type { MemoryStore, MemoryStoreOptions } from './stores/memory.js'
export { postgresStore } from './stores/postgres.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresStore, PostgresStoreOptions } from './stores/postgres.js'
export type { SqlStore, SqlStoreOptions } from './stores/sql/store.js'
export { sqliteStore } from './stores/sqlite.js'
export type { SqliteDatabase, SqliteStatement, SqliteStore, SqliteStoreOptions } from './stores/sqlite.js'
export { BY_ID, comparePositions, positionOf } from './stores/order.js'
export type {
  Attributes, Batches, Capabilities, Context, Criterion, Filter, Guard, Id, MaybePromise, Order, Position, Query, Scalar, Scope,
  Store, Stored, Written
} from './stores/store.js'
