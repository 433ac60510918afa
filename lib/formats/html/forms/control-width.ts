import { isDecimalShape } from '../../../schema/convert-text.js'
import type { Shape } from '../../../schema/shape.js'
import type { Schema } from '../../../schema/types.js'
import type { ControlWidth } from '../views/model.js'
import { keywordsOf } from './constraints.js'

/** The widths of short controls, in characters. */
const WIDTHS: ReadonlyArray<ControlWidth & number> = [4, 10, 20]

/** Returns the width of a line that suits its longest value, or `undefined` for the whole width. */
export function compileWidth (shape: Shape, schema: Schema): ControlWidth {
  const { only, format, precision, scale } = shape
  const { maxLength, minimum, maximum, multipleOf } = keywordsOf(schema)
  if (isDecimalShape(shape)) return precision === undefined ? 20 : findWidth(precision + (scale === 0 ? 0 : 1))
  if (only === 'string') return format === undefined && typeof maxLength === 'number' ? findWidth(maxLength) : undefined
  if (only !== 'integer' && only !== 'number') return undefined
  if (typeof maximum !== 'number') return 10
  const places = findPlaces(multipleOf)
  const digits = Math.max(String(maximum).length, String(minimum ?? '').length)
  return findWidth(places === undefined ? digits : digits + places + 1) ?? 20
}

/** The most decimal places that a double can have besides one digit before the point. */
const MOST_PLACES = 14

function findWidth (characters: number): ControlWidth {
  return WIDTHS.find((width) => characters <= width)
}

/** Returns the decimal places that a step such as 0.01 gives to each number, or `undefined` for any other step. */
export function findPlaces (step: unknown): number | undefined {
  const places = typeof step === 'number' ? Math.round(-Math.log10(step)) : 0
  return places > 0 && places <= MOST_PLACES && step === Number(`1e-${places}`) ? places : undefined
}
