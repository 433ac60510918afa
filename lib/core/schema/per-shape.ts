import type { Shape } from './shape.js'

/**
 * Returns a compiler that makes one function for each shape. If a shape contains itself, the function for the inner
 * shape calls the one for the outer shape.
 */
export function compilePerShape<F extends (...parameters: never[]) => unknown> (
  make: (shape: Shape, compile: (shape: Shape) => F) => F
): (shape: Shape) => F {
  const made = new Map<Shape, F>()
  return function compile (shape: Shape): F {
    const known = made.get(shape)
    if (known !== undefined) return known
    const late = {} as { call: F }
    made.set(shape, ((...parameters) => late.call(...parameters)) as F)
    late.call = make(shape, compile)
    made.set(shape, late.call)
    return late.call
  }
}
