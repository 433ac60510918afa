import { parseId, referencedAttribute, referenceTo } from '../../resource/resource.js'
import { type Parameters, readSpelling, spellId } from '../../resource/path-pattern.js'
import { type Id, isId, type Row, type Scope } from '../../resource/row.js'
import type { Scalar } from '../../schema/types.js'
import { mayBeForgotten, type MaybePromise } from '../../util/maybe-promise.js'
import { findRow, notFound, ofId } from '../../modes.js'
import type { Target } from '../list.js'
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
  /** The number of rows that the request writes, if it is a request with many rows. */
  readonly rows?: number | undefined
  /** Whether nothing will be written. */
  readonly dryRun?: true | undefined
  /** Whether a row is only looked up. `authorize` is asked later, when its id is known. @default false */
  readonly isLookup?: boolean
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
export type CheckAccess = (access: AccessRequest, context: AccessContext) => Promise<Access>

/**
 * Finds the row that an answer may show beside a refusal, if `authorize` allows `show`: the row that `authorize` was
 * shown, or else the one that `find` returns.
 */
export async function findShown (
  checkAccess: CheckAccess,
  id: Id | undefined,
  context: AccessContext,
  find: (target: Target) => MaybePromise<Row | undefined>
): Promise<Row | undefined> {
  try {
    const { target, authorizedRow, hasLooked } =
      await checkAccess({ action: 'show', id, isCustom: false }, context)
    return hasLooked ? authorizedRow : await find(target)
  } catch {
    return undefined
  }
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
  return async (access, context) => {
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
  row: Promise<Row | undefined> | undefined
}

function makeStep (level: GuardedResource, id: Id | undefined, parent: Step | undefined): Step {
  return { level, parent, id, scope: {}, row: undefined }
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

  async check (): Promise<Access> {
    const steps = [...this.#parents, this.#last]
    for (const step of steps) step.scope = await resolveScope(step.level, this.#context.request)
    const { isLookup = false } = this.#access
    for (const step of isLookup ? this.#parents : steps) await this.#authorize(step)
    for (const step of this.#parents) {
      const row = await this.#row(step)
      if (row === undefined) throw ofParent(notFound(step.level.target.resource, step.id))
      this.#parentRows.push(row)
    }
    const first = this.#parents[0] ?? this.#last
    if (!isLookup || first !== this.#last) await this.#checkAbove(first)
    const { resource, store } = this.#last.level.target
    return {
      target: { resource, store, scope: await this.#scopeOf(this.#last) },
      authorizedRow: this.#authorizedRow,
      hasLooked: this.#hasLooked,
      parents: this.#parentRows
    }
  }

  #parentId ({ target: { resource }, param, idChecks }: GuardedResource): Id | undefined {
    if (param === undefined) return undefined
    const text = readSpelling(this.#context.request.params[param] as string)
    const id = parseId(resource.idType, text)
    if (id === undefined || !passesChecks(idChecks, id)) throw ofParent(notFound(resource, id ?? text))
    return id
  }

  async #authorize (step: Step): Promise<void> {
    const { level, id } = step
    const { resource } = level.target
    const isLast = step === this.#last
    const action = isLast ? this.#access.action : 'show'
    const hasRow = id !== undefined || (resource.singleton && action !== 'create' && action !== 'new')
    const find = (): Promise<Row | undefined> => mayBeForgotten(isLast ? this.#showRow(step) : this.#row(step))
    await authorize(level, this.#context.request, {
      action,
      id,
      row: hasRow ? find : undefined,
      rows: isLast ? this.#access.rows : undefined,
      dryRun: isLast ? this.#access.dryRun : undefined,
      refusedAction: isLast && !this.#access.isCustom ? FORMS_FOR.get(action) : undefined,
      makeHidden: () => isLast ? notFound(resource, id) : ofParent(notFound(resource, id))
    })
  }

  /** Checks the parents of the first row of the path. A shallow row names parents that the path does not. */
  async #checkAbove (first: Step): Promise<void> {
    const { level, id } = first
    if (!guardsParent(level.parentLink)) return
    const isLast = first === this.#last
    const makeHidden = (): Error => {
      const error = notFound(level.target.resource, id)
      return isLast ? error : ofParent(error)
    }
    const row = await (isLast ? this.#showRow(first) : this.#row(first))
    if (row === undefined) throw makeHidden()
    await checkParents(row, level, makeHidden, this.#context)
  }

  async #showRow (step: Step): Promise<Row | undefined> {
    this.#hasLooked = true
    return (this.#authorizedRow = await this.#row(step))
  }

  async #row (step: Step): Promise<Row | undefined> {
    const { level: { target: { resource, store } }, id } = step
    const read = async (): Promise<Row | undefined> =>
      findRow({ resource, store, scope: await this.#scopeOf(step) }, id, this.#context)
    return (step.row ??= read())
  }

  /** Returns the scope with the reference to the parent's row in it. */
  async #scopeOf ({ scope, level: { foreignKey }, parent }: Step): Promise<Scope> {
    if (foreignKey === undefined || parent === undefined) return scope
    const { resource } = parent.level.target
    const { id } = parent
    const makeHidden = (): Error => ofParent(notFound(resource, id))
    let value: NonNullable<Scalar> | undefined = id
    if (id === undefined || referencedAttribute(resource) !== 'id') {
      const row = await this.#row(parent)
      if (row === undefined) throw makeHidden()
      value = referenceTo(row, resource)
    }
    // The path names a parent outside the scope.
    if (Object.hasOwn(scope, foreignKey) && scope[foreignKey] !== value) throw makeHidden()
    return { ...scope, [foreignKey]: value as NonNullable<Scalar> }
  }
}

/**
 * Checks the parents of a shallow row. Its path does not name them, but the row names its parent, and the parent's row
 * its own. If a parent is hidden, or a constraint excludes its id, the row is hidden too.
 * @param makeHidden makes the error for a row that is hidden
 */
async function checkParents (
  row: Row,
  { parentLink }: GuardedResource,
  makeHidden: () => Error,
  context: AccessContext
): Promise<void> {
  if (!guardsParent(parentLink)) return
  const { level, foreignKey, idChecks } = parentLink
  // A row without a parent is hidden, because nobody owns it.
  const id = row.attributes[foreignKey]
  if (!isId(id) || !passesChecks(idChecks, id)) throw makeHidden()
  if (!isGuarded(level)) return
  const parent = await readParent(id, level, makeHidden, context)
  if (parent?.id !== id) throw makeHidden()
  await checkParents(parent, level, makeHidden, context)
}

/** Reads a parent as far as its `scope` has it and its `authorize` allows `show`. */
async function readParent (
  id: Id,
  level: GuardedResource,
  makeHidden: () => Error,
  context: AccessContext
): Promise<Row | undefined> {
  const { resource, store } = level.target
  const scope = await resolveScope(level, context.request)
  // A nested singleton is read by its id too, because each parent has one.
  const read = lazy(async (): Promise<Row | undefined> => store.get(id, scope, context))
  await authorize(level, context.request, {
    action: 'show',
    id: ofId(resource, id),
    row: () => mayBeForgotten(read()),
    makeHidden
  })
  return read()
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
  const id = row.attributes[foreignKey]
  return isId(id) ? readParent(id, level, () => notFound(level.target.resource, id), context) : undefined
}

/**
 * Finds the path parameters of the list that a row is in, as far as the row and its parents name them.
 * @param link the resource that it is nested in
 */
export async function findParameters (
  row: Row,
  { level, foreignKey, param }: ParentLink,
  known: Parameters,
  context: Context
): Promise<Parameters> {
  const id = row.attributes[foreignKey]
  if (!isId(id)) return known
  // A singleton has no parameter, but its parents may have one.
  const parameters = param === undefined ? known : { ...known, [param]: spellId(id) }
  const { parentLink } = level
  const parent = parentLink && await level.target.store.get(id, {}, context)
  return parentLink && parent ? findParameters(parent, parentLink, parameters, context) : parameters
}
