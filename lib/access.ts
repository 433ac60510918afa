import type { FastifyRequest } from 'fastify'
import { notFound, type Subject } from './actions/action.js'
import { findRow } from './actions/only.js'
import type { IsFit } from './constraints.js'
import { ForbiddenError, InvalidAnswerError, NothingHereError } from './errors.js'
import { once } from './once.js'
import type { Parameters } from './path-pattern.js'
import { isXmlName } from './representable.js'
import { nameOf, parseId } from './resource.js'
import type { Attempt, Authorize, FindScope } from './routing/options.js'
import { inTurn, recover, settle } from './settle.js'
import { isSchema } from './shape.js'
import type { Context, Id, MaybePromise, Scope, Stored } from './stores/store.js'

/** A resource on the way to what a request is about, the outermost first. */
export interface Level {
  readonly subject: Subject
  readonly authorize: readonly Authorize[]
  readonly scope: readonly FindScope[]
  /** Of a parent: the parameter that has its id; undefined of a singleton. */
  readonly param: string | undefined
  /** What its id must be like. */
  readonly fits: readonly IsFit[]
  /** Constraints on other parameters of its path. */
  readonly around: ReadonlyArray<readonly [param: string, isFit: IsFit]>
  /** The attribute that has the id of the level before it; undefined of the first. */
  readonly foreignKey: string | undefined
  /** The resource that this one is nested in, whether the path tells it or not. */
  readonly over: Over | undefined
}

/** A resource above another one. */
export interface Over {
  readonly level: Level
  /** The attribute that has its id. */
  readonly foreignKey: string
  readonly param: string | undefined
  /** What its id must be like, by its own constraints and by those of what is nested in it. */
  readonly fits: readonly IsFit[]
}

/** The same with its constraints on the ids of those above it: where no path tells these, the rows do. */
export function constrain (level: Level, around: Level['around']): Level {
  const { over } = level
  if (over === undefined) return level
  const fits = around.flatMap(([name, isFit]) => name === over.param ? [isFit] : [])
  return { ...level, over: { ...over, fits: [...over.fits, ...fits], level: constrain(over.level, around) } }
}

export function isFitFor (fits: readonly IsFit[], id: Id): boolean {
  return fits.every((isFit) => isFit(String(id)))
}

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

/** What a request may see at all of a level. */
function narrow ({ scope, subject: { resource } }: Level, request: FastifyRequest): MaybePromise<Scope> {
  const narrowed = new Map<string, Scope[string]>()
  const refuse = (what: string): never => { throw new InvalidAnswerError('scope', `of ${resource.plural} ${what}`) }
  const step = (find: FindScope): MaybePromise<void> => settle(find(request), (found: unknown) => {
    if (!isSchema(found) || !PLAIN.includes(Object.getPrototypeOf(found))) return refuse(`must give an object of attribute values, not ${String(found)}`)
    for (const [name, value] of Object.entries(found)) {
      // A row would have two.
      if (name === 'id') return refuse('gives "id", which belongs to the resource and is no attribute')
      if (!isXmlName(name)) return refuse(`gives "${name}", which no attribute can be called`)
      // A store would find nothing by it, or everything.
      if (!isScalar(value)) return refuse(`gives "${name}", which must be a text, a number, true, false or null`)
      // Nothing could satisfy both, and what is guarded by one must not be let out by the other.
      if (narrowed.has(name) && narrowed.get(name) !== value) return refuse(`gives another "${name}" than the scope around it`)
      narrowed.set(name, value)
    }
  })
  return settle(inTurn(scope, step), () => Object.fromEntries(narrowed))
}

const PLAIN: readonly unknown[] = [Object.prototype, null]

function isScalar (value: unknown): value is Scope[string] {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/**
 * Whether a request may do that: whoever is asked must let it.
 * @param what what it is told that it may not do
 */
function authorize ({ authorize, subject: { resource } }: Level, request: FastifyRequest, action: string, id: Id | undefined, row: Attempt['row'] | undefined, mark = (error: Error): Error => error, what = action): MaybePromise<void> {
  const attempt: Attempt = { action, resource: nameOf(resource), ...(id !== undefined && { id }), ...(row !== undefined && { row }) }
  return inTurn(authorize, (isAllowed) => settle(isAllowed(request, attempt), (answer) => {
    if (answer === true) return
    if (answer === 'hide') throw mark(id === undefined ? new NothingHereError(resource.singular) : notFound(resource, id))
    throw new ForbiddenError(what, attempt.resource)
  }))
}

/** What the forms are for. */
const FORMS_FOR: ReadonlyMap<string, string> = new Map([['new', 'create'], ['edit', 'update']])

function isGuarded ({ authorize, scope, over }: Level): boolean {
  return authorize.length > 0 || scope.length > 0 || mustClimb(over)
}

function mustClimb (over: Over | undefined): over is Over {
  return over !== undefined && (over.fits.length > 0 || isGuarded(over.level))
}

/**
 * Of a shallow row no path tells the parent: the row does, and the parent's row its own in turn. Where these are guarded,
 * the row is there for those alone who may see them; where there are constraints on their ids, these hold.
 * @param lost what is thrown where they are not there
 */
function climb (row: Stored, { over }: Level, lost: () => Error, request: FastifyRequest, context: Context): MaybePromise<void> {
  if (!mustClimb(over)) return
  const { level, foreignKey, fits } = over
  const { resource, store } = level.subject
  const id = row.attributes[foreignKey]
  // A row that does not tell is nobody's.
  if ((typeof id !== 'string' && typeof id !== 'number') || !isFitFor(fits, id)) throw lost()
  if (!isGuarded(level)) return
  return settle(narrow(level, request), (scope) => {
    // Also of a singleton, of which there are many where it is nested itself.
    const read = once((): MaybePromise<Stored | undefined> => store.get(id, scope, context))
    const subjectId = resource.singleton ? undefined : id
    return settle(authorize(level, request, 'show', subjectId, read, lost), () => settle(read(), (parent) => {
      if (parent?.id !== id) throw lost()
      return climb(parent, level, lost, request, context)
    }))
  })
}

/**
 * The parameters of the paths that a row is listed under, as far as it and the rows that it is nested in tell them.
 * @param over what it is nested in
 */
export function findParameters (row: Stored, { level, foreignKey, param }: Over, known: Parameters, context: Context): MaybePromise<Parameters> {
  const id = row.attributes[foreignKey]
  if (typeof id !== 'string' && typeof id !== 'number') return known
  // A singleton has no parameter, but what it is nested in may.
  const parameters = param === undefined ? known : { ...known, [param]: String(id) }
  const { over } = level
  if (over === undefined) return parameters
  return settle(level.subject.store.get(id, {}, context), (parent) => parent === undefined ? parameters : findParameters(parent, over, parameters, context))
}
