import type { FastifyRequest } from 'fastify'
import type { CheckAccess } from './actions/authorize/authorize.js'
import type { GuardedResource } from './actions/authorize/level.js'
import type { ListCheck, Refusals } from './actions/authorize/refused-actions.js'
import type { Target } from './actions/list.js'
import type { Format, ImportActions, Importing, Reader, Selection, Writer } from './formats/format.js'
import type { FindLocation, ResourcePaths } from './resource/location.js'
import type { Paths } from './routes/path-helpers.js'
import type { Resource } from './resource/resource.js'
import type { Id } from './resource/row.js'
import type { Rules } from './rules/rules.js'
import type { CacheControl } from './options/cache-control.js'
import type { CustomAction } from './actions/custom/custom-action.js'
import type { HookLists } from './options/hooks.js'
import type { ResolvedOptions } from './options/resolve/options.js'
import type { Property } from './schema/shape.js'
import type { Issues } from './schema/validation/issues.js'
import type { Validation } from './schema/validation/validation.js'
import type { QueryParameters } from './request/filter-query.js'
import type { ListQueryParser } from './request/list-query.js'
import type { ReadPayload } from './request/payload.js'
import type { FindRows } from './request/rows.js'
import type { Prefill } from './request/prefill.js'
import type { Relations } from './relations/relations.js'
import type { Varied } from './relations/variants.js'
import type { Select } from './request/selection.js'

/** A format with its writer for one resource. */
export interface Representation extends Format {
  readonly writer: Writer
  readonly spreadsheet?: Representation | undefined
  /** The number of rows in a page of a list, or `undefined` if the format writes whole lists. */
  readonly pageSize: number | undefined
  /** Returns the writer of a new row, which has no id yet. */
  readonly blank: () => Writer
  /** Returns the digest of what an answer shows besides the values of its row. */
  shape (request: Pick<FastifyRequest, 'headers'>): string
  /** Returns the same format with a writer of a selection. */
  select (selection: Selection): Representation
  /** The headers of each answer. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

/** A format that is read, with its reader for one resource. */
export interface BodyFormat {
  readonly mediaTypes: readonly string[]
  readonly reader: Reader
  readonly readPayload: ReadPayload
  /** Finds the rows of a body with many rows. */
  readonly findRows: FindRows
  /** The format of the answer if the client does not choose: the same format, or else that of browsers. */
  readonly answer: Representation | undefined
  /** Compiles the reader of another resource. */
  readonly compileReader: (resource: Resource) => Reader
}

/** How pages import rows of one resource. */
export interface CompiledImport extends Importing {
  /** The actions that a file can ask for: at least one. */
  readonly actions: ImportActions
  /** The format of the form. Its rows are those of CSV. */
  readonly body: BodyFormat
}

/** A resource as it was compiled at registration: everything that serves its requests. */
export interface CompiledResource extends Varied<CompiledResource> {
  readonly options: ResolvedOptions
  readonly resource: Resource
  /** The plural name, `posts`, or the singular name of a singleton, `profile`. */
  readonly name: string
  /** The resource that it is nested in, or `undefined` if there is none. */
  readonly parent: CompiledResource | undefined
  /** The target of a request whose access is not restricted: all rows of the store. */
  readonly target: Target
  /** The rules about whole rows, or `undefined` if there are none. */
  readonly rules: Rules | undefined
  readonly resourcePaths: ResourcePaths
  readonly findLocation: FindLocation
  /** Returns whether the app's constraints allow an id; `undefined` if there are no constraints. */
  readonly isId: ((id: Id) => boolean) | undefined
  /** The access checks of requests about the collection and about a row; `undefined` if nothing restricts access. */
  readonly accessChecks: { readonly collection: CheckAccess | undefined, readonly row: CheckAccess | undefined }
  /** The resources in the path of a nested resource, the outermost first, this one last. */
  readonly levels: readonly GuardedResource[]
  /** This resource as its collection's path leads to it. */
  readonly level: GuardedResource
  readonly representations: readonly Representation[]
  readonly bodies: readonly BodyFormat[]
  /** The formats that only a PATCH of a row may have. */
  readonly patches: readonly BodyFormat[]
  /** How pages import rows, or `undefined` if they do not. */
  readonly importing: CompiledImport | undefined
  /** The format that reads a request without a body. */
  readonly bodiless: BodyFormat
  readonly validation: Validation
  readonly listQuery: ListQueryParser
  readonly prefill: Prefill
  /** Selects the attributes and relations of answers. */
  readonly select: Select<Representation>
  /** The other resources whose rows answers may include. */
  readonly relations: Relations
  readonly customActions: readonly CompiledCustomAction[]
  /** The search for refused actions, or `undefined` if there is no `authorize`. */
  readonly refusals: Refusals | undefined
  /** Returns the questions before pages link to lists. They are complete once the app is ready. */
  readonly listChecks: () => readonly ListCheck[]
  readonly paths: Paths
  /** Returns the resources of the server by their names. They are complete once the app is ready. */
  readonly neighbors: () => ReadonlyMap<string, CompiledResource>
  /** Returns the hooks of the instance on which it is registered. They are complete once the app is ready. */
  readonly appHooks: () => HookLists
  readonly cacheControl: CacheControl
}

/** A custom action that was compiled for one resource. */
export interface CompiledCustomAction extends CustomAction {
  /** The action as it was declared, which all variants of the resource share. */
  readonly declared: CustomAction
  /** The query parameters that it accepts. */
  readonly parameters: readonly string[]
  /** The declarations of these parameters, by name. */
  readonly queried: ReadonlyMap<string, Property>
  /** The declarations of the attributes that a request may supply, by name. */
  readonly supplied: ReadonlyMap<string, Property>
  /**
   * Converts and checks the parameters of a query.
   * @throws InvalidQueryError
   */
  readQuery (query: QueryParameters): Readonly<Record<string, unknown>>
  /** Returns the function that reads the payload of a body in this format. */
  payloadReader (body: BodyFormat): ReadPayload
  /** Returns the function that finds the rows of a body in this format. */
  rowsFinder (body: BodyFormat): FindRows
  /**
   * Checks the supplied attributes: as a create if the action has its own schema, else as an update.
   * @throws InvalidError
   */
  validate (supplied: Record<string, unknown>, issues: Issues): void
}
