import type { ResourceRoute } from './core/routes/route-registry.js'
import type { Paths } from './draw/path-helpers.js'

export {
  defineResource,
  draw,
  type DrawOptions,
  type MapPlugin,
  resources,
  resources as default
} from './core/plugin.js'
export { database } from './database/database.js'
export { home, type HomeOptions } from './home/home.js'
export { required as 'module.exports' } from './core/registration/required.js'
export * from './core/registration/public-values.js'

export type { Messages, Problem } from './core/errors.js'
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
} from './core/formats/format.js'
export type { Navigation, NavigationLink } from './html/navigation.js'
export type { Location, ParentLocation } from './core/resource/location.js'
export type { Content } from './html/html-tag.js'
export type { PageMessages, Phrases } from './html/messages.js'
export type { Brand, BrandContext, BrandPart, PageBrand } from './html/style/brand.js'
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
} from './html/views/model.js'
export type { RowTitle } from './html/values/row-names.js'
export type { ResolvedViews, Views } from './html/views/types.js'
export type { Issues } from './core/schema/validation/issues.js'
export type { DeclaredOptions, OpenapiOptions, ResourceOptions } from './core/options/options.js'
export type { ListQuery } from './core/actions/list.js'
export type { ActionOutcome, ListCount, ListOutcome, Outcome, Source, Total } from './core/actions/outcome.js'
export type { ActionEvent } from './core/telemetry/tracing.js'
export type {
  ActionContext,
  HandlerAnswer,
  Handler,
  HandlerBatches,
  HandlerList,
  HandlerOutcome,
  HandlerRow,
  ListContext
} from './core/options/handler.js'
export type { ActionOptions } from './core/actions/custom/custom-action.js'
export type { HookName, Hooks } from './core/options/hooks.js'
export type {
  ActionMapper,
  Concern,
  Mapper,
  NestedOptions,
  ResourceMapper,
  ScopeOptions
} from './draw/mapper.js'
export type { AuthorizeContext, Authorize, FindScope } from './core/actions/authorize/level.js'
export type { ActionHandlers, RoutingOptions } from './core/options/routing-options.js'
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
} from './draw/path-helpers.js'
export type {
  DatabaseOptions,
  DatabaseSource,
  PostgresTables,
  SqliteFileTables,
  SqliteTables,
  TableOptions,
  TableReport,
  TablesOptions
} from './database/options.js'
export type { NameOf } from './database/resource-names.js'
export type { ResourceRoute } from './core/routes/route-registry.js'
export type { ActionName, GeneratedIdType, IdType, Resource } from './core/resource/resource.js'
export type { AttributesOf, ChangesOf, CreateOf, VisibleOf } from './core/schema/infer.js'
export type { MismatchedRows, ResourceAttributes, RowsOf, StoreFor } from './core/stores/infer.js'
export type { Property, Shape } from './core/schema/shape.js'
export type { AttributesSchema, Schema, TypeName } from './core/schema/types.js'
export type { MemoryStore, MemoryStoreOptions } from './core/stores/memory/store.js'
export type { PostgresClient, PostgresPool, PostgresQuery } from './sql/postgres/driver.js'
export type { PostgresOptions, PostgresStore, PostgresStoreOptions } from './sql/postgres/store.js'
export type { SqlStoreOptions } from './sql/options.js'
export type { SelfDescribing, SelfDescribingOptions } from './sql/self-describing.js'
export type { SqlStore } from './sql/store.js'
export type { TableDescription } from './sql/tables/description.js'
export type { TablePlan } from './sql/tables/migration.js'
export type { DescribeOptions } from './sql/tables/selection.js'
export type { SqliteDatabase } from './sql/sqlite/driver.js'
export type { SqliteStatement } from './sql/sqlite/statement.js'
export type { SqliteOptions, SqliteSource, SqliteStore, SqliteStoreOptions } from './sql/sqlite/store.js'
export type { Id, Scope, Row } from './core/resource/row.js'
export type { Attributes, Scalar } from './core/schema/types.js'
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
} from './core/stores/store.js'
export type { MaybePromise } from './core/util/maybe-promise.js'
export type { XmlSchemaOptions } from './xsd/routes.js'

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
