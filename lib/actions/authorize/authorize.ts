import type { FastifyRequest } from 'fastify'
import { NothingHereError } from '../../errors.js'
import type { Parameters } from '../../resource/path-pattern.js'
import { parseId } from '../../resource/resource.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import type { Context } from '../../stores/store.js'
import { forEachInOrder, type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import { findRow } from '../find-row.js'
import { notFound, type Target } from '../target.js'
import { authorize, FORMS_FOR, isFitFor, isGuarded, type GuardedResource, guardsParent, resolveScope } from './level.js'
import { checkParents } from './parents.js'

/** What a request is about to do to what it is about. */
export interface AccessRequest {
  readonly action: string
  readonly id: Id | undefined
  /** Whether the action is one of the app's own, whatever that is called. */
  readonly isCustom: boolean
}

/** What a request has been let in to. */
export interface Access {
  readonly target: Target
  /** The row that `authorize` has looked at: nothing else is to be written over. */
  readonly authorizedRow: Row | undefined
  /** Whether `authorize` has looked for the row, also if it found none. */
  readonly hasLooked: boolean
}

/** @throws NotFoundError, ForbiddenError, NothingHereError */
export type CheckAccess = (request: FastifyRequest, access: AccessRequest, context: Context) => MaybePromise<Access>

/**
 * Finds the row that an answer may show beside a refusal: `authorize` must allow `show`. Gives the row that `authorize`
 * has looked at, or else what `find` gives; undefined if it may not be shown.
 */
export function findShown (
  checkAccess: CheckAccess,
  request: FastifyRequest,
  id: Id | undefined,
  context: Context,
  find: (target: Target) => MaybePromise<Row | undefined>
): MaybePromise<Row | undefined> {
  const access = { action: 'show', id, isCustom: false }
  return catchError(
    () =>
      andThen(checkAccess(request, access, context), ({ target, authorizedRow, hasLooked }) =>
        hasLooked ? authorizedRow : find(target)
      ),
    () => undefined
  )
}

/**
 * Whatever stands between a request and the rows, in this order: what it may see at all (`scope`), whether it may do what
 * it is about to (`authorize`, also of the parents, of which it must be allowed to see the row), whether the parents are
 * there. Undefined where there is nothing of it.
 */
export function compileAccessCheck (levels: readonly GuardedResource[]): CheckAccess | undefined {
  const around = levels.flatMap(({ around }) => around)
  const isOpen = around.length === 0 && levels.length === 1 && !levels.some(isGuarded)
  if (isOpen) return undefined
  return (request, access, context) => {
    for (const [param, isFit] of around) {
      if (!isFit((request.params as Parameters)[param] as string)) {
        throw new NothingHereError((levels.at(-1) as GuardedResource).target.resource.singular)
      }
    }
    return new AccessCheck(levels, request, access, context).checkAccess()
  }
}

const OF_PARENT: unique symbol = Symbol('fastify-resources.of-parent')

function ofParent<E extends Error> (error: E): E {
  return Object.assign(error, { [OF_PARENT]: true })
}

/** Whether it is a parent that is not there, or is hidden. */
export function isOfParent (error: unknown): boolean {
  return error instanceof Error && OF_PARENT in error
}

class AccessCheck {
  readonly #levels: readonly GuardedResource[]
  readonly #request: FastifyRequest
  readonly #access: AccessRequest
  readonly #context: Context
  readonly #ids: ReadonlyArray<Id | undefined>
  readonly #scopes: Scope[] = []
  /** What has been read already, or is being read. */
  readonly #rows: Array<{ readonly row: MaybePromise<Row | undefined> }> = []
  #authorizedRow: Row | undefined
  #hasLooked = false

  constructor (levels: readonly GuardedResource[], request: FastifyRequest, access: AccessRequest, context: Context) {
    this.#levels = levels
    this.#request = request
    this.#access = access
    this.#context = context
    this.#ids = levels.map((level, index) => index === levels.length - 1 ? access.id : this.#parentId(level))
  }

  checkAccess (): MaybePromise<Access> {
    const parents = this.#levels.slice(0, -1)
    const resolveScope = forEachInOrder(this.#levels, (level, index) => this.#resolveScope(level, index))
    const authorize = (): MaybePromise<void> =>
      forEachInOrder(this.#levels, (level, index) => this.#authorize(level, index))
    const meetParents = (): MaybePromise<void> => forEachInOrder(parents, (level, index) => this.#meet(level, index))
    return andThen(
      andThen(andThen(andThen(resolveScope, authorize), meetParents), () => this.#checkParents()),
      () => this.#arrive()
    )
  }

  #parentId ({ target: { resource }, param, fits }: GuardedResource): Id | undefined {
    if (param === undefined) return undefined
    const text = (this.#request.params as Parameters)[param] as string
    const id = parseId(resource.idType, text)
    if (id === undefined || !isFitFor(fits, id)) throw ofParent(notFound(resource, id ?? text))
    return id
  }

  #resolveScope (level: GuardedResource, index: number): MaybePromise<void> {
    return andThen(resolveScope(level, this.#request), (scope) => { this.#scopes[index] = scope })
  }

  #authorize (level: GuardedResource, index: number): MaybePromise<void> {
    const { resource } = level.target
    const isLast = index === this.#levels.length - 1
    const id = this.#ids[index]
    const action = isLast ? this.#access.action : 'show'
    const hasRow = id !== undefined || (resource.singleton && action !== 'create' && action !== 'new')
    return authorize(
      level,
      this.#request,
      action,
      id,
      hasRow ? () => (isLast ? this.#see(index) : this.#row(index)) : undefined,
      isLast ? undefined : ofParent,
      isLast && !this.#access.isCustom ? FORMS_FOR.get(action) : undefined
    )
  }

  #meet ({ target: { resource } }: GuardedResource, index: number): MaybePromise<void> {
    return andThen(this.#row(index), (row) => {
      if (row === undefined) {
        throw ofParent(
          resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, this.#ids[index])
        )
      }
    })
  }

  /** From the first row that the path tells to those above it, if that is shallow. */
  #checkParents (): MaybePromise<void> {
    const [first] = this.#levels as [GuardedResource, ...GuardedResource[]]
    if (!guardsParent(first.over)) return
    const isAlone = this.#levels.length === 1
    const lost = (): Error => {
      const error = notFound(first.target.resource, this.#ids[0])
      return isAlone ? error : ofParent(error)
    }
    return andThen(isAlone ? this.#see(0) : this.#row(0), (row) => {
      if (row === undefined) throw lost()
      return checkParents(row, first, lost, this.#request, this.#context)
    })
  }

  #see (index: number): MaybePromise<Row | undefined> {
    this.#hasLooked = true
    return andThen(this.#row(index), (row) => {
      this.#authorizedRow = row
      return row
    })
  }

  /** The row of a level, read once. */
  #row (index: number): MaybePromise<Row | undefined> {
    const { target: { resource, store } } = this.#levels[index] as GuardedResource
    const read = (scope: Scope): MaybePromise<Row | undefined> =>
      findRow({ resource, store, scope }, this.#ids[index], this.#context)
    this.#rows[index] ??= { row: andThen(this.#scopeOf(index), read) }
    return (this.#rows[index] as { row: MaybePromise<Row | undefined> }).row
  }

  /** With the id of the parent's row in it. */
  #scopeOf (index: number): MaybePromise<Scope> {
    const scope = this.#scopes[index] as Scope
    const { foreignKey } = this.#levels[index] as GuardedResource
    if (foreignKey === undefined) return scope
    const id = this.#ids[index - 1]
    const { resource } = (this.#levels[index - 1] as GuardedResource).target
    const within = (id: Id): Scope => {
      // The path asks for another parent than those whose rows the request may see.
      if (Object.hasOwn(scope, foreignKey) && scope[foreignKey] !== id) {
        throw ofParent(resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, id))
      }
      return { ...scope, [foreignKey]: id }
    }
    if (id !== undefined) return within(id)
    return andThen(this.#row(index - 1), (row) => {
      if (row === undefined) throw ofParent(new NothingHereError(resource.singular))
      return within(row.id)
    })
  }

  #arrive (): MaybePromise<Access> {
    const last = this.#levels.length - 1
    const { resource, store } = (this.#levels[last] as GuardedResource).target
    return andThen(this.#scopeOf(last), (scope) => ({
      target: { resource, store, scope },
      authorizedRow: this.#authorizedRow,
      hasLooked: this.#hasLooked
    }))
  }
}
