import { STATUS_CODES } from 'node:http'
import createError, { type FastifyError, type FastifyErrorConstructor } from '@fastify/error'

/** Attribute (or path such as `author.name`) → what is wrong with it, each a phrase that follows the name. */
export type Messages = Readonly<Record<string, readonly string[]>>

interface Coded {
  /** `FST_RESOURCES_…` */
  code: string
}

type ErrorClass<Arguments extends unknown[]> = FastifyErrorConstructor<Coded, Arguments>

// Mistakes of a programmer: thrown at registration.

/** Names the option and, once it is known, whose option it is. */
interface OptionError extends FastifyError, Coded {
  /** Returns the same error with the name of what the option belongs to. */
  of (owner: string): OptionError
}

/** @param owner whose option it is: `' of resource "posts"'` */
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

/** Thrown when an option is missing or cannot be used. The reason says what is wrong, and how to repair it. */
export class InvalidOptionError extends InvalidOptionBase {}

/** Thrown when an option has an unknown name. The reason is empty, or a hint that begins with a semicolon. */
export class UnknownOptionError extends UnknownOptionBase {}

function endSentence (text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}

/** A nested resource is named by its own name alone; an action or a store is named together with its resource. */
function joinOwners (inner: string, outer: string): string {
  return inner.includes('resource "') ? inner : `${inner} of ${outer}`
}

/** Runs a check. Errors about an option then say whose option it is, such as `resource "posts"`. */
export function nameOwner<T> (owner: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw withOwner(error, owner)
  }
}

/** Returns an error about an option with its owner, and every other error as it is. */
export function withOwner (error: unknown, owner: string): unknown {
  return error instanceof InvalidOptionError || error instanceof UnknownOptionError ? error.of(owner) : error
}

/** How errors name a resource. A name that is no text is told by the error itself. */
export function ownerOf (name: unknown): string {
  return typeof name === 'string' ? `resource "${name}"` : 'a resource'
}

/** Thrown when the schema in `attributes` cannot serve as one. */
export const InvalidAttributesError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_INVALID_ATTRIBUTES', 'resources: attributes of "%s": %s', 500, TypeError)
/** Thrown when two declarations claim the same route, or the same name in `app.paths`. */
export const ClashError: ErrorClass<[string, string, string]> =
  createError('FST_RESOURCES_CLASH', 'resources: %s and %s both have %s', 500, TypeError)
/** Thrown when `app.paths` is asked for a path that it has not, or with other parameters than the path has. */
export const InvalidPathError: ErrorClass<[string]> =
  createError('FST_RESOURCES_INVALID_PATH', 'paths: %s', 500, TypeError)
/** Thrown when a handler of the app's own answers with what is no answer. */
export const InvalidAnswerError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_INVALID_ANSWER', 'resources: the handler of "%s" %s', 500, TypeError)

// What a client did: answered in the client's own format.

/** Thrown when a body is not what its Content-Type says: not UTF-8, not well-formed, too deep, a DOCTYPE. */
export const MalformedBodyError: ErrorClass<[string]> = createError('FST_RESOURCES_MALFORMED_BODY', '%s', 400)
/** Thrown when a query has a parameter that is unknown, repeated or without sense. */
export const InvalidQueryError: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID_QUERY', '%s', 400)
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
/** Thrown when `authorize` does not let a request do what it is about to. */
export const ForbiddenError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_FORBIDDEN', 'you are not allowed to %s %s', 403)
/** Thrown when no resource has the id of the request. */
export const NotFoundError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_NOT_FOUND', 'there is no %s with the id %s', 404)
/** Thrown when there is nothing at a path for this request: `authorize` hides it, or a singleton is not there. */
export const NothingHereError: ErrorClass<[string]> =
  createError('FST_RESOURCES_NOTHING_HERE', 'there is no %s here', 404)
/** Thrown when the path of a resource is asked for with a slash at its end, and the router does not ignore that. */
export const TrailingSlashError: ErrorClass<[]> =
  createError('FST_RESOURCES_TRAILING_SLASH', 'there is nothing here: leave out the slash at the end of the path', 404)
/** Thrown when a path does not serve the request's method; the answer's `Allow` names those it does. */
export const MethodNotAllowedError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_METHOD_NOT_ALLOWED', '%s is not allowed here, but %s', 405)
/** Thrown when a singleton is created that there is already. */
export const ExistsError: ErrorClass<[string]> = createError('FST_RESOURCES_EXISTS', 'there is a %s already', 409)
/** Thrown when none of the resource's formats is acceptable. */
export const NotAcceptableError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_NOT_ACCEPTABLE', '%s; there is %s', 406)
/**
 * Thrown when a write does not meet its `If-Match`, `If-None-Match` or `_version`, and there is no row to show, or
 * `authorize` hides it.
 */
export const PreconditionFailedError: ErrorClass<[string]> = createError('FST_RESOURCES_PRECONDITION_FAILED', '%s', 412)
/** Thrown when a body has more values than are read of one. */
export const TooManyValuesError: ErrorClass<[number]> =
  createError('FST_RESOURCES_TOO_MANY_VALUES', 'the body has more than %d values', 413)
/** Thrown when a body has a Content-Type that the resource does not read. */
export const UnsupportedMediaTypeError: ErrorClass<[string, string]> =
  createError('FST_RESOURCES_UNSUPPORTED_MEDIA_TYPE', '%s cannot be read here, but %s', 415)
/** Thrown when the resource demands `If-Match` on writes and there is none, or only `*`, which names no version. */
export const MatchRequiredError: ErrorClass<[string]> =
  createError('FST_RESOURCES_MATCH_REQUIRED', 'send If-Match with the ETag of the %s that you have read', 428)

const InvalidBase: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID', '%s', 422)
const DuplicateBase: ErrorClass<[string]> = createError('FST_RESOURCES_DUPLICATE', '%s is already taken', 409)

/** Thrown when the schema or the store refuses what was supplied; `errors` says why, attribute by attribute. */
export class InvalidError extends InvalidBase {
  /** What is wrong with which attribute. */
  readonly errors: Messages

  /**
   * @param errors empty where no attribute is at fault
   * @param options.detail what is wrong in one sentence; default: the messages of `errors`
   * @param options.cause what the store's engine said
   */
  constructor (errors: Messages, options: { readonly detail?: string, readonly cause?: unknown } = {}) {
    super(options.detail ?? sentences(errors).join('; '))
    this.errors = errors
    if (options.cause !== undefined) this.cause = options.cause
  }
}

/** Thrown by a store when a row would repeat the value of an attribute that is unique. */
export class DuplicateError extends DuplicateBase {
  /** What is wrong with which attribute. */
  readonly errors: Messages

  /**
   * @param attribute the attribute whose value exists already
   * @param options.cause what the store's engine said
   */
  constructor (attribute: string, options?: { readonly cause?: unknown }) {
    super(attribute)
    this.errors = { [attribute]: ['is already taken'] }
    if (options !== undefined) this.cause = options.cause
  }
}

// What a store's engine did: the client is told, and may try again.

interface Caused {
  /** What the store's engine said. */
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
const UnknownOutcomeBase: StoreErrorClass = makeStoreError(
  'FST_RESOURCES_UNKNOWN_OUTCOME',
  'the store did not answer, and it is not known whether anything was written; look before you try again',
  504
)

/** Thrown by a store that cannot be reached or has too much to do, when nothing has been written. */
export class UnavailableError extends UnavailableBase {
  /** In seconds (RFC 9110 §10.2.3). */
  readonly headers: Readonly<Record<string, string>> = { 'retry-after': '1' }
}

/** Thrown by a store that has no room left, when nothing has been written. */
export class StoreFullError extends StoreFullBase {}

/** Thrown by a store that has sent a write and lost its answer. */
export class UnknownOutcomeError extends UnknownOutcomeBase {}

/** The messages of each attribute as sentences: "title must not be blank". */
export function sentences (errors: Messages): string[] {
  return Object.entries(errors).flatMap(([attribute, messages]) => messages.map((message) => `${attribute} ${message}`))
}

/** What a client is told of an error (RFC 9457). */
export interface Problem {
  /** RFC 9457: there is nothing to say but the status. */
  readonly type: 'about:blank'
  /** The status in words. */
  readonly title: string
  /** As the answer has it. */
  readonly status: number
  /** What is wrong, in one sentence; of a failure of the server (5xx) nothing of the inside. */
  readonly detail: string
  /** With 409 and 422: what is wrong with which attribute. */
  readonly errors?: Messages
}

/**
 * Describes what was thrown. A client's mistake (4xx) is described by its message, anything else by the status alone.
 * `replied` is the status that whoever threw had set.
 */
export function describeError (thrown: unknown, replied: number): Problem {
  const error: Readonly<Record<string, unknown>> = Object(thrown)
  const status = [error.statusCode, error.status, replied].find(isErrorStatus) ?? 500
  const title = STATUS_CODES[status] ?? 'Error'
  const told = status >= 500 ? serverDetail(thrown) : error.message
  const detail = typeof told === 'string' && told !== '' ? told : title
  const problem = { type: 'about:blank', title, status, detail } as const
  return status < 500 && hasMessages(thrown) ? { ...problem, errors: thrown.errors } : problem
}

function serverDetail (thrown: unknown): string {
  const isOfStore = [UnavailableError, StoreFullError, UnknownOutcomeError].some((known) => thrown instanceof known)
  return isOfStore ? (thrown as Error).message : 'something went wrong on the server'
}

function hasMessages (thrown: unknown): thrown is InvalidError | DuplicateError {
  return (thrown instanceof InvalidError && Object.keys(thrown.errors).length > 0) || thrown instanceof DuplicateError
}

function isErrorStatus (status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
}
