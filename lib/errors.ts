import { STATUS_CODES } from 'node:http'
import createError, { type FastifyErrorConstructor } from '@fastify/error'

/** Attribute (or path such as `author.name`) → what is wrong with it, each a phrase that follows the name. */
export type Messages = Readonly<Record<string, readonly string[]>>

interface Coded {
  /** `FST_RESOURCES_…` */
  code: string
}

type ErrorClass<Arguments extends unknown[]> = FastifyErrorConstructor<Coded, Arguments>

// Mistakes of a programmer: thrown at registration.

const InvalidOptionBase: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID_OPTION', '%s', 500, TypeError)
const UnknownOptionBase: ErrorClass<[string]> = createError('FST_RESOURCES_UNKNOWN_OPTION', '%s', 500, TypeError)

/** Thrown when an option is missing or has a value that cannot be used. */
export class InvalidOptionError extends InvalidOptionBase {
  readonly #option: string
  readonly #reason: string
  readonly #owner: string

  /**
   * @param reason what is wrong, what was found, and how to repair it
   * @param owner whose option it is: `' of resource "posts"'`
   */
  constructor (option: string, reason: string, owner = '') {
    super(endSentence(`Option "${option}"${owner} ${reason}`))
    this.#option = option
    this.#reason = reason
    this.#owner = owner
  }

  /** Returns the same error with the name of what the option belongs to. */
  of (owner: string): InvalidOptionError {
    return new InvalidOptionError(this.#option, this.#reason, joinOwners(this.#owner, owner))
  }
}

/** Thrown when an option has an unknown name. */
export class UnknownOptionError extends UnknownOptionBase {
  readonly #option: string
  readonly #hint: string
  readonly #owner: string

  /**
   * @param hint begins with a semicolon, or is empty
   * @param owner whose option it is: `' of resource "posts"'`
   */
  constructor (option: string, hint: string, owner = '') {
    super(endSentence(`There is no option "${option}"${owner}${hint}`))
    this.#option = option
    this.#hint = hint
    this.#owner = owner
  }

  /** Returns the same error with the name of what the option would belong to. */
  of (owner: string): UnknownOptionError {
    return new UnknownOptionError(this.#option, this.#hint, joinOwners(this.#owner, owner))
  }
}

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
export const InvalidAttributesError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_INVALID_ATTRIBUTES',
  'resources: attributes of "%s": %s',
  500,
  TypeError
)
/** Thrown when two declarations claim the same route, or the same name in `app.paths`. */
export const ClashError: ErrorClass<[string, string, string]> = createError(
  'FST_RESOURCES_CLASH',
  'resources: %s and %s both have %s',
  500,
  TypeError
)
/** Thrown when `app.paths` is asked for a path that it has not, or with other parameters than the path has. */
export const InvalidPathError: ErrorClass<[string]> = createError(
  'FST_RESOURCES_INVALID_PATH',
  'paths: %s',
  500,
  TypeError
)
/** Thrown when a handler of the app's own answers with what is no answer. */
export const InvalidAnswerError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_INVALID_ANSWER',
  'resources: the handler of "%s" %s',
  500,
  TypeError
)

// What a client did: answered in the client's own format.

/** Thrown when a body is not what its Content-Type says: not UTF-8, not well-formed, too deep, a DOCTYPE. */
export const MalformedBodyError: ErrorClass<[string]> = createError('FST_RESOURCES_MALFORMED_BODY', '%s', 400)
/** Thrown when a query has a parameter that is unknown, repeated or without sense. */
export const InvalidQueryError: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID_QUERY', '%s', 400)
/** Thrown when a request names two different ids. */
export const IdConflictError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_ID_CONFLICT',
  'the request names two ids: "%s" and "%s"',
  400
)
/** Thrown when a form's `_method` is neither PUT nor DELETE, is given twice, or stands in a request other than POST. */
export const InvalidMethodError: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID_METHOD', '%s', 400)
/** Thrown when `If-Match` or `If-None-Match` is not a list of entity tags (RFC 9110 §8.8.3). */
export const InvalidPreconditionError: ErrorClass<[string]> = createError(
  'FST_RESOURCES_INVALID_PRECONDITION',
  '%s is not a list of entity tags such as "1.xml"',
  400
)
/** Thrown when a browser says that an unsafe request comes from another origin. */
export const CrossSiteError: ErrorClass<[string]> = createError(
  'FST_RESOURCES_CROSS_SITE',
  'the request comes from %s',
  403
)
/** Thrown when `authorize` does not let a request do what it is about to. */
export const ForbiddenError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_FORBIDDEN',
  'you are not allowed to %s %s',
  403
)
/** Thrown when no resource has the id of the request. */
export const NotFoundError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_NOT_FOUND',
  'there is no %s with the id %s',
  404
)
/** Thrown when there is nothing at a path for this request: `authorize` hides it, or a singleton is not there. */
export const NothingHereError: ErrorClass<[string]> = createError(
  'FST_RESOURCES_NOTHING_HERE',
  'there is no %s here',
  404
)
/** Thrown when the path of a resource is asked for with a slash at its end, and the router does not ignore that. */
export const TrailingSlashError: ErrorClass<[]> = createError(
  'FST_RESOURCES_TRAILING_SLASH',
  'there is nothing here: leave out the slash at the end of the path',
  404
)
/** Thrown when a path does not serve the request's method; the answer's `Allow` names those it does. */
export const MethodNotAllowedError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_METHOD_NOT_ALLOWED',
  '%s is not allowed here, but %s',
  405
)
/** Thrown when a singleton is created that there is already. */
export const ExistsError: ErrorClass<[string]> = createError('FST_RESOURCES_EXISTS', 'there is a %s already', 409)
/** Thrown when none of the resource's formats is acceptable. */
export const NotAcceptableError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_NOT_ACCEPTABLE',
  '%s; there is %s',
  406
)
/**
 * Thrown when a write demands what is not so by `If-Match`, `If-None-Match` or a form's `_version`, and there is no row to
 * show, or `authorize` does not let it be shown.
 */
export const PreconditionFailedError: ErrorClass<[string]> = createError('FST_RESOURCES_PRECONDITION_FAILED', '%s', 412)
/** Thrown when a body has more values than are read of one. */
export const TooManyValuesError: ErrorClass<[number]> = createError(
  'FST_RESOURCES_TOO_MANY_VALUES',
  'the body has more than %d values',
  413
)
/** Thrown when a body has a Content-Type that the resource does not read. */
export const UnsupportedMediaTypeError: ErrorClass<[string, string]> = createError(
  'FST_RESOURCES_UNSUPPORTED_MEDIA_TYPE',
  '%s cannot be read here, but %s',
  415
)
/** Thrown when the resource demands `If-Match` on writes and there is none, or only `*`, which names no version. */
export const MatchRequiredError: ErrorClass<[string]> = createError(
  'FST_RESOURCES_MATCH_REQUIRED',
  'send If-Match with the ETag of the %s that you have read',
  428
)

const InvalidBase: ErrorClass<[string]> = createError('FST_RESOURCES_INVALID', '%s', 422)
const DuplicateBase: ErrorClass<[string]> = createError('FST_RESOURCES_DUPLICATE', '%s is already taken', 409)

/** Thrown when what was supplied is not what the schema or the store wants; `errors` says what, attribute by attribute. */
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

const UnavailableBase: ErrorClass<[]> = createError(
  'FST_RESOURCES_UNAVAILABLE',
  'the store is not available now, and nothing was written; try again',
  503
)
const StoreFullBase: ErrorClass<[]> = createError(
  'FST_RESOURCES_STORE_FULL',
  'the store is full, and nothing was written',
  507
)
const UnknownOutcomeBase: ErrorClass<[]> = createError(
  'FST_RESOURCES_UNKNOWN_OUTCOME',
  'the store did not answer, and it is not known whether anything was written; look before you try again',
  504
)

/** Thrown by a store that cannot be reached or has too much to do, when nothing has been written. */
export class UnavailableError extends UnavailableBase {
  /** In seconds (RFC 9110 §10.2.3). */
  readonly headers: Readonly<Record<string, string>> = { 'retry-after': '1' }

  /** @param options.cause what the store's engine said */
  constructor (options: { readonly cause?: unknown } = {}) {
    super()
    if (options.cause !== undefined) this.cause = options.cause
  }
}

/** Thrown by a store that has no room left, when nothing has been written. */
export class StoreFullError extends StoreFullBase {
  /** @param options.cause what the store's engine said */
  constructor (options: { readonly cause?: unknown } = {}) {
    super()
    if (options.cause !== undefined) this.cause = options.cause
  }
}

/** Thrown by a store that has sent a write and lost its answer. */
export class UnknownOutcomeError extends UnknownOutcomeBase {
  /** @param options.cause what the store's engine said */
  constructor (options: { readonly cause?: unknown } = {}) {
    super()
    if (options.cause !== undefined) this.cause = options.cause
  }
}

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

interface ErrorLike { statusCode?: unknown, status?: unknown, message?: unknown, errors?: unknown }

/**
 * What may be told of anything that was thrown: of a client's mistake (4xx) its message,
 * of everything else the status alone. `replied` is the status that whoever threw had set.
 */
export function describeError (thrown: unknown, replied: number): Problem {
  const error: ErrorLike = typeof thrown === 'object' && thrown !== null ? thrown : {}
  const status = findStatus([error.statusCode, error.status, replied])
  const title = STATUS_CODES[status] ?? 'Error'
  if (status >= 500) {
    return {
      type: 'about:blank',
      title,
      status,
      detail: isOfStore(thrown) ? thrown.message : 'something went wrong on the server'
    }
  }
  const detail = typeof error.message === 'string' && error.message !== '' ? error.message : title
  const problem = { type: 'about:blank', title, status, detail } as const
  return hasMessages(thrown) ? { ...problem, errors: thrown.errors } : problem
}

function isOfStore (thrown: unknown): thrown is Error {
  return thrown instanceof UnavailableError || thrown instanceof StoreFullError || thrown instanceof UnknownOutcomeError
}

function hasMessages (thrown: unknown): thrown is InvalidError | DuplicateError {
  return (thrown instanceof InvalidError && Object.keys(thrown.errors).length > 0) || thrown instanceof DuplicateError
}

function findStatus (candidates: readonly unknown[]): number {
  for (const candidate of candidates) {
    if (Number.isInteger(candidate) && (candidate as number) >= 400 && (candidate as number) <= 599) {
      return candidate as number
    }
  }
  return 500
}
