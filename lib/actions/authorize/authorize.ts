import type { FastifyRequest } from 'fastify'
import { NothingHereError } from '../../errors.js'
import type { Parameters } from '../../resource/path-pattern.js'
import { parseId } from '../../resource/resource.js'
import type { Id, Scope, Stored } from '../../resource/row.js'
import type { Context } from '../../stores/store.js'
import { inTurn, type MaybePromise, recover, settle } from '../../util/maybe-promise.js'
import { findRow } from '../find-row.js'
import { notFound, type Subject } from '../target.js'
import { authorize, FORMS_FOR, isFitFor, isGuarded, type Level, mustClimb, narrow } from './level.js'
import { climb } from './parents.js'

/** What a request is about to do to what it is about. */
export interface Visit {
  readonly action: string
  readonly id: Id | undefined
  /** Whether the action is one of the app's own, whatever that is called. */
  readonly isOwn: boolean
}

/** What a request has been let in to. */
export interface Entered {
  readonly subject: Subject
  /** The row that `authorize` has looked at: nothing else is to be written over. */
  readonly seen: Stored | undefined
  /** Whether `authorize` has looked for the row, also if it found none. */
  readonly hasLooked: boolean
}

/** @throws NotFoundError, ForbiddenError, NothingHereError */
export type Enter = (request: FastifyRequest, visit: Visit, context: Context) => MaybePromise<Entered>

/**
 * Finds the row that an answer may show beside a refusal: `authorize` must allow `show`. Gives the row that `authorize`
 * has looked at, or else what `find` gives; undefined if it may not be shown.
 */
export function findShown (enter: Enter, request: FastifyRequest, id: Id | undefined, context: Context, find: (subject: Subject) => MaybePromise<Stored | undefined>): MaybePromise<Stored | undefined> {
  const visit = { action: 'show', id, isOwn: false }
  return recover(() => settle(enter(request, visit, context), ({ subject, seen, hasLooked }) => hasLooked ? seen : find(subject)), () => undefined)
}

/**
 * Whatever stands between a request and the rows, in this order: what it may see at all (`scope`), whether it may do what
 * it is about to (`authorize`, also of the parents, of which it must be allowed to see the row), whether the parents are
 * there. Undefined where there is nothing of it.
 */
export function compileEntry (levels: readonly Level[]): Enter | undefined {
  const around = levels.flatMap(({ around }) => around)
  const isOpen = around.length === 0 && levels.length === 1 && !levels.some(isGuarded)
  if (isOpen) return undefined
  return (request, visit, context) => {
    for (const [param, isFit] of around) {
      if (!isFit((request.params as Parameters)[param] as string)) throw new NothingHereError((levels.at(-1) as Level).subject.resource.singular)
    }
    return new Walk(levels, request, visit, context).enter()
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

class Walk {
  readonly #levels: readonly Level[]
  readonly #request: FastifyRequest
  readonly #visit: Visit
  readonly #context: Context
  readonly #ids: ReadonlyArray<Id | undefined>
  readonly #scopes: Scope[] = []
  /** What has been read already, or is being read. */
  readonly #rows: Array<{ readonly row: MaybePromise<Stored | undefined> }> = []
  #seen: Stored | undefined
  #hasLooked = false

  constructor (levels: readonly Level[], request: FastifyRequest, visit: Visit, context: Context) {
    this.#levels = levels
    this.#request = request
    this.#visit = visit
    this.#context = context
    this.#ids = levels.map((level, index) => index === levels.length - 1 ? visit.id : this.#parentId(level))
  }

  enter (): MaybePromise<Entered> {
    const parents = this.#levels.slice(0, -1)
    const narrow = inTurn(this.#levels, (level, index) => this.#narrow(level, index))
    const authorize = (): MaybePromise<void> => inTurn(this.#levels, (level, index) => this.#authorize(level, index))
    const meetParents = (): MaybePromise<void> => inTurn(parents, (level, index) => this.#meet(level, index))
    return settle(settle(settle(settle(narrow, authorize), meetParents), () => this.#climb()), () => this.#arrive())
  }

  #parentId ({ subject: { resource }, param, fits }: Level): Id | undefined {
    if (param === undefined) return undefined
    const text = (this.#request.params as Parameters)[param] as string
    const id = parseId(resource.idType, text)
    if (id === undefined || !isFitFor(fits, id)) throw ofParent(notFound(resource, id ?? text))
    return id
  }

  #narrow (level: Level, index: number): MaybePromise<void> {
    return settle(narrow(level, this.#request), (scope) => { this.#scopes[index] = scope })
  }

  #authorize (level: Level, index: number): MaybePromise<void> {
    const { resource } = level.subject
    const isLast = index === this.#levels.length - 1
    const id = this.#ids[index]
    const action = isLast ? this.#visit.action : 'show'
    const hasRow = id !== undefined || (resource.singleton && action !== 'create' && action !== 'new')
    return authorize(level, this.#request, action, id, hasRow ? () => isLast ? this.#see(index) : this.#row(index) : undefined, isLast ? undefined : ofParent, isLast && !this.#visit.isOwn ? FORMS_FOR.get(action) : undefined)
  }

  #meet ({ subject: { resource } }: Level, index: number): MaybePromise<void> {
    return settle(this.#row(index), (row) => {
      if (row === undefined) throw ofParent(resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, this.#ids[index]))
    })
  }

  /** From the first row that the path tells to those above it, if that is shallow. */
  #climb (): MaybePromise<void> {
    const [first] = this.#levels as [Level, ...Level[]]
    if (!mustClimb(first.over)) return
    const isAlone = this.#levels.length === 1
    const lost = (): Error => {
      const error = notFound(first.subject.resource, this.#ids[0])
      return isAlone ? error : ofParent(error)
    }
    return settle(isAlone ? this.#see(0) : this.#row(0), (row) => {
      if (row === undefined) throw lost()
      return climb(row, first, lost, this.#request, this.#context)
    })
  }

  #see (index: number): MaybePromise<Stored | undefined> {
    this.#hasLooked = true
    return settle(this.#row(index), (row) => {
      this.#seen = row
      return row
    })
  }

  /** The row of a level, read once. */
  #row (index: number): MaybePromise<Stored | undefined> {
    const { subject: { resource, store } } = this.#levels[index] as Level
    const read = (scope: Scope): MaybePromise<Stored | undefined> => findRow({ resource, store, scope }, this.#ids[index], this.#context)
    this.#rows[index] ??= { row: settle(this.#scopeOf(index), read) }
    return (this.#rows[index] as { row: MaybePromise<Stored | undefined> }).row
  }

  /** With the id of the parent's row in it. */
  #scopeOf (index: number): MaybePromise<Scope> {
    const scope = this.#scopes[index] as Scope
    const { foreignKey } = this.#levels[index] as Level
    if (foreignKey === undefined) return scope
    const id = this.#ids[index - 1]
    const { resource } = (this.#levels[index - 1] as Level).subject
    const within = (id: Id): Scope => {
      // The path asks for another parent than those whose rows the request may see.
      if (Object.hasOwn(scope, foreignKey) && scope[foreignKey] !== id) throw ofParent(resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, id))
      return { ...scope, [foreignKey]: id }
    }
    if (id !== undefined) return within(id)
    return settle(this.#row(index - 1), (row) => {
      if (row === undefined) throw ofParent(new NothingHereError(resource.singular))
      return within(row.id)
    })
  }

  #arrive (): MaybePromise<Entered> {
    const last = this.#levels.length - 1
    const { resource, store } = (this.#levels[last] as Level).subject
    return settle(this.#scopeOf(last), (scope) => ({ subject: { resource, store, scope }, seen: this.#seen, hasLooked: this.#hasLooked }))
  }
}
