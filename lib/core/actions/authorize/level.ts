import type { FastifyRequest } from 'fastify'
import { ForbiddenError, InvalidAnswerError } from '../../errors.js'
import type { Parameters } from '../../resource/path-pattern.js'
import { nameOf } from '../../modes.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import { isXmlName } from '../../schema/legal-text.js'
import type { Attributes } from '../../schema/types.js'
import type { ParameterCheck } from '../../schema/validation/parameter.js'
import type { Context } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { isObject } from '../../util/own-property.js'
import type { Target } from '../list.js'

/** A request, which is also the context of its calls of a store. */
export interface AccessContext extends Context {
  /** The request that is answered. */
  readonly request: FastifyRequest<{ Params: Parameters }>
}

/** A resource in the path of a request, with the checks of its access. */
export interface GuardedResource {
  readonly target: Target
  readonly authorize: readonly Authorize[]
  readonly scope: readonly FindScope[]
  /** The path parameter with the id of a parent, or `undefined` for a singleton. */
  readonly param: string | undefined
  /** The constraints on its id. */
  readonly idChecks: readonly ParameterCheck[]
  /** Constraints on other parameters of its path. */
  readonly parameterChecks: ReadonlyArray<readonly [param: string, isFit: ParameterCheck]>
  /** The attribute that has the id of the level before it, or `undefined` for the first level. */
  readonly foreignKey: string | undefined
  /** The resource that this one is nested in, even if the path does not name it. */
  readonly parentLink: ParentLink | undefined
}

/** A resource above another one. */
export interface ParentLink {
  readonly level: GuardedResource
  /** The attribute that has its id. */
  readonly foreignKey: string
  readonly param: string | undefined
  /** The constraints on its id: its own, and those of the resources that are nested in it. */
  readonly idChecks: readonly ParameterCheck[]
}

/** Adds constraints on the ids of parents, which apply to the rows if the path does not name the parents. */
export function constrainParents (
  level: GuardedResource,
  parameterChecks: GuardedResource['parameterChecks']
): GuardedResource {
  const { parentLink } = level
  if (parentLink === undefined) return level
  const added = parameterChecks.flatMap(([name, isFit]) => name === parentLink.param ? [isFit] : [])
  const idChecks = [...parentLink.idChecks, ...added]
  const parent = constrainParents(parentLink.level, parameterChecks)
  return { ...level, parentLink: { ...parentLink, idChecks, level: parent } }
}

export function passesChecks (checks: readonly ParameterCheck[], id: Id): boolean {
  return checks.every((isFit) => isFit(String(id)))
}

/**
 * Finds the scope of a request: the attribute values of all rows that it may see.
 * @throws InvalidAnswerError
 */
export async function resolveScope (
  { scope, target: { resource } }: GuardedResource,
  request: FastifyRequest
): Promise<Scope> {
  const narrowed = new Map<string, Scope[string]>()
  const refuse = (what: string): never => {
    throw new InvalidAnswerError('scope', `of ${resource.plural} ${what}`)
  }
  for (const find of scope) {
    const found: unknown = await find(request)
    if (!isObject(found) || !PLAIN.includes(Object.getPrototypeOf(found))) {
      return refuse(`must return an object of attribute values, not ${String(found)}`)
    }
    for (const [name, value] of Object.entries(found)) {
      if (name === 'id') return refuse('returns "id", which is not an attribute')
      if (!isXmlName(name)) return refuse(`returns "${name}", which is not a valid name of an attribute`)
      // With any other value, a store would find no row, or every row.
      if (!isScalar(value)) return refuse(`returns "${name}", which must be a text, a number, true, false or null`)
      // No row satisfies both, and one scope must not open what the other protects.
      if (narrowed.has(name) && narrowed.get(name) !== value) {
        return refuse(`returns another value of "${name}" than the scope around it`)
      }
      narrowed.set(name, value)
    }
  }
  return Object.fromEntries(narrowed)
}

const PLAIN: readonly unknown[] = [Object.prototype, null]

function isScalar (value: unknown): value is Scope[string] {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** A question to each `authorize` of one resource. */
export interface Question extends Pick<AuthorizeContext, 'action' | 'rows' | 'dryRun'> {
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
export async function authorize (
  { authorize, target }: GuardedResource,
  request: FastifyRequest,
  { action, id, row, rows, dryRun, refusedAction = action, makeHidden }: Question
): Promise<void> {
  const resource = nameOf(target.resource)
  const context: AuthorizeContext = {
    action,
    resource,
    ...(id !== undefined && { id }),
    ...(row !== undefined && { row }),
    ...(rows !== undefined && { rows }),
    ...(dryRun !== undefined && { dryRun })
  }
  for (const isAllowed of authorize) {
    const answer = await isAllowed(request, context)
    if (answer === 'hide') throw makeHidden()
    if (answer !== true) throw new ForbiddenError(refusedAction, resource)
  }
}

/** The actions that the forms lead to. */
export const FORMS_FOR: ReadonlyMap<string, string> = new Map([['new', 'create'], ['edit', 'update']])

export function isGuarded ({ authorize, scope, parentLink }: GuardedResource): boolean {
  return authorize.length > 0 || scope.length > 0 || guardsParent(parentLink)
}

export function guardsParent (link: ParentLink | undefined): link is ParentLink {
  return link !== undefined && (link.idChecks.length > 0 || isGuarded(link.level))
}

/** The action that a request is about to do, and its row. */
export interface AuthorizeContext<A = Attributes> {
  /** `list`, `show`, `create`, `update`, `delete`, `new`, `edit`, or the name of a custom action. */
  readonly action: string
  /** The plural name, or the singular name of a singleton. */
  readonly resource: string
  /** The id of the row that the action is about. */
  readonly id?: Id
  /**
   * Reads that row within the scope. Returns `undefined` if there is none. A write then succeeds only if the row is
   * still the same. Absent if the action is not about a row.
   */
  readonly row?: () => Promise<Row<A> | undefined>
  /** The number of rows that the request writes; absent if it is a request with one row. */
  readonly rows?: number | undefined
  /** Whether nothing will be written, because the request has `?dry_run=true`; absent if it has not. */
  readonly dryRun?: true | undefined
}

/** Returns whether a request may do an action: true, false for a 403, or `'hide'` for a 404. */
export type Authorize<A = Attributes> = (
  request: FastifyRequest,
  attempt: AuthorizeContext<A>
) => MaybePromise<boolean | 'hide'>

/** Returns attribute values. A request sees and changes only rows that have them, and creates rows with them. */
export type FindScope = (request: FastifyRequest) => MaybePromise<Scope>
