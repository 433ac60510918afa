import { STATUS_CODES } from 'node:http'
import createError, { type FastifyError, type FastifyErrorConstructor } from '@fastify/error'

/**
 * Messages by attribute, or by a path such as `author.name`. Each is a phrase that follows the name:
 * `must not be blank`.
 */
export type Messages = Readonly<Record<string, readonly string[]>>

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
export const NO_SUCH_REFERENCE = 'refers to something that does not exist'

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

/**
 * Thrown when a body contradicts its Content-Type: it is not UTF-8, not well-formed, nested too deep, or has a DOCTYPE.
 * Also thrown when a QUERY has no Content-Type.
 */
export const MalformedBodyError: ErrorClass<[string]> = createError('FST_RESOURCES_MALFORMED_BODY', '%s', 400)
/** Thrown when a query parameter is unknown, repeated or invalid. */
export const InvalidQueryError: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID_QUERY', '%s', 400)
/** An `InvalidQueryError` about a condition or the search of a list. */
export class InvalidConditionError extends InvalidQueryError {
  /** The query parameter. */
  readonly parameter: string
  /** What is wrong with its value. */
  readonly reason: string

  constructor (parameter: string, reason: string) {
    super(`"${parameter}" ${reason}`)
    this.parameter = parameter
    this.reason = reason
  }
}

/** Returns whether an error is about a condition or the search of a list. Other errors have the same code. */
export function isConditionError (error: unknown): error is InvalidConditionError {
  return error instanceof InvalidQueryError && 'parameter' in error
}

/** Thrown when a request names two different ids. */
export const IdConflictError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_ID_CONFLICT', 'the request names two ids: "%s" and "%s"', 400)
/** Thrown when a form's `_method` is neither PUT nor DELETE, is given twice, or stands in a request other than POST. */
export const InvalidMethodError: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID_METHOD', '%s', 400)
/** Thrown when `If-Match` or `If-None-Match` is not a list of entity tags (RFC 9110 §8.8.3). */
export const InvalidPreconditionError: ErrorClass<[string]> =
  createError('FST_RESOURCES_INVALID_PRECONDITION', '%s is not a list of entity tags such as "1.xml"', 400)
/** Thrown when a browser says that an unsafe request comes from another origin. */
export const CrossSiteError: ErrorClass<[string]> =
  createError('FST_RESOURCES_CROSS_SITE', 'the request comes from %s', 403)
/** Thrown when `authorize` does not allow the action of a request. */
export const ForbiddenError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_FORBIDDEN', 'you are not allowed to %s %s', 403)
/** Thrown when no row has the id of the request. */
export const NotFoundError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_NOT_FOUND', 'there is no %s with the id %s', 404)
/** Thrown when `authorize` hides a path, a singleton does not exist, or a home page answers an unknown path. */
export const NothingHereError: ErrorClass<[string]> =
  createError('FST_RESOURCES_NOTHING_HERE', 'there is no %s here', 404)
/** Thrown when a path ends with a slash, and the router does not ignore that. */
export const TrailingSlashError: ErrorClass<[]> =
  createError('FST_RESOURCES_TRAILING_SLASH', 'there is nothing here: leave out the slash at the end of the path', 404)
/** Thrown when a path does not serve a method. `Allow` names those it serves. */
export const MethodNotAllowedError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_METHOD_NOT_ALLOWED', '%s is not allowed here; use %s', 405)
/** Thrown when a singleton exists already. */
export const ExistsError: ErrorClass<[string]> = createError('FST_RESOURCES_EXISTS', 'the %s exists already', 409)
/** Thrown when none of the resource's formats is acceptable. */
export const NotAcceptableError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_NOT_ACCEPTABLE', '%s; choose one of %s', 406)
/** Thrown when a write fails `If-Match`, `If-None-Match` or `_version`, and there is no row to show. */
export const PreconditionFailedError: ErrorClass<[string]> = createError('FST_RESOURCES_PRECONDITION_FAILED', '%s', 412)
/** Thrown when a body has too many values. */
export const TooManyValuesError: ErrorClass<[number]> =
  createError('FST_RESOURCES_TOO_MANY_VALUES', 'the body has more than %d values', 413)
/** Thrown when a URL has more than 65,536 characters. */
export const UriTooLongError: ErrorClass<[number]> =
  createError('FST_RESOURCES_URI_TOO_LONG', 'the URL must have at most %d characters', 414)
/** Thrown when a body has a Content-Type, charset or Content-Encoding that the resource does not read. */
export const UnsupportedMediaTypeError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_UNSUPPORTED_MEDIA_TYPE', '%s cannot be read here; send %s', 415)
/** Thrown when a write needs `If-Match` with a version, but has no such header, or `*`. */
export const MatchRequiredError: ErrorClass<[string]> =
  createError('FST_RESOURCES_MATCH_REQUIRED', 'send If-Match with the ETag of the %s that you have read', 428)

const InvalidBase: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID', '%s', 422)
const DuplicateBase: ErrorClass<[string]> = createError('FST_RESOURCES_DUPLICATE', '%s', 409)

/** Thrown when the schema or the store refuses attributes. */
export class InvalidError extends InvalidBase {
  /** The messages by attribute. */
  readonly errors: Messages

  /**
   * @param errors the messages by attribute; empty if no attribute is at fault
   * @param options.detail a sentence in place of the messages of `errors`
   * @param options.cause the error of the store's engine
   */
  constructor (errors: Messages, options: { readonly detail?: string, readonly cause?: unknown } = {}) {
    super(options.detail ?? sentences(errors).join('; '))
    this.errors = errors
    if (options.cause !== undefined) this.cause = options.cause
  }
}

/** Thrown by a store when a row would repeat the value of an attribute, or the values of several, that are unique. */
export class DuplicateError extends DuplicateBase {
  /** The messages by attribute. */
  readonly errors: Messages

  /**
   * @param attribute the attribute whose value exists already
   * @param options.others the attributes whose values another row has together with it. @default none
   * @param options.cause the error of the store's engine
   */
  constructor (attribute: string, { others = [], cause }: { others?: readonly string[], cause?: unknown } = {}) {
    const message = `is already taken${others.length === 0 ? '' : ` together with ${others.join(', ')}`}`
    super(`${attribute} ${message}`)
    this.errors = { [attribute]: [message] }
    if (cause !== undefined) this.cause = cause
  }
}

const ReferencedBase: ErrorClass<[string]> =
  createError('FST_RESOURCES_REFERENCED', '%s still refer to it; delete or change them first', 409)

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

interface Caused {
  /** The error of the store's engine. */
  readonly cause?: unknown
}

type StoreErrorClass = new (options?: Caused) => FastifyError & Coded

function makeStoreError (code: string, message: string, status: number): StoreErrorClass {
  const Base: ErrorClass<[]> = createError(code, message, status)
  return class extends Base {
    constructor ({ cause }: Caused = {}) {
      super()
      if (cause !== undefined) this.cause = cause
    }
  }
}

const UnavailableBase: StoreErrorClass =
  makeStoreError('FST_RESOURCES_UNAVAILABLE', 'the store is not available now, and nothing was written; try again', 503)
const StoreFullBase: StoreErrorClass =
  makeStoreError('FST_RESOURCES_STORE_FULL', 'the store is full, and nothing was written', 507)
const SequenceBase: StoreErrorClass = makeStoreError(
  'FST_RESOURCES_SEQUENCE',
  'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id',
  503
)
const UnknownOutcomeBase: StoreErrorClass = makeStoreError(
  'FST_RESOURCES_UNKNOWN_OUTCOME',
  'the store did not answer, and it is not known whether anything was written; look before you try again',
  504
)

/** Thrown by a store that is unreachable or overloaded, and has written nothing. */
export class UnavailableError extends UnavailableBase {
  /** The header `Retry-After`, in seconds (RFC 9110 §10.2.3). */
  readonly headers: Readonly<Record<string, string>> = { 'retry-after': '1' }
}

/** Thrown by a store that is full, and has written nothing. */
export class StoreFullError extends StoreFullBase {}

/**
 * Thrown by a store whose database gave a new row an id that another row has. In PostgreSQL, `setval` mends that:
 * `SELECT setval(pg_get_serial_sequence('posts', 'id'), max(id)) FROM posts`.
 */
export class SequenceError extends SequenceBase {}

/** Thrown by a store that has sent a write and lost its answer. */
export class UnknownOutcomeError extends UnknownOutcomeBase {}

/** Returns sentences such as "title must not be blank". */
export function sentences (errors: Messages): string[] {
  return Object.entries(errors).flatMap(([attribute, messages]) => messages.map((message) => `${attribute} ${message}`))
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
}

/**
 * Describes a thrown value. The detail of a client's mistake (4xx) and of a store's failure is the message of the
 * error. Any other failure has a general text. `replied` is the status of the reply at that time.
 */
export function describeError (thrown: unknown, replied: number): Problem {
  const error: { readonly [K in 'statusCode' | 'status' | 'message']?: unknown } = thrown ?? {}
  const status = [error.statusCode, error.status, replied].find(isErrorStatus) ?? 500
  const title = STATUS_CODES[status] ?? 'Error'
  const message = status >= 500 ? serverDetail(thrown) : error.message
  const detail = typeof message === 'string' && message !== '' ? shorten(message) : title
  const problem = { type: 'about:blank', title, status, detail } as const
  return status < 500 && hasMessages(thrown) ? { ...problem, errors: thrown.errors } : problem
}

/** The most characters of a detail, which may repeat what the client has sent. */
const LONGEST_DETAIL = 4000

/** Cuts a long text. The cut leaves no half of a surrogate pair. */
function shorten (text: string): string {
  return text.length > LONGEST_DETAIL ? `${text.slice(0, LONGEST_DETAIL).toWellFormed()}…` : text
}

function serverDetail (thrown: unknown): string {
  const known = [UnavailableError, SequenceError, StoreFullError, UnknownOutcomeError]
    .some((type) => thrown instanceof type)
  return known ? (thrown as Error).message : 'something went wrong on the server'
}

function hasMessages (thrown: unknown): thrown is InvalidError | DuplicateError {
  return (thrown instanceof InvalidError && Object.keys(thrown.errors).length > 0) || thrown instanceof DuplicateError
}

function isErrorStatus (status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
}
