import { InvalidError, InvalidQueryError } from '../errors.js'
import { compileText, describeMismatch, UNCONVERTIBLE } from '../schema/convert-text.js'
import { isStorableText, UNSTORABLE_TEXT } from '../schema/legal-text.js'
import type { Property } from '../schema/shape.js'
import { Issues } from '../schema/validation/issues.js'
import type { QueryParameters } from './filter-query.js'

/**
 * Converts the texts of parameters, like those of a form.
 * @throws InvalidQueryError
 */
export type ReadValues = (query: QueryParameters) => Record<string, unknown>

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
        throw new InvalidQueryError(`"${name}" ${UNSTORABLE_TEXT}`)
      }
      const value = convert(text)
      if (value === UNCONVERTIBLE) throw new InvalidQueryError(`"${name}" ${describeMismatch(types, text)}`)
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
