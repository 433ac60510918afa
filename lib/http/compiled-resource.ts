import type { CheckAccess } from '../actions/authorize/authorize.js'
import type { GuardedResource } from '../actions/authorize/level.js'
import type { Refusals } from '../actions/authorize/refused-actions.js'
import type { Target } from '../actions/target.js'
import type { Format, Reader, Writer } from '../formats/format.js'
import type { FindLocation, Mount } from '../resource/location.js'
import type { Paths } from '../resource/path-helpers.js'
import type { Resource } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { FindCacheControl } from '../routing/cache-control.js'
import type { CustomAction } from '../routing/custom-action.js'
import type { ResolvedOptions } from '../routing/resolve-options.js'
import type { Property } from '../schema/shape.js'
import type { Validation } from '../schema/validation/validation.js'
import type { Negotiate } from './request/accept.js'
import type { ListQueryParser, QueryParameters } from './request/list-query.js'
import type { ReadPayload } from './request/payload.js'

/** A format with its writer for one resource. */
export interface Representation extends Format {
  readonly writer: Writer
  /** For a row that is yet to be made, and has no id. */
  readonly blank: () => Writer
  /** What each answer is sent with. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

/** What is read, for one resource. */
export interface BodyFormat {
  readonly mediaTypes: readonly string[]
  readonly reader: Reader
  readonly readPayload: ReadPayload
  /** In what such a body is answered where the client does not say; a form counts as HTML. */
  readonly answer: Representation | undefined
  /** The reader of another resource. */
  readonly compileReader: (resource: Resource) => Reader
}

/** Where the wings meet: all that is made of a resource at registration and serves its requests. */
export interface CompiledResource {
  readonly options: ResolvedOptions
  readonly resource: Resource
  /** All that there is: where nothing narrows what a request may see. */
  readonly target: Target
  readonly mount: Mount
  readonly findLocation: FindLocation
  /** Returns whether the app's constraints allow an id; undefined: there are none. */
  readonly isId: ((id: Id) => boolean) | undefined
  /** The checks of a request about the collection, and about a row; undefined: everyone may do everything. */
  readonly accessChecks: { readonly collection: CheckAccess | undefined, readonly row: CheckAccess | undefined }
  /** What a resource that is nested in this one has before it. */
  readonly levels: readonly GuardedResource[]
  readonly representations: readonly Representation[]
  readonly bodies: readonly BodyFormat[]
  /** How a request without a body is read. */
  readonly bodiless: BodyFormat
  readonly negotiate: Negotiate<Representation>
  readonly validation: Validation
  readonly listQuery: ListQueryParser
  readonly customActions: readonly CompiledCustomAction[]
  /** Undefined where there is no `authorize`. */
  readonly refusals: Refusals | undefined
  readonly paths: Paths
  readonly cacheControl: FindCacheControl
}

/** An action of the app's own, made ready for one resource. */
export interface CompiledCustomAction extends CustomAction {
  /** The parameters that its query may have. */
  readonly parameters: readonly string[]
  /** What these are like. */
  readonly queried: ReadonlyMap<string, Property>
  /** The attributes that may be supplied. */
  readonly supplied: ReadonlyMap<string, Property>
  /** @throws InvalidQueryError */
  readQuery (query: QueryParameters): Readonly<Record<string, unknown>>
  /** From a body of such a format to what it supplies. */
  payloadReader (body: BodyFormat): ReadPayload
  /**
   * Checks what is supplied: as a create would be by a schema of the action's own, else as an update.
   * @throws InvalidError
   */
  readonly validate: Validation['create']
}
