import type { FastifyRequest } from 'fastify'
import { InvalidPathError } from '../errors.js'
import type { Scalar } from '../schema/types.js'
import { show } from '../util/check-option.js'
import { didYouMean } from '../util/words.js'
import { isObject, isStructure } from '../util/own-property.js'
import type { CamelCase } from '../resource/inflection.js'
import { type PathPattern, spellId } from '../resource/path-pattern.js'
import type { Id } from '../resource/row.js'

/** The key under which a map has its names, for the compiler alone. */
export declare const HELPERS: unique symbol

/** The options of a path helper, which make the end of the path. */
export interface PathOptions<Q = PathQuery> {
  /** The suffix: `'xml'` for `/posts.xml`. @default none */
  readonly format?: string
  /**
   * The query parameters: `{ rating: { gte: 3 }, sort: '-rating' }`. Null means `[null]=true`. Undefined ones are left
   * out.
   * @default none
   */
  readonly query?: Q
}

/** The query parameters of any path. */
export type PathQuery = Readonly<Record<string, Scalar | undefined | PathOperators<string | number | boolean>>>

/** The operators of a filter for values of the type `V`: `{ gte: 3, lt: 5 }` for `rating[gte]=3&rating[lt]=5`. */
export type PathOperators<V> = Ranges<V> & Texts & Equalities<V>

type Ranges<V> = { readonly [K in 'gte' | 'gt' | 'lte' | 'lt']?: V | undefined }
type Texts = { readonly [K in 'contains' | 'starts']?: string | undefined }
type Equalities<V> =
  & { readonly [K in 'not']?: V | undefined }
  & { readonly [K in 'in']?: readonly V[] | undefined }
  & { readonly [K in 'null']?: boolean | undefined }

const OPERATORS: ReadonlyArray<keyof PathOperators<unknown>> =
  ['gte', 'gt', 'lte', 'lt', 'not', 'in', 'null', 'contains', 'starts']

/** The parameters of every list. */
interface CommonParameters {
  readonly format?: string | undefined
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly offset?: number | undefined
  readonly sort?: string | undefined
  readonly blank?: 'any' | undefined
  readonly q?: string | undefined
  readonly count?: boolean | 'estimate' | undefined
  readonly only?: string | undefined
  readonly sum?: string | undefined
  readonly include?: string | undefined
  readonly id?: Id | (Ranges<Id> & Pick<Equalities<Id>, 'not' | 'in'>) | undefined
}

/**
 * The query parameters of a list of rows with the attributes `A`. An attribute with the name of a parameter takes only
 * operators. The compiler does not know formats, so it allows ranges for all strings.
 */
export type ListParameters<A> = string extends keyof A ? PathQuery : {
  readonly [K in keyof A as K extends keyof CommonParameters ? never : K]?: OperatorsFor<A[K], A[K] | null> | undefined
} & {
  readonly [K in keyof CommonParameters]: CommonParameters[K] | (K extends keyof A ? OperatorsFor<A[K], never> : never)
}

/** The operators of values of the type `T`, or one of the values `Plain`. Only simple types have a filter. */
type OperatorsFor<T, Plain, V = NonNullable<T>> =
  unknown extends T ? PathQuery[string]
    : [V] extends [string] ? Plain | PathOperators<V>
        : [V] extends [number] ? Plain | (Ranges<V> & Equalities<V>)
            : [V] extends [boolean] ? Plain | Equalities<V>
                : never

/** A path parameter: a text, an id, or a row with its id. */
export type PathParameter = Id | { readonly id: Id }

/**
 * Returns a path with its parameters filled in. Options may follow the parameters.
 * @throws InvalidPathError if a parameter is missing or surplus
 */
export type PathHelper = (...parameters: ReadonlyArray<PathParameter | PathOptions>) => string

/** Makes absolute URLs with the protocol and host of the request (RFC 9110 §7.2). */
export interface UrlHelper<Name extends string = string> {
  /** Returns the URL of a named path. The parameters are those of the helper of that name. */
  url (request: FastifyRequest, name: Name, ...parameters: ReadonlyArray<PathParameter | PathOptions>): string
}

/** A path helper with the camel-case form of a name. */
export type Named<Name extends string, P extends readonly unknown[], Q = PathQuery> = {
  readonly [K in CamelCase<Name>]: (...parameters: [...P, options?: PathOptions<Q>]) => string
}

/** Path helpers by name. */
export interface NamedHelpers {
  readonly [name: string]: PathHelper
}

/**
 * The names of an app, which the app adds itself:
 * `declare module 'fastify-resources' { interface Register { routes: typeof routes } }`.
 */
export interface Register {}

/** The paths of an app: those in `Register`, or else any name. */
export type Paths = Register extends { readonly routes: infer R } ? PathsOf<R> : UrlHelper & NamedHelpers

/** The paths of a map, or of an intersection of maps. */
export type PathsOf<R> = R extends { readonly [HELPERS]?: infer N }
  ? UrlHelper<keyof NonNullable<N> & string> & NonNullable<N>
  : UrlHelper & NamedHelpers

export interface NamedPath {
  readonly name: string
  readonly pattern: PathPattern
  /** Whether it ends with the id of a row. A suffix may follow the id. */
  readonly endsWithId: boolean
  /** The suffixes that it may have. */
  readonly formats: readonly string[]
  /** The declaration, in words. */
  readonly by: string
}

/** The names of a Fastify instance. It also finds those of the instances around it. */
export class PathNames {
  readonly #own = new Map<string, readonly NamedPath[]>()
  readonly #findOuter: () => PathNames | undefined
  readonly paths: Paths

  /** @param findOuter is called late, because the instance around may get its names later */
  constructor (findOuter: () => PathNames | undefined) {
    this.#findOuter = findOuter
    this.paths = makePaths(this)
  }

  add (path: NamedPath): void {
    this.#own.set(path.name, [...this.#own.get(path.name) ?? [], path])
  }

  names (): readonly string[] {
    return [...new Set([...this.#own.keys(), ...this.#findOuter()?.names() ?? []])]
  }

  /**
   * Finds a path, in the nearest instance first.
   * @throws InvalidPathError if there is none, or several
   */
  find (name: string): NamedPath {
    const [first, other] = this.#own.get(name) ?? []
    if (first === undefined) {
      const outer = this.#findOuter()
      if (outer?.names().includes(name) === true) return outer.find(name)
      throw new InvalidPathError(`there is no "${name}"${didYouMean(name, this.names())}`)
    }
    if (other !== undefined) {
      throw new InvalidPathError(
        `"${name}" is ${first.pattern.text} (${first.by}) and ${other.pattern.text} (${other.by}); give one of them ` +
          'another name by the option "as"'
      )
    }
    return first
  }
}

/** The members that are read when an object is awaited, printed or compared. */
const ASKED: ReadonlySet<string> = new Set([
  'then', 'toJSON', 'nodeType', 'tagName', 'asymmetricMatch', 'constructor', 'prototype', '__proto__', 'toString',
  'valueOf', 'hasOwnProperty', 'inspect', 'length', '$$typeof'
])

function makePaths (names: PathNames): Paths {
  const url: UrlHelper['url'] = (request, name, ...parameters) => {
    if (!isObject(request)) {
      throw new InvalidPathError(`"url" needs the request first, and then the name of a path; not ${show(request)}`)
    }
    return `${request.protocol}://${request.host}${helperOf(names.find(name))(...parameters)}`
  }
  // Awaiting the paths would call a helper of the name `then`.
  const isHelper = (name: string | symbol): name is string =>
    typeof name === 'string' && name !== 'then' && names.names().includes(name)
  return new Proxy<Paths>(Object.create(null), {
    get: (_target, name) => {
      if (name === Symbol.toPrimitive) return () => '[object Paths]'
      if (typeof name === 'symbol' || (ASKED.has(name) && !isHelper(name))) return undefined
      return name === 'url' ? url : helperOf(names.find(name))
    },
    has: (_target, name) => name === 'url' || isHelper(name),
    ownKeys: () => [...names.names()],
    getOwnPropertyDescriptor: (_target, name) =>
      isHelper(name) ? { enumerable: true, configurable: true, value: helperOf(names.find(name)) } : undefined
  })
}

/** Throws `InvalidPathError` about the path of this name. */
type RefuseName = (reason: string) => never

function helperOf ({ name, pattern, endsWithId, formats }: NamedPath): PathHelper {
  const { names } = pattern
  const refuse: RefuseName = (reason) => { throw new InvalidPathError(`"${name}" ${reason}`) }
  return (...all) => {
    // If the last argument is undefined, there are no options.
    const given = all.length > names.length && all.at(-1) === undefined ? all.slice(0, -1) : all
    const last = given.at(-1)
    const options = isOptions(last) ? last : undefined
    const parameters = options === undefined ? given : given.slice(0, -1)
    const { format, query = {}, ...unknown } = options ?? {}
    const [other] = Object.keys(unknown)
    if (other !== undefined) refuse(`has no option "${other}"${didYouMean(other, ['format', 'query'])}`)
    const wanted = names.length === 0 ? 'none' : names.join(', ')
    if (parameters.length > names.length) refuse(`takes ${wanted}, but was given ${parameters.length} parameters`)
    const filled = names.map((parameter, index, { length }) => {
      const text = textOf(parameters[index], parameter, refuse)
      if (text === '') refuse(`needs ${wanted}: "${parameter}" is missing`)
      return [parameter, spellId(text, endsWithId && index === length - 1 ? formats : [])]
    })
    if (format !== undefined && !formats.includes(format)) {
      refuse(`has no format "${format}"${didYouMean(format, formats)}`)
    }
    if (!isObject(query)) refuse(`needs an object as "query", not ${show(query)}`)
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([key, value]) => writeParameter(key, value, refuse))
    ).toString()
    const suffix = format === undefined ? '' : `.${format}`
    return pattern.fill(Object.fromEntries(filled)) + suffix + (search === '' ? '' : `?${search}`)
  }
}

/** Returns the parameters of one member of a query: one for each operator. */
function writeParameter (name: string, value: unknown, refuse: RefuseName): Array<[name: string, text: string]> {
  if (value === undefined) return []
  if (value === null) return [[`${name}[null]`, 'true']]
  if (!isStructure(value)) return [[name, String(value)]]
  if (!isObject(value)) {
    return refuse(`needs a value or an object of operators for "${name}", such as { in: ['a', 'b'] }`)
  }
  return Object.entries(value).flatMap(([operator, operand]): Array<[string, string]> => {
    if (!OPERATORS.some((known) => known === operator)) {
      refuse(`has no operator "${operator}" for "${name}"${didYouMean(operator, OPERATORS)}`)
    }
    const parameter = `${name}[${operator}]`
    return operand === undefined ? [] : [[parameter, writeOperand(parameter, operand, operator === 'in', refuse)]]
  })
}

function writeOperand (parameter: string, operand: unknown, isList: boolean, refuse: RefuseName): string {
  const values: readonly unknown[] = isList && Array.isArray(operand) ? operand : [operand]
  const isValid = Array.isArray(operand) === isList && values.length > 0 &&
    values.every((value) => ['string', 'number', 'boolean'].includes(typeof value))
  if (!isValid) {
    const wanted = isList ? 'a list of at least one text, number or boolean' : 'a text, a number or a boolean'
    refuse(`needs ${wanted} for "${parameter}"`)
  }
  return isList ? values.map((value) => String(value).replace(/[\\,]/g, '\\$&')).join(',') : String(operand)
}

function isOptions (value: unknown): value is PathOptions {
  return isStructure(value) && !Object.hasOwn(value, 'id')
}

/** Returns the text of a parameter, which is empty if it is missing. */
function textOf (given: unknown, parameter: string, refuse: RefuseName): string {
  const value: unknown = isStructure(given) && 'id' in given ? given.id : given
  const refuseValue = (reason: string): never => refuse(`cannot have ${show(value)} for "${parameter}": ${reason}`)
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string' && typeof value !== 'number') return refuseValue('an id is a text or a number')
  if (!String(value).isWellFormed() || (typeof value === 'number' && !Number.isFinite(value))) {
    refuseValue('no path can carry it')
  }
  if (value === '.' || value === '..') {
    refuse(`cannot have "${value}" for "${parameter}": it would mean another path`)
  }
  return String(value)
}
