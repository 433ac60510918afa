import type { FastifyRequest } from 'fastify'
import { ForbiddenError, InvalidAnswerError } from '../../errors.js'
import type { Parameters } from '../../resource/path-pattern.js'
import { nameOf } from '../../resource/resource.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import { isXmlName } from '../../schema/legal-text.js'
import type { Attributes } from '../../schema/types.js'
import type { ParameterCheck } from '../../schema/validation/parameter.js'
import type { Context } from '../../stores/store.js'
import { forEachInOrder, type MaybePromise, andThen } from '../../util/maybe-promise.js'
import { isObject } from '../../util/own-property.js'
import type { Target } from '../target.js'

/** A request, which is also the context of its calls of a store. */
export interface AccessContext extends Context {
  readonly request: FastifyRequest<{ Params: Parameters }>
}

/** A resource on the way to what a request is about, the outermost first. */
export interface GuardedResource {
  readonly target: Target
  readonly authorize: readonly Authorize[]
  readonly scope: readonly FindScope[]
  /** The path parameter with the id of a parent; undefined for a singleton. */
  readonly param: string | undefined
  /** What its id must be like. */
  readonly fits: readonly ParameterCheck[]
  /** Constraints on other parameters of its path. */
  readonly around: ReadonlyArray<readonly [param: string, isFit: ParameterCheck]>
  /** The attribute that has the id of the level before it; undefined of the first. */
  readonly foreignKey: string | undefined
  /** The resource that this one is nested in, whether the path tells it or not. */
  readonly over: ParentLink | undefined
}

/** A resource above another one. */
export interface ParentLink {
  readonly level: GuardedResource
  /** The attribute that has its id. */
  readonly foreignKey: string
  readonly param: string | undefined
  /** What its id must be like, by its own constraints and by those of what is nested in it. */
  readonly fits: readonly ParameterCheck[]
}

/** Adds constraints on the ids of parents, which apply to the rows if the path does not name the parents. */
export function constrain (level: GuardedResource, around: GuardedResource['around']): GuardedResource {
  const { over } = level
  if (over === undefined) return level
  const fits = around.flatMap(([name, isFit]) => name === over.param ? [isFit] : [])
  return { ...level, over: { ...over, fits: [...over.fits, ...fits], level: constrain(over.level, around) } }
}

export function isFitFor (fits: readonly ParameterCheck[], id: Id): boolean {
  return fits.every((isFit) => isFit(String(id)))
}

/** Finds what a request may see at all of a resource. */
export function resolveScope (
  { scope, target: { resource } }: GuardedResource,
  request: FastifyRequest
): MaybePromise<Scope> {
  const narrowed = new Map<string, Scope[string]>()
  const refuse = (what: string): never => {
    throw new InvalidAnswerError('scope', `of ${resource.plural} ${what}`)
  }
  const step = (find: FindScope): MaybePromise<void> =>
    andThen(find(request), (found: unknown) => {
      if (!isObject(found) || !PLAIN.includes(Object.getPrototypeOf(found))) {
        return refuse(`must give an object of attribute values, not ${String(found)}`)
      }
      for (const [name, value] of Object.entries(found)) {
        if (name === 'id') return refuse('gives "id", which belongs to the resource and is no attribute')
        if (!isXmlName(name)) return refuse(`gives "${name}", which no attribute can be called`)
        // A store would find no row by it, or every row.
        if (!isScalar(value)) return refuse(`gives "${name}", which must be a text, a number, true, false or null`)
        // No row satisfies both, and one scope must not open what the other protects.
        if (narrowed.has(name) && narrowed.get(name) !== value) {
          return refuse(`gives another "${name}" than the scope around it`)
        }
        narrowed.set(name, value)
      }
    })
  return andThen(forEachInOrder(scope, step), () => Object.fromEntries(narrowed))
}

const PLAIN: readonly unknown[] = [Object.prototype, null]

function isScalar (value: unknown): value is Scope[string] {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** What `authorize` of one resource is asked. */
export interface Question extends Pick<AuthorizeContext, 'action'> {
  readonly id: Id | undefined
  readonly row: AuthorizeContext['row'] | undefined
  /** The action that a refusal names. @default `action` */
  readonly refusedAction?: string | undefined
  /** Makes the error for a row that is hidden. */
  makeHidden (): Error
}

/**
 * Checks that each `authorize` of a resource, and of the scopes around it, allows an action.
 * @throws ForbiddenError
 */
export function authorize (
  { authorize, target }: GuardedResource,
  request: FastifyRequest,
  { action, id, row, refusedAction = action, makeHidden }: Question
): MaybePromise<void> {
  const resource = nameOf(target.resource)
  const context: AuthorizeContext = {
    action,
    resource,
    ...(id !== undefined && { id }),
    ...(row !== undefined && { row })
  }
  return forEachInOrder(authorize, (isAllowed) =>
    andThen(isAllowed(request, context), (answer) => {
      if (answer === 'hide') throw makeHidden()
      if (answer !== true) throw new ForbiddenError(refusedAction, resource)
    })
  )
}

/** What the forms are for. */
export const FORMS_FOR: ReadonlyMap<string, string> = new Map([['new', 'create'], ['edit', 'update']])

export function isGuarded ({ authorize, scope, over }: GuardedResource): boolean {
  return authorize.length > 0 || scope.length > 0 || guardsParent(over)
}

export function guardsParent (over: ParentLink | undefined): over is ParentLink {
  return over !== undefined && (over.fits.length > 0 || isGuarded(over.level))
}

/** What a request is about to do. */
export interface AuthorizeContext<A = Attributes> {
  /** `list`, `show`, `create`, `update`, `delete`, `new`, `edit`, or the name of an action of the app's own. */
  readonly action: string
  /** The plural name, of a singleton the singular one. */
  readonly resource: string
  /** The id of the row that is shown, changed or deleted. */
  readonly id?: Id
  /**
   * Reads that row, within the scope; undefined where there is none. What is then written is written only if the row is
   * still the same. Absent where it is about no row.
   */
  readonly row?: () => MaybePromise<Row<A> | undefined>
}

/** Returns whether a request may do an action: true, false for a 403, or `'hide'` for a 404. */
export type Authorize<A = Attributes> = (
  request: FastifyRequest,
  attempt: AuthorizeContext<A>
) => MaybePromise<boolean | 'hide'>

/** Attribute values that each row must have that a request may see and touch, and that each row is made with. */
export type FindScope = (request: FastifyRequest) => MaybePromise<Scope>
