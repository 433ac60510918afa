import { parseId, referencedAttribute, referenceTo } from '../../resource/resource.js'
import { type Parameters, readSpelling, spellId } from '../../resource/path-pattern.js'
import { type Id, isId, type Row, type Scope } from '../../resource/row.js'
import type { Scalar } from '../../schema/types.js'
import { andThen, catchError, forEachInOrder, type MaybePromise } from '../../util/maybe-promise.js'
import { findRow } from '../find-row.js'
import { notFound, type Target } from '../target.js'
import type { Context } from '../../stores/store.js'
import { lazy } from '../../util/functions.js'
import {
  type AccessContext, authorize, FORMS_FOR, type GuardedResource, guardsParent, isGuarded, type ParentLink,
  passesChecks, resolveScope
} from './level.js'

/** The action that a request is about to do, and the id of its row. */
export interface AccessRequest {
  readonly action: string
  readonly id: Id | undefined
  /** Whether it is a custom action, which may have the name of a default one. */
  readonly isCustom: boolean
}

/** The target of an authorized request, and the row that `authorize` was shown. */
export interface Access {
  readonly target: Target
  /** The row that `authorize` was shown. A write must not replace another one. */
  readonly authorizedRow: Row | undefined
  /** Whether the check has read the row, even if there was none. */
  readonly hasLooked: boolean
  /** The rows of the parents in the path, from the outermost to the nearest. */
  readonly parents: readonly Row[]
}

/**
 * Checks the access of a request.
 * @throws NotFoundError, ForbiddenError, NothingHereError, InvalidAnswerError
 */
export type CheckAccess = (access: AccessRequest, context: AccessContext) => MaybePromise<Access>

/**
 * Finds the row that an answer may show beside a refusal, if `authorize` allows `show`: the row that `authorize` was
 * shown, or else the one that `find` returns.
 */
export function findShown (
  checkAccess: CheckAccess,
  id: Id | undefined,
  context: AccessContext,
  find: (target: Target) => MaybePromise<Row | undefined>
): MaybePromise<Row | undefined> {
  return catchError(
    () =>
      andThen(
        checkAccess({ action: 'show', id, isCustom: false }, context),
        ({ target, authorizedRow, hasLooked }) => hasLooked ? authorizedRow : find(target)
      ),
    () => undefined
  )
}

/**
 * Compiles the check before a request reaches the rows. It finds the `scope` of each resource of the path, asks each
 * `authorize` (which must allow `show` of the parents), and checks that the parents exist. Returns `undefined` if
 * nothing restricts access.
 */
export function compileAccessCheck (
  parents: readonly GuardedResource[],
  resource: GuardedResource
): CheckAccess | undefined {
  const parameterChecks = [...parents, resource].flatMap(({ parameterChecks }) => parameterChecks)
  if (parameterChecks.length === 0 && parents.length === 0 && !isGuarded(resource)) return undefined
  return (access, context) => {
    for (const [param, isFit] of parameterChecks) {
      if (!isFit(context.request.params[param] as string)) throw notFound(resource.target.resource, undefined)
    }
    return new AccessCheck(parents, resource, access, context).check()
  }
}

const OF_PARENT: unique symbol = Symbol('fastify-resources.of-parent')

function ofParent (error: Error): Error {
  return Object.assign(error, { [OF_PARENT]: true })
}

/** Returns whether an error says that a parent does not exist, or is hidden. */
export function isOfParent (error: unknown): boolean {
  return error instanceof Error && OF_PARENT in error
}

/** A resource in the path of one request. */
interface Step {
  readonly level: GuardedResource
  readonly parent: Step | undefined
  readonly id: Id | undefined
  scope: Scope
  /** The row, which is read once, when it is first needed. */
  read: { readonly row: MaybePromise<Row | undefined> } | undefined
}

function makeStep (level: GuardedResource, id: Id | undefined, parent: Step | undefined): Step {
  return { level, parent, id, scope: {}, read: undefined }
}

class AccessCheck {
  readonly #access: AccessRequest
  readonly #context: AccessContext
  readonly #parents: readonly Step[]
  readonly #last: Step
  #authorizedRow: Row | undefined
  #hasLooked = false
  readonly #parentRows: Row[] = []

  constructor (
    parents: readonly GuardedResource[],
    resource: GuardedResource,
    access: AccessRequest,
    context: AccessContext
  ) {
    this.#access = access
    this.#context = context
    let parent: Step | undefined
    this.#parents = parents.map((level) => (parent = makeStep(level, this.#parentId(level), parent)))
    this.#last = makeStep(resource, access.id, parent)
  }

  check (): MaybePromise<Access> {
    const steps = [...this.#parents, this.#last]
    const stages = [
      () => forEachInOrder(steps, (step) => this.#resolveScope(step)),
      () => forEachInOrder(steps, (step) => this.#authorize(step)),
      () => forEachInOrder(this.#parents, (step) => this.#checkExists(step)),
      () => this.#checkAbove(this.#parents[0] ?? this.#last)
    ]
    return andThen(forEachInOrder(stages, (stage) => stage()), () => this.#makeAccess())
  }

  #parentId ({ target: { resource }, param, idChecks }: GuardedResource): Id | undefined {
    if (param === undefined) return undefined
    const text = readSpelling(this.#context.request.params[param] as string)
    const id = parseId(resource.idType, text)
    if (id === undefined || !passesChecks(idChecks, id)) throw ofParent(notFound(resource, id ?? text))
    return id
  }

  #resolveScope (step: Step): MaybePromise<void> {
    return andThen(resolveScope(step.level, this.#context.request), (scope) => {
      step.scope = scope
    })
  }

  #authorize (step: Step): MaybePromise<void> {
    const { level, id } = step
    const { resource } = level.target
    const isLast = step === this.#last
    const action = isLast ? this.#access.action : 'show'
    const hasRow = id !== undefined || (resource.singleton && action !== 'create' && action !== 'new')
    const find = (): MaybePromise<Row | undefined> => isLast ? this.#showRow(step) : this.#row(step)
    return authorize(level, this.#context.request, {
      action,
      id,
      row: hasRow ? find : undefined,
      refusedAction: isLast && !this.#access.isCustom ? FORMS_FOR.get(action) : undefined,
      makeHidden: () => isLast ? notFound(resource, id) : ofParent(notFound(resource, id))
    })
  }

  #checkExists (step: Step): MaybePromise<void> {
    return andThen(this.#row(step), (row) => {
      if (row === undefined) throw ofParent(notFound(step.level.target.resource, step.id))
      this.#parentRows.push(row)
    })
  }

  /** Checks the parents of the first row of the path. A shallow row names parents that the path does not. */
  #checkAbove (first: Step): MaybePromise<void> {
    const { level, id } = first
    if (!guardsParent(level.parentLink)) return
    const isLast = first === this.#last
    const makeHidden = (): Error => {
      const error = notFound(level.target.resource, id)
      return isLast ? error : ofParent(error)
    }
    return andThen(isLast ? this.#showRow(first) : this.#row(first), (row) => {
      if (row === undefined) throw makeHidden()
      return checkParents(row, level, makeHidden, this.#context)
    })
  }

  #showRow (step: Step): MaybePromise<Row | undefined> {
    this.#hasLooked = true
    return andThen(this.#row(step), (row) => (this.#authorizedRow = row))
  }

  #row (step: Step): MaybePromise<Row | undefined> {
    const { level: { target: { resource, store } }, id } = step
    const read = (scope: Scope): MaybePromise<Row | undefined> => findRow({ resource, store, scope }, id, this.#context)
    step.read ??= { row: andThen(this.#scopeOf(step), read) }
    return step.read.row
  }

  /** Returns the scope with the reference to the parent's row in it. */
  #scopeOf ({ scope, level: { foreignKey }, parent }: Step): MaybePromise<Scope> {
    if (foreignKey === undefined || parent === undefined) return scope
    const { resource } = parent.level.target
    const { id } = parent
    const within = (value: NonNullable<Scalar>): Scope => {
      // The path names a parent outside the scope.
      if (Object.hasOwn(scope, foreignKey) && scope[foreignKey] !== value) throw ofParent(notFound(resource, id))
      return { ...scope, [foreignKey]: value }
    }
    if (id !== undefined && referencedAttribute(resource) === 'id') return within(id)
    return andThen(this.#row(parent), (row) => {
      if (row === undefined) throw ofParent(notFound(resource, id))
      return within(referenceTo(row, resource))
    })
  }

  #makeAccess (): MaybePromise<Access> {
    const { resource, store } = this.#last.level.target
    return andThen(this.#scopeOf(this.#last), (scope) => ({
      target: { resource, store, scope },
      authorizedRow: this.#authorizedRow,
      hasLooked: this.#hasLooked,
      parents: this.#parentRows
    }))
  }
}

/**
 * Checks the parents of a shallow row. Its path does not name them, but the row names its parent, and the parent's row
 * its own. If a parent is hidden, or a constraint excludes its id, the row is hidden too.
 * @param makeHidden makes the error for a row that is hidden
 */
function checkParents (
  row: Row,
  { parentLink }: GuardedResource,
  makeHidden: () => Error,
  context: AccessContext
): MaybePromise<void> {
  if (!guardsParent(parentLink)) return
  const { level, foreignKey, idChecks } = parentLink
  const { resource, store } = level.target
  const id = row.attributes[foreignKey]
  // A row without a parent is hidden, because nobody owns it.
  if (!isId(id) || !passesChecks(idChecks, id)) throw makeHidden()
  if (!isGuarded(level)) return
  return andThen(resolveScope(level, context.request), (scope) => {
    // A nested singleton is read by its id too, because each parent has one.
    const read = lazy((): MaybePromise<Row | undefined> => store.get(id, scope, context))
    const question = { action: 'show', id: resource.singleton ? undefined : id, row: read, makeHidden }
    return andThen(authorize(level, context.request, question), () =>
      andThen(read(), (parent) => {
        if (parent?.id !== id) throw makeHidden()
        return checkParents(parent, level, makeHidden, context)
      })
    )
  })
}

/**
 * Finds the parent of a shallow row, as far as its `scope` has it and its `authorize` allows `show`.
 * @throws ForbiddenError, NotFoundError
 */
export async function findParent (
  row: Row,
  { level, foreignKey }: ParentLink,
  context: AccessContext
): Promise<Row | undefined> {
  const { resource, store } = level.target
  const id = row.attributes[foreignKey]
  if (!isId(id)) return undefined
  const scope = await resolveScope(level, context.request)
  const read = lazy((): MaybePromise<Row | undefined> => {
    return store.get(id, scope, context)
  })
  await authorize(level, context.request, {
    action: 'show',
    id: resource.singleton ? undefined : id,
    row: read,
    makeHidden: notFound.bind(undefined, resource, id)
  })
  return read()
}

/**
 * Finds the path parameters of the list that a row is in, as far as the row and its parents name them.
 * @param link the resource that it is nested in
 */
export function findParameters (
  row: Row,
  { level, foreignKey, param }: ParentLink,
  known: Parameters,
  context: Context
): MaybePromise<Parameters> {
  const id = row.attributes[foreignKey]
  if (!isId(id)) return known
  // A singleton has no parameter, but its parents may have one.
  const parameters = param === undefined ? known : { ...known, [param]: spellId(id) }
  const { parentLink } = level
  if (parentLink === undefined) return parameters
  return andThen(level.target.store.get(id, {}, context), (parent) =>
    parent === undefined ? parameters : findParameters(parent, parentLink, parameters, context)
  )
}
