import type { Shape } from './shape.js'

/**
 * A compiler that makes one function for each shape, however often it is asked. A shape may contain itself: what is
 * made for the inner one then calls what is made for the outer.
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
