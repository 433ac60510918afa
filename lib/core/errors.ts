import { STATUS_CODES } from 'node:http'
import createError, { type FastifyError, type FastifyErrorConstructor } from '@fastify/error'
import type { Id } from './resource/row.js'
import { type CodedMessage, Message, type Said, say, sayAbout, sayCoded } from './messages.js'

/**
 * Messages by attribute, or by a path such as `author.name`. Each is a phrase that follows the name:
 * `must not be blank`.
 */
export type Messages = Readonly<Record<string, readonly string[]>>

/** The same, with the codes by which pages translate them. */
export type SaidMessages = Readonly<Record<string, readonly Said[]>>

interface Coded {
  /** The code of the error: `FST_RESOURCES_…`. */
  code: string
}

type ErrorClass<Arguments extends unknown[]> = FastifyErrorConstructor<Coded, Arguments>

interface OptionError extends FastifyError, Coded {
  /** Returns the same error with the name of the owner of the option. */
  of (owner: string): OptionError
}

/** The class of an error about an option. `owner` names the resource of the option: `' of resource "posts"'`. */
type OptionErrorClass = new (option: string, reason: string, owner?: string) => OptionError

function makeOptionError (code: string, begin: string, gap: string): OptionErrorClass {
  const Base: ErrorClass<[string]> = createError(code, '%s', 500, TypeError)
  return class extends Base {
    readonly #given: readonly [option: string, reason: string, owner: string]

    constructor (option: string, reason: string, owner = '') {
      super(endSentence(`${begin} "${option}"${owner}${gap}${reason}`))
      this.#given = [option, reason, owner]
    }

    of (outer: string): OptionError {
      const [option, reason, owner] = this.#given
      return new (this.constructor as OptionErrorClass)(option, reason, joinOwners(owner, outer))
    }
  }
}

const InvalidOptionBase: OptionErrorClass = makeOptionError('FST_RESOURCES_INVALID_OPTION', 'Option', ' ')
const UnknownOptionBase: OptionErrorClass = makeOptionError('FST_RESOURCES_UNKNOWN_OPTION', 'There is no option', '')

/** The message about a reference to a row that does not exist, or that the request may not see. */
export const NO_SUCH_REFERENCE: Message = say('refersToNothing')

/** Thrown when an option is missing or cannot be used. The reason names the mistake, and how to repair it. */
export class InvalidOptionError extends InvalidOptionBase {}

/** Thrown when an option has an unknown name. The reason is empty, or a hint that begins with a semicolon. */
export class UnknownOptionError extends UnknownOptionBase {}

function endSentence (text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}

/** Joins the names of two owners. A nested resource is named alone; an action or a store is named with its resource. */
function joinOwners (inner: string, outer: string): string {
  return inner.includes('resource "') ? inner : `${inner} of ${outer}`
}

/** Runs a check. Its errors about an option then name the owner of the option, such as `resource "posts"`. */
export function nameOwner<T> (owner: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw withOwner(error, owner)
  }
}

/** Returns an error about an option with its owner. Other errors stay as they are. */
export function withOwner (error: unknown, owner: string): unknown {
  return error instanceof InvalidOptionError || error instanceof UnknownOptionError ? error.of(owner) : error
}

/** Returns the name of a resource in errors. */
export function ownerOf (name: unknown): string {
  return typeof name === 'string' ? `resource "${name}"` : 'a resource'
}

/** Thrown when `attributes` is not a valid schema of attributes. */
export const InvalidAttributesError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_INVALID_ATTRIBUTES', 'resources: attributes of "%s": %s', 500, TypeError)
/** Thrown when two declarations claim the same route, or the same name in `app.paths`. */
export const ClashError: ErrorClass<[string, string, string]> =
  createError('FST_RESOURCES_CLASH', 'resources: %s and %s both have %s', 500, TypeError)
/** Thrown when `app.paths` has no path of a name, or the path takes other parameters. */
export const InvalidPathError: ErrorClass<[string]> =
  createError('FST_RESOURCES_INVALID_PATH', 'paths: %s', 500, TypeError)
/** Thrown when a handler or `scope` returns no valid answer. */
export const InvalidAnswerError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_INVALID_ANSWER', 'resources: the handler of "%s" %s', 500, TypeError)
/** Thrown when a handler's update of a row would move it out of the scope of its own guard. */
export const ScopeChangeError: ErrorClass<[string]> = createError(
  'FST_RESOURCES_SCOPE_CHANGE',
  'stores: an update changes "%s", which the scope of its guard keeps as it is; to move a row out of its scope, ' +
    'give the update a guard whose scope does not have this attribute',
  500,
  TypeError
)

/** Thrown when a store is called with the wrong context of a transaction, or with none. */
export const TransactionError: ErrorClass<[string]> =
  createError('FST_RESOURCES_TRANSACTION', 'stores: %s', 500, TypeError)

type DetailedError = FastifyError & Coded & {
  /** The detail of the problem document. If pages translate it, it is a message with a code. */
  readonly detail: Said
}

/** The class of an error about a request. */
type DetailedErrorClass<Arguments extends unknown[]> = new (...parameters: Arguments) => DetailedError

function makeError<Arguments extends unknown[]> (
  code: string,
  status: number,
  describe: (...parameters: Arguments) => Said
): DetailedErrorClass<Arguments> {
  const Base: ErrorClass<[string]> = createError(code, '%s', status)
  return class extends Base {
    readonly detail: Said

    constructor (...parameters: Arguments) {
      const detail = describe(...parameters)
      super(String(detail))
      this.detail = detail
    }
  }
}

const itself = (detail: Said): Said => detail

/**
 * Thrown when a body contradicts its Content-Type: it is not UTF-8, not well-formed, nested too deep, or has a DOCTYPE.
 * Also thrown when a QUERY has no Content-Type.
 */
export const MalformedBodyError: DetailedErrorClass<[detail: Said]> =
  makeError('FST_RESOURCES_MALFORMED_BODY', 400, itself)
/** Thrown when a query parameter is unknown, repeated or invalid. */
export const InvalidQueryError: DetailedErrorClass<[detail: Said]> =
  makeError('FST_RESOURCES_INVALID_QUERY', 400, itself)
/** An `InvalidQueryError` about a condition or the search of a list. */
export class InvalidConditionError extends InvalidQueryError {
  /** The query parameter. */
  readonly parameter: string
  /** What is wrong with its value. */
  readonly reason: Said

  constructor (parameter: string, reason: Said) {
    super(sayAbout(parameter, reason))
    this.parameter = parameter
    this.reason = reason
  }
}

/** Returns whether an error is about a condition or the search of a list. Other errors have the same code. */
export function isConditionError (error: unknown): error is InvalidConditionError {
  return error instanceof InvalidQueryError && 'parameter' in error
}

/** Thrown when a request names two different ids. */
export const IdConflictError: DetailedErrorClass<[one: string, other: string]> =
  makeError('FST_RESOURCES_ID_CONFLICT', 400, (one, other) => `the request names two ids: "${one}" and "${other}"`)
/** Thrown when a form's `_method` is neither PUT nor DELETE, is given twice, or stands in a request other than POST. */
export const InvalidMethodError: DetailedErrorClass<[detail: string]> =
  makeError('FST_RESOURCES_INVALID_METHOD', 400, itself)
/** Thrown when `If-Match` or `If-None-Match` is not a list of entity tags (RFC 9110 §8.8.3). */
export const InvalidPreconditionError: DetailedErrorClass<[header: string]> = makeError(
  'FST_RESOURCES_INVALID_PRECONDITION', 400, (header) => `${header} is not a list of entity tags such as "1.xml"`
)
/** Thrown when a browser says that an unsafe request comes from another origin. */
export const CrossSiteError: DetailedErrorClass<[origin: string]> =
  makeError('FST_RESOURCES_CROSS_SITE', 403, (origin) => say('crossSite', { origin }))
/** Thrown when `authorize` does not allow the action of a request. */
export const ForbiddenError: DetailedErrorClass<[action: string, resource: string]> =
  makeError('FST_RESOURCES_FORBIDDEN', 403, (action, resource) => say('actionForbidden', { action, resource }))
/** Thrown when no row has the id of the request. */
export const NotFoundError: DetailedErrorClass<[resource: string, id: string]> =
  makeError('FST_RESOURCES_NOT_FOUND', 404, (resource, id) => say('idUnknown', { resource, id }))
/** Thrown when `match` finds no row that has the unique values of the request. */
export const NoMatchError: DetailedErrorClass<[resource: string, values: string]> =
  makeError('FST_RESOURCES_NO_MATCH', 404, (resource, values) => `there is no ${resource} with ${values}`)
/** Thrown when `authorize` hides a path, a singleton does not exist, or a home page answers an unknown path. */
export const NothingHereError: DetailedErrorClass<[resource: string]> =
  makeError('FST_RESOURCES_NOTHING_HERE', 404, (resource) => say('nothingHere', { resource }))
/** Thrown when a path ends with a slash, and the router does not ignore that. */
export const TrailingSlashError: DetailedErrorClass<[]> =
  makeError('FST_RESOURCES_TRAILING_SLASH', 404, () => say('slashAtEnd'))
/** Thrown when a path does not serve a method. `Allow` names those it serves. */
export const MethodNotAllowedError: DetailedErrorClass<[method: string, allowed: string]> =
  makeError('FST_RESOURCES_METHOD_NOT_ALLOWED', 405, (method, allowed) => say('methodNotAllowed', { method, allowed }))
/** Thrown when a singleton exists already. */
export const ExistsError: DetailedErrorClass<[resource: string]> =
  makeError('FST_RESOURCES_EXISTS', 409, (resource) => say('existsAlready', { resource }))
/** Thrown when none of the resource's formats is acceptable. */
export const NotAcceptableError: DetailedErrorClass<[detail: Said]> =
  makeError('FST_RESOURCES_NOT_ACCEPTABLE', 406, itself)
/**
 * Thrown when a GET fails `If-Match`, or a write fails `If-Match`, `If-None-Match` or `_version` and has no row to
 * show. An update or a delete that can show its row throws nothing: its outcome is `stale`, and the 412 has that row.
 */
export const PreconditionFailedError: DetailedErrorClass<[detail: Said]> =
  makeError('FST_RESOURCES_PRECONDITION_FAILED', 412, itself)
/** Thrown when a body has too many values. */
export const TooManyValuesError: DetailedErrorClass<[most: number]> =
  makeError('FST_RESOURCES_TOO_MANY_VALUES', 413, (most) => say('tooManyValues', { most }))
/** Thrown when a request has many rows, and the resource writes one row for each request. */
export const ManyRowsError: DetailedErrorClass<[why: string]> =
  makeError('FST_RESOURCES_MANY_ROWS', 400, (why) => `a request cannot have many rows here: ${why}`)
/**
 * Thrown when a request has more rows than the option `maxRows` allows, or its rows, or those of its answer, are too
 * large together.
 */
export const TooManyRowsError: DetailedErrorClass<[detail: Said]> =
  makeError('FST_RESOURCES_TOO_MANY_ROWS', 413, itself)
/** Thrown when a form that imports a file is larger than the option `html.import` allows. */
export const FormTooLargeError: DetailedErrorClass<[detail: Said]> =
  makeError('FST_RESOURCES_FORM_TOO_LARGE', 413, itself)
/** Thrown when a URL has more than 65,536 characters. */
export const UriTooLongError: DetailedErrorClass<[most: number]> =
  makeError('FST_RESOURCES_URI_TOO_LONG', 414, (most) => say('urlTooLong', { most }))
/** Thrown when a body has a Content-Type, charset or Content-Encoding that the resource does not read. */
export const UnsupportedMediaTypeError: DetailedErrorClass<[what: string, readable: string]> = makeError(
  'FST_RESOURCES_UNSUPPORTED_MEDIA_TYPE', 415, (what, readable) => `${what} cannot be read here; send ${readable}`
)
/** Thrown when a write needs `If-Match` with a version, but has no such header, or `*`. */
export const MatchRequiredError: DetailedErrorClass<[resource: string, isAmongMany?: boolean]> = makeError(
  'FST_RESOURCES_MATCH_REQUIRED', 428, (resource, isAmongMany = false) => isAmongMany
    ? `send "_version" beside the id, with the version of the ${resource} that you have read`
    : `send If-Match with the ETag of the ${resource} that you have read`
)

/** Thrown when an `Idempotency-Key`, or a form's `_key`, is missing or malformed. */
export const InvalidKeyError: DetailedErrorClass<[detail: Said]> = makeError('FST_RESOURCES_INVALID_KEY', 400, itself)

const KeyReusedBase: DetailedErrorClass<[]> = makeError('FST_RESOURCES_KEY_REUSED', 422, () => say('keyReused'))
/** Thrown when another request was carried out with the same `Idempotency-Key`. */
export class KeyReusedError extends KeyReusedBase {
  /** The id of the row that the other request has created, if it was one. */
  readonly id: Id | undefined

  constructor (id?: Id) {
    super()
    this.id = id
  }
}

const KeyInUseBase: DetailedErrorClass<[]> = makeError('FST_RESOURCES_KEY_IN_USE', 409, () => say('keyInUse'))
/** Thrown by a store when a request with the same `Idempotency-Key` takes too long. */
export class KeyInUseError extends KeyInUseBase {
  /** The header `Retry-After`, in seconds (RFC 9110 §10.2.3). */
  readonly headers: Readonly<Record<string, string>> = { 'retry-after': '1' }
}

const InvalidBase: DetailedErrorClass<[detail: Said]> = makeError('FST_RESOURCES_INVALID', 422, itself)
const DuplicateBase: DetailedErrorClass<[detail: Said]> = makeError('FST_RESOURCES_DUPLICATE', 409, itself)

/** Thrown when the schema or the store refuses attributes. */
export class InvalidError extends InvalidBase {
  /** The messages by attribute, in English. */
  readonly errors: Messages
  /** The same messages, with the codes by which pages translate them. */
  readonly messages: SaidMessages

  /**
   * @param errors the messages by attribute, each a text or a code with its parameters; empty if no attribute is at
   * fault
   * @param options.detail a sentence in place of the messages of `errors`
   * @param options.cause the error of the store's engine
   */
  constructor (
    errors: Readonly<Record<string, ReadonlyArray<Said | CodedMessage>>>,
    options: { readonly detail?: Said, readonly cause?: unknown } = {}
  ) {
    const messages = mapMessages(errors, toSaid)
    super(options.detail ?? sentences(messages).join('; '))
    this.messages = messages
    this.errors = mapMessages(messages, String)
    if (options.cause !== undefined) this.cause = options.cause
  }
}

function mapMessages<M, T> (
  messages: Readonly<Record<string, readonly M[]>>,
  map: (message: M) => T
): Record<string, readonly T[]> {
  return Object.fromEntries(Object.entries(messages).map(([path, all]) => [path, all.map((message) => map(message))]))
}

function toSaid (message: Said | CodedMessage): Said {
  return typeof message === 'string' || message instanceof Message ? message : sayCoded(message)
}

/** Thrown by a store when a row would repeat the value of an attribute, or the values of several, that are unique. */
export class DuplicateError extends DuplicateBase {
  /** The messages by attribute, in English. */
  readonly errors: Messages
  /** The same messages, with the codes by which pages translate them. */
  readonly messages: SaidMessages

  /**
   * @param attribute the attribute whose value exists already
   * @param options.others the attributes whose values another row has together with it. @default none
   * @param options.cause the error of the store's engine
   */
  constructor (attribute: string, { others = [], cause }: { others?: readonly string[], cause?: unknown } = {}) {
    const message = others.length === 0 ? say('isTaken') : say('isTakenTogether', { others: others.join(', ') })
    super(`${attribute} ${message.text}`)
    this.messages = { [attribute]: [message] }
    this.errors = { [attribute]: [message.text] }
    if (cause !== undefined) this.cause = cause
  }
}

const ReferencedBase: DetailedErrorClass<[referrers: string]> =
  makeError('FST_RESOURCES_REFERENCED', 409, (referrers) => say('stillReferenced', { referrers }))

/** Thrown by a store that cannot delete a row because other rows refer to it. */
export class ReferencedError extends ReferencedBase {
  /**
   * @param referrers the rows that refer to it, such as the name of their table
   * @param options.cause the error of the store's engine
   */
  constructor (referrers: string = 'other rows', options?: { readonly cause?: unknown }) {
    super(referrers)
    if (options !== undefined) this.cause = options.cause
  }
}

const UnwrittenBase: DetailedErrorClass<[isStale: boolean]> = makeError(
  'FST_RESOURCES_UNWRITTEN', 404, (isStale) => say(isStale ? 'changedMeanwhile' : 'nothingHere', { resource: 'row' })
)

/** Thrown by a write in a transaction whose row is missing, or has another version. */
export class UnwrittenError extends UnwrittenBase {
  constructor (isStale: boolean) {
    super(isStale)
    if (isStale) this.statusCode = 412
  }
}

interface Caused {
  /** The error of the store's engine. */
  readonly cause?: unknown
}

type StoreErrorClass = new (options?: Caused) => DetailedError

function makeStoreError (code: string, detail: Message, status: number): StoreErrorClass {
  const Base = makeError(code, status, () => detail)
  return class extends Base {
    constructor ({ cause }: Caused = {}) {
      super()
      if (cause !== undefined) this.cause = cause
    }
  }
}

const UnavailableBase: StoreErrorClass = makeStoreError('FST_RESOURCES_UNAVAILABLE', say('storeUnavailable'), 503)
const SlowReadBase: StoreErrorClass = makeStoreError('FST_RESOURCES_SLOW_READ', say('readTooSlow'), 503)
const StoreFullBase: StoreErrorClass = makeStoreError('FST_RESOURCES_STORE_FULL', say('storeFull'), 507)
const SequenceBase: StoreErrorClass = makeStoreError('FST_RESOURCES_SEQUENCE', say('sequenceBehind'), 503)
const UnknownOutcomeBase: StoreErrorClass = makeStoreError('FST_RESOURCES_UNKNOWN_OUTCOME', say('outcomeUnknown'), 504)

/** Thrown by a store that is unreachable or overloaded, and has written nothing. */
export class UnavailableError extends UnavailableBase {
  /** The header `Retry-After`, in seconds (RFC 9110 §10.2.3). */
  readonly headers: Readonly<Record<string, string>> = { 'retry-after': '1' }
}

/** Thrown by a store that has given up a read which took too long. */
export class SlowReadError extends SlowReadBase {}

/** Thrown by a store that is full, and has written nothing. */
export class StoreFullError extends StoreFullBase {}

/**
 * Thrown by a store whose database gave a new row an id that another row has. In PostgreSQL, `setval` mends that:
 * `SELECT setval(pg_get_serial_sequence('posts', 'id'), max(id)) FROM posts`.
 */
export class SequenceError extends SequenceBase {}

/** Thrown by a store that has sent a write and lost its answer. */
export class UnknownOutcomeError extends UnknownOutcomeBase {}

/**
 * Returns an error as those may see it who do not see some attributes. Faults that name one of these become a fault of
 * the group of the attributes. That an attribute is unknown is what the client has said itself.
 */
export function withoutFaultsOf (
  { hidden, singular }: { readonly hidden: ReadonlySet<string>, readonly singular: string },
  thrown: unknown
): unknown {
  if (hidden.size === 0 || !hasMessages(thrown)) return thrown
  const { messages, cause } = thrown
  // A name may have a dot, as the paths of the parts of a value have.
  const names = [...hidden]
  const isHidden = (path: string): boolean => names.some((name) => path === name || path.startsWith(`${name}.`))
  const isSeen = (path: string, said: Said): boolean => {
    const { code, params } = said instanceof Message ? said : { code: undefined, params: undefined }
    const { others = '' } = Object(params) as { readonly others?: string }
    return code === 'isUnknown' || ![path, ...others.split(', ')].some(isHidden)
  }
  const all = Object.entries(messages).flatMap(([path, said]) => said.map((one) => [path, one] as const))
  const seen = all.filter(([path, said]) => isSeen(path, said))
  if (seen.length === all.length) return thrown
  if (thrown instanceof DuplicateError) return new DuplicateError(singular, { cause })
  const left: Record<string, Said[]> = {}
  for (const [path, said] of [...seen, [singular, say('doesNotFit')] as const]) (left[path] ??= []).push(said)
  return new InvalidError(left, { cause })
}

/** Returns sentences such as "title must not be blank". */
export function sentences (errors: SaidMessages): string[] {
  return Object.entries(errors).flatMap(([attribute, messages]) =>
    messages.map((message) => `${attribute} ${String(message)}`))
}

/** The fault of one row of a request with many rows. */
export interface RowFault {
  /** The place of the row in the request, from 0. */
  readonly index: number
  /** The id that the row has in the request. */
  readonly id?: Id
  /** The line of the CSV file in which the row begins, from 1. */
  readonly line?: number
  /** The status that a request with this row alone would get. */
  readonly status: number
  /** The fault in one sentence, if it is not that of attributes. */
  readonly detail?: string
  /** The messages by attribute. */
  readonly errors?: Messages
}

/** A fault of a row, and the value that was thrown for it. */
export interface FoundFault {
  readonly fault: RowFault
  readonly error: unknown
}

/** The most rows whose faults an answer names. */
const MOST_FAULTS = 100

const RowsBase: DetailedErrorClass<[detail: Said]> = makeError('FST_RESOURCES_ROWS', 422, itself)

/** Thrown when rows of a request with many rows are at fault, and nothing was written. */
export class RowsError extends RowsBase {
  readonly rows: readonly RowFault[]
  /** Whether more rows are at fault than `rows` has. */
  readonly truncated: boolean
  /** The faults of all rows, in the order of the rows. */
  readonly #found: readonly FoundFault[]

  /** @param count the number of rows in the request */
  constructor (found: readonly FoundFault[], count: number) {
    super(say('rowsAtFault', { faulty: found.length, count }))
    this.rows = found.slice(0, MOST_FAULTS).map(({ fault }) => fault)
    this.#found = found
    this.truncated = found.length > MOST_FAULTS
    const [status = 422, ...others] = new Set(this.rows.map(({ status }) => status))
    this.statusCode = others.length === 0 ? status : 422
  }

  /** The lines of all rows at fault, in a file. */
  get lines (): readonly number[] {
    return this.#found.map(({ fault: { line } }) => line as number)
  }

  /**
   * Returns the faults with the codes by which pages translate them.
   * @param most the most rows
   */
  said (most: number = MOST_FAULTS): ReadonlyArray<Pick<RowFault, 'index' | 'line'> & SaidProblem> {
    return this.#found.slice(0, most).map(({ fault: { index, line }, error }) =>
      ({ index, ...(line !== undefined && { line }), ...withCodes(describeError(error, 500), error) }))
  }
}

/** The problem document of an error (RFC 9457). */
export interface Problem {
  /** The type of the problem. `about:blank` means that the status says everything. */
  readonly type: 'about:blank'
  /** The status in words. */
  readonly title: string
  /** The status of the answer. */
  readonly status: number
  /** The mistake in one sentence. For a failure (5xx) it reveals nothing about the inside of the server. */
  readonly detail: string
  /** The messages by attribute, for 409 and 422. */
  readonly errors?: Messages
  /** The faults of a request with many rows: at most 100. */
  readonly rows?: readonly RowFault[]
  /** Whether more rows are at fault than `rows` has. @default false */
  readonly truncated?: true
}

/**
 * Describes a thrown value. The detail of a client's mistake (4xx) and of a store's failure is the message of the
 * error. Any other failure has a general text. `replied` is the status of the reply at that time.
 */
export function describeError (thrown: unknown, replied: number): Problem {
  const error: { readonly [K in 'statusCode' | 'status' | 'message']?: unknown } = thrown ?? {}
  const status = [error.statusCode, error.status, replied].find(isErrorStatus) ?? 500
  const title = STATUS_CODES[status] ?? 'Error'
  const isHidden = status >= 500 && !isStoreFailure(thrown)
  const message = isHidden ? SERVER_FAILED.text : error.message
  const detail = typeof message === 'string' && message !== '' ? shorten(message) : title
  const problem = { type: 'about:blank', title, status, detail } as const
  if (thrown instanceof RowsError) {
    return { ...problem, rows: thrown.rows, ...(thrown.truncated && { truncated: true }) }
  }
  return status < 500 && hasMessages(thrown) ? { ...problem, errors: thrown.errors } : problem
}

const SERVER_FAILED = say('serverFailed')

/** A problem with the codes by which pages translate its messages. */
export interface SaidProblem extends Omit<Problem, 'detail' | 'errors'> {
  readonly detail: Said
  readonly errors?: SaidMessages
}

/** Returns a problem with the messages of the thrown value, as far as they have codes. */
export function withCodes (problem: Problem, thrown: unknown): SaidProblem {
  const { detail: own, messages } = Object(thrown) as Partial<InvalidError>
  const detail = problem.detail === SERVER_FAILED.text ? SERVER_FAILED : own
  return {
    ...problem,
    // A hook of the app may have given the error another message.
    detail: detail instanceof Message && detail.text === problem.detail ? detail : problem.detail,
    ...(problem.errors !== undefined && { errors: messages ?? problem.errors })
  }
}

/** The most characters of a detail, which may repeat what the client has sent. */
const LONGEST_DETAIL = 4000

/** Cuts a long text. The cut leaves no half of a surrogate pair. */
function shorten (text: string): string {
  return text.length > LONGEST_DETAIL ? `${text.slice(0, LONGEST_DETAIL).toWellFormed()}…` : text
}

function isStoreFailure (thrown: unknown): thrown is Error {
  return [UnavailableError, SlowReadError, SequenceError, StoreFullError, UnknownOutcomeError]
    .some((type) => thrown instanceof type)
}

function hasMessages (thrown: unknown): thrown is InvalidError | DuplicateError {
  return (thrown instanceof InvalidError && Object.keys(thrown.errors).length > 0) || thrown instanceof DuplicateError
}

function isErrorStatus (status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
}
