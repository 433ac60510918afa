import type { ResourceRoute } from './plugin/routes/route-registry.js'
import type { Paths } from './resource/path-helpers.js'

export {
  defineResource,
  draw,
  type DrawOptions,
  type MapPlugin,
  resources,
  resources as default
} from './plugin/plugin.js'
export { database } from './plugin/database/database.js'
export { home, type HomeOptions } from './plugin/routes/home/home.js'
export { required as 'module.exports' } from './plugin/required.js'
export * from './plugin/public-values.js'

export type { Messages, Problem } from './errors.js'
export type {
  ActionLink,
  ConditionParameter,
  Asset,
  ChildLink,
  ChoiceRow,
  Choosing,
  Convert,
  Entries,
  Format,
  Input,
  JsonWriter,
  LinkedRow,
  LinkedRows,
  ListWriter,
  PageView,
  PageWriter,
  Reader,
  ReferenceChoices,
  RelatedList,
  RowSearch,
  TableView,
  WriterContext,
  TextWriter,
  View,
  Writer
} from './formats/format.js'
export type { Navigation, NavigationLink } from './formats/navigation.js'
export type { Location, ParentLocation } from './resource/location.js'
export type { Content } from './formats/html/html-tag.js'
export type { PageMessages, Phrases } from './formats/html/messages.js'
export type { Brand, BrandContext, BrandPart, PageBrand } from './formats/html/style/brand.js'
export type {
  Alternate,
  Button,
  CheckboxesField,
  CheckField,
  Column,
  Conflict,
  Constraints,
  ChoosePage,
  EditPage,
  ErrorPage,
  Field,
  FieldFrame,
  FilterCondition,
  FilterForm,
  Form,
  FormError,
  FreeRows,
  GroupField,
  HiddenField,
  InputField,
  UnchangedField,
  Link,
  ListPage,
  MomentField,
  Option,
  Page,
  PageAction,
  PageFrame,
  RadiosField,
  ReferenceField,
  RecordPage,
  Removal,
  RelatedRows,
  ListRow,
  RowsField,
  SearchField,
  SelectField,
  StalePage,
  TextField,
  Value
} from './formats/html/views/model.js'
export type { RowTitle } from './formats/html/values/row-names.js'
export type { ResolvedViews, Views } from './formats/html/views/types.js'
export type { Issues } from './schema/validation/issues.js'
export type { DeclaredOptions, OpenapiOptions, ResourceOptions } from './routing/options.js'
export type { ListQuery } from './actions/list.js'
export type { ActionOutcome, ListCount, ListOutcome, Outcome, Source, Total } from './actions/outcome.js'
export type { ActionEvent } from './http/telemetry/tracing.js'
export type {
  ActionContext,
  HandlerAnswer,
  Handler,
  HandlerBatches,
  HandlerList,
  HandlerOutcome,
  HandlerRow,
  ListContext
} from './routing/handler.js'
export type { ActionOptions } from './routing/custom-action.js'
export type { HookName, Hooks } from './routing/hooks.js'
export type {
  ActionMapper,
  Concern,
  Mapper,
  NestedOptions,
  ResourceMapper,
  ScopeOptions
} from './routing/mapper.js'
export type { AuthorizeContext, Authorize, FindScope } from './actions/authorize/level.js'
export type { ActionHandlers, RoutingOptions } from './routing/routing-options.js'
export type {
  NamedHelpers,
  PathHelper,
  PathOperators,
  PathOptions,
  PathParameter,
  PathQuery,
  Paths,
  Register,
  UrlHelper
} from './resource/path-helpers.js'
export type {
  DatabaseOptions,
  DatabaseSource,
  PostgresTables,
  SqliteFileTables,
  SqliteTables,
  TableOptions,
  TableReport,
  TablesOptions
} from './plugin/database/options.js'
export type { NameOf } from './plugin/database/resource-names.js'
export type { ResourceRoute } from './plugin/routes/route-registry.js'
export type { ActionName, GeneratedIdType, IdType, Resource } from './resource/resource.js'
export type { AttributesOf, ChangesOf, CreateOf, VisibleOf } from './schema/infer.js'
export type { MismatchedRows, ResourceAttributes, RowsOf, StoreFor } from './stores/infer.js'
export type { Property, Shape } from './schema/shape.js'
export type { AttributesSchema, Schema, TypeName } from './schema/types.js'
export type { MemoryStore, MemoryStoreOptions } from './stores/memory/store.js'
export type { PostgresClient, PostgresPool, PostgresQuery } from './stores/postgres/driver.js'
export type { PostgresOptions, PostgresStore, PostgresStoreOptions } from './stores/postgres/store.js'
export type { SqlStoreOptions } from './stores/sql/options.js'
export type { SelfDescribing, SelfDescribingOptions } from './stores/sql/self-describing.js'
export type { SqlStore } from './stores/sql/store.js'
export type { TableDescription } from './stores/sql/tables/description.js'
export type { TablePlan } from './stores/sql/tables/migration.js'
export type { DescribeOptions } from './stores/sql/tables/selection.js'
export type { SqliteDatabase } from './stores/sqlite/driver.js'
export type { SqliteStatement } from './stores/sqlite/statement.js'
export type { SqliteOptions, SqliteSource, SqliteStore, SqliteStoreOptions } from './stores/sqlite/store.js'
export type { Id, Scope, Row } from './resource/row.js'
export type { Attributes, Scalar } from './schema/types.js'
export type {
  Batches,
  Capabilities,
  Changes,
  ComparedType,
  Condition,
  Context,
  Count,
  CountQuery,
  Operator,
  OrderBy,
  Filter,
  Guard,
  OnDelete,
  Order,
  Position,
  Query,
  Reference,
  Search,
  Store,
  Stores,
  TableRequest,
  WriteOutcome
} from './stores/store.js'
export type { MaybePromise } from './util/maybe-promise.js'
export type { XmlSchemaOptions } from './plugin/routes/xsd.js'

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
