import type { FastifyRequest } from 'fastify'
import { InvalidPathError } from '../errors.js'
import { show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isObject } from '../util/own-property.js'
import type { PathPattern } from './path-pattern.js'
import { memberPath } from './row-path.js'
import type { Id } from './row.js'

/** The names that a map has declared, for the compiler. */
export declare const HELPERS: unique symbol

/** What a path is to end with. */
export interface PathOptions {
  /** The suffix: `'xml'` for `/posts.xml`. @default none */
  readonly format?: string
  /** Parameters; those that are undefined are left out. @default none */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
}

/** What a parameter of a path may be given as: the text itself, an id, or a row, which stands for its id. */
export type PathParameter = Id | { readonly id: Id }

/**
 * From the parameters of a path, in their order, to the path; options may follow.
 * @throws InvalidPathError where one is missing, or there are too many
 */
export type PathHelper = (...parameters: ReadonlyArray<PathParameter | PathOptions>) => string

/** Makes absolute URLs, by the request's own protocol and host (RFC 9110 §7.2). */
export interface UrlHelper<Name extends string = string> {
  /** The URL of a path by its name, with its parameters as its helper takes them. */
  url (request: FastifyRequest, name: Name, ...parameters: ReadonlyArray<PathParameter | PathOptions>): string
}

/** Helpers by the names of their paths. */
export interface NamedHelpers {
  readonly [name: string]: PathHelper
}

/**
 * Where an app says which names there are: `declare module 'fastify-resources' { interface Register { routes: typeof
 * routes } }`.
 */
// An app adds to it by declaration merging.
export interface Register {}

/** The paths of an app: those that it has registered for the compiler, or else any. */
export type Paths = Register extends { readonly routes: infer R } ? PathsOf<R> : UrlHelper & NamedHelpers

/** The paths that have been drawn; of several, an intersection of them. */
export type PathsOf<R> = R extends { readonly [HELPERS]?: infer N }
  ? UrlHelper<keyof NonNullable<N> & string> & NonNullable<N>
  : UrlHelper & NamedHelpers

/** A path that has a name. */
export interface NamedPath {
  readonly name: string
  readonly pattern: PathPattern
  /** Whether it ends with the id of a row, where it may have a suffix. */
  readonly endsWithId: boolean
  /** What its suffix may be. */
  readonly formats: readonly string[]
  /** Who has declared it, in words. */
  readonly by: string
}

/** The names of an instance of Fastify, which knows those of the instances around it. */
export class PathNames {
  readonly #own = new Map<string, readonly NamedPath[]>()
  readonly #findOuter: () => PathNames | undefined
  readonly paths: Paths

  /** @param findOuter looked at when it is asked, since the instance around may get its names later */
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
   * The path of a name; a nearer instance's comes before.
   * @throws InvalidPathError where there is none, or several
   */
  find (name: string): NamedPath {
    const found = this.#own.get(name)
    if (found === undefined) {
      if (this.#findOuter() === undefined || !this.names().includes(name)) {
        throw new InvalidPathError(`there is no "${name}"${didYouMean(name, this.names())}`)
      }
      return (this.#findOuter() as PathNames).find(name)
    }
    const [first, other] = found as [NamedPath, ...NamedPath[]]
    if (other !== undefined) {
      throw new InvalidPathError(
        `"${name}" is ${first.pattern.text} (${first.by}) and ${other.pattern.text} (${other.by}); give one of them ` +
          'another name by the option "as"'
      )
    }
    return first
  }
}

/** What is asked of every object, also of one that is awaited, printed or compared. */
const ASKED: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  'nodeType',
  'tagName',
  'asymmetricMatch',
  'constructor',
  'prototype',
  '__proto__',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'inspect',
  'length',
  '$$typeof'
])

function makePaths (names: PathNames): Paths {
  const url: UrlHelper['url'] = (request, name, ...parameters) => {
    if (!isObject(request)) {
      throw new InvalidPathError(`"url" needs the request first, and then the name of a path; not ${show(request)}`)
    }
    return `${request.protocol}://${request.host}${helperOf(names.find(name))(...parameters)}`
  }
  // An app that awaits a helper called so would call it.
  const isHelper = (name: string | symbol): name is string =>
    typeof name === 'string' && name !== 'then' && names.names().includes(name)
  return new Proxy(Object.create(null) as Paths, {
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

function helperOf (path: NamedPath): PathHelper {
  const { name, pattern: { names }, formats } = path
  return (...all) => {
    // Options that may be left out may be undefined, too.
    const given = all.length > names.length && all.at(-1) === undefined ? all.slice(0, -1) : all
    const last = given.at(-1)
    const isOptions = typeof last === 'object' && last !== null && !Object.hasOwn(last, 'id')
    const parameters = (isOptions ? given.slice(0, -1) : given) as readonly PathParameter[]
    const { format, query = {}, ...unknown } = isOptions ? last as PathOptions : {} as PathOptions
    const [other] = Object.keys(unknown)
    if (other !== undefined) {
      throw new InvalidPathError(`"${name}" has no option "${other}"${didYouMean(other, ['format', 'query'])}`)
    }
    if (parameters.length > names.length) {
      throw new InvalidPathError(`"${name}" takes ${describe(names)}, but was given ${parameters.length} parameters`)
    }
    const texts = names.map((parameter, index) => textOf(parameters[index], path, parameter))
    if (format !== undefined && !formats.includes(format)) {
      throw new InvalidPathError(`"${name}" has no format "${format}"${didYouMean(format, formats)}`)
    }
    if (!isObject(query)) throw new InvalidPathError(`"${name}" needs an object as "query", not ${show(query)}`)
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([key, value]): Array<[string, string]> =>
        value === undefined ? [] : [[key, String(value)]]
      )
    ).toString()
    return fill(path, texts) + (format === undefined ? '' : `.${format}`) + (search === '' ? '' : `?${search}`)
  }
}

function describe (names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function textOf (given: PathParameter | undefined, { name, pattern }: NamedPath, parameter: string): string {
  const value: unknown = typeof given === 'object' && given !== null ? given.id : given
  const isText = typeof value === 'string' || typeof value === 'number'
  if (!isText && value !== undefined && value !== null) {
    throw new InvalidPathError(`"${name}" cannot have ${show(value)} for "${parameter}": an id is a text or a number`)
  }
  if (!isText || value === '') {
    throw new InvalidPathError(`"${name}" needs ${describe(pattern.names)}: "${parameter}" is missing`)
  }
  if (!String(value).isWellFormed() || (typeof value === 'number' && !Number.isFinite(value))) {
    throw new InvalidPathError(`"${name}" cannot have ${show(value)} for "${parameter}": no path can carry it`)
  }
  if (value === '.' || value === '..') {
    throw new InvalidPathError(`"${name}" cannot have "${value}" for "${parameter}": it would mean another path`)
  }
  return String(value)
}

function fill ({ pattern, endsWithId, formats }: NamedPath, texts: readonly string[]): string {
  const path = pattern.fill(Object.fromEntries(pattern.names.map((name, index) => [name, texts[index]])))
  return endsWithId ? memberPath(path.slice(0, path.lastIndexOf('/')), texts.at(-1) as string, formats) : path
}
