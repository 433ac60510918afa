import type { ReferencePlace, Resource } from '../resource/resource.js'
import type { Scope } from '../resource/row.js'
import { type Attributes, SIMPLE_TYPES } from '../schema/types.js'
import type { Validation } from '../schema/validation/validation.js'
import { lazy } from '../util/functions.js'
import { InvalidError, InvalidQueryError } from '../errors.js'
import { sayAbout } from '../messages.js'
import type { Routing } from '../options/resolve/routing.js'
import { isPartial } from '../resource/visible.js'
import { compileText, describeMismatch, isBytesShape, UNCONVERTIBLE } from '../schema/convert-text.js'
import { isStorableText, UNSTORABLE_TEXT } from '../schema/legal-text.js'
import type { Property } from '../schema/shape.js'
import { Issues } from '../schema/validation/issues.js'
import type { QueryParameters } from './filter-query.js'
import type { ListQueryParser } from './list-query.js'

/** The query parameter of the path of a new row that names the row with whose values its form begins. */
export const COPIED = '_from'

/** Returns whether that form can begin with the values of another row. The app must not guard `show` alone. */
export function canCopy (
  { singleton, open, actions }: Resource,
  { handlers, actionHooks }: Pick<Routing, 'handlers' | 'actionHooks'>
): boolean {
  const isShown = actions.has('show') && !handlers.has('show') && !actionHooks.has('show')
  return isShown && actions.has('create') && actions.has('new') && !singleton && !open
}

/** Reads the values with which the form for a new row begins. */
export interface Prefill {
  /** The query parameters of the path of a new row: its attributes with simple values. */
  readonly parameters: readonly string[]
  /**
   * Reads the query of that path.
   * @throws InvalidQueryError
   */
  read (query: QueryParameters, scope: Scope): Attributes
  /** Returns the values of a row that a copy of it has, too. */
  copy (row: Attributes, scope: Scope): Attributes
  /** Reads the references to other rows by which a list is filtered. The query has been parsed before. */
  readFilter (query: QueryParameters, scope: Scope): Attributes
  /**
   * Returns the query of a form that begins with these references of a row. Other names are left out.
   * @param isList whether the form is beneath a list, which the query filters
   */
  write (names: readonly string[], row: Attributes, isList: boolean): string
}

/** The dependencies of `compilePrefill`. */
export interface PrefillParts {
  readonly validation: Validation
  readonly listQuery: ListQueryParser
  /** The attributes that have ids of other rows. They are complete once the app is ready. */
  readonly references: ReadonlyMap<string, ReferencePlace>
  /** The attributes whose values are unique. */
  readonly unique: ReadonlySet<string>
}

/** Compiles the reading of the values with which the form for a new row begins. */
export function compilePrefill (
  { attributes }: Resource,
  { validation, listQuery: { filterable }, references, unique }: PrefillParts
): Prefill {
  const copied = [...attributes.values()].filter(({ name, readOnly, writeOnly, shape }) =>
    !readOnly && !writeOnly && !isPartial(shape) && !isBytesShape(shape) && !unique.has(name))
  const settable = [...attributes.values()].filter(({ name, readOnly, writeOnly, shape }) =>
    !readOnly && !writeOnly && SIMPLE_TYPES.has(shape.only) && name !== 'format')
  const readAll = lazy(() => compileQueryValues(settable))
  const findReferencing = lazy(() => {
    const names = new Set([...references.values()].flatMap(({ attribute, key }) => key ?? [attribute]))
    const referencing = settable.filter(({ name }) => names.has(name))
    const filtered = filterable.flatMap(({ attribute, isPlain }) => isPlain ? [attribute.name] : [])
    return { all: referencing, filtered: referencing.filter(({ name }) => filtered.includes(name)) }
  })
  const readReferences = lazy((): ReadValues | undefined => {
    const { filtered } = findReferencing()
    return filtered.length === 0 ? undefined : compileQueryValues(filtered)
  })
  return {
    parameters: settable.map(({ name }) => name),
    read (query, scope) {
      const values = readAll()(query)
      checkQueryValues(values, validation.update)
      return withoutScope(values, scope)
    },
    copy: (row, scope) => withoutScope(Object.fromEntries(copied.flatMap(({ name }) =>
      row[name] === undefined ? [] : [[name, row[name]]])), scope),
    readFilter: (query, scope) => withoutScope(readReferences()?.(query) ?? {}, scope),
    write (names, row, isList) {
      const { all, filtered } = findReferencing()
      const parameters = new URLSearchParams()
      for (const { name } of isList ? filtered : all) {
        const value = row[name] ?? undefined
        if (names.includes(name) && value !== undefined) parameters.set(name, String(value))
      }
      return parameters.size === 0 ? '' : `?${parameters}`
    }
  }
}

/** Leaves out the attributes that the scope of the request decides. */
function withoutScope (values: Record<string, unknown>, scope: Scope): Attributes {
  for (const name in scope) delete values[name]
  return values
}

/**
 * Converts the texts of parameters, like those of a form.
 * @throws InvalidQueryError
 */
type ReadValues = (query: QueryParameters) => Record<string, unknown>

/** Compiles the conversion of the parameters that these declarations name. */
export function compileQueryValues (declared: Iterable<Property>): ReadValues {
  const converters = Array.from(declared, ({ name, shape: { types }, shape }) =>
    ({ name, convert: compileText(shape), types }))
  return (query) => {
    const values: Record<string, unknown> = {}
    for (const { name, convert, types } of converters) {
      // The result of an app's own query parser may inherit members, such as `constructor`.
      const text = Object.hasOwn(query, name) ? query[name] : undefined
      if (text === undefined) continue
      if (!isStorableText(text)) {
        throw new InvalidQueryError(sayAbout(name, UNSTORABLE_TEXT))
      }
      const value = convert(text)
      if (value === UNCONVERTIBLE) throw new InvalidQueryError(sayAbout(name, describeMismatch(types, text)))
      values[name] = value
    }
    return values
  }
}

/**
 * Checks converted values by their schema.
 * @throws InvalidQueryError
 */
export function checkQueryValues (
  values: Record<string, unknown>,
  validate: (values: Record<string, unknown>, issues: Issues) => void
): void {
  try {
    validate(values, new Issues())
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error
    throw new InvalidQueryError(error.message)
  }
}
