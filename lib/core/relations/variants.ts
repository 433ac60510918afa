import type { FastifyRequest } from 'fastify'

/** The variants of a resource, of which each request sees one. */
export interface VariantsOf<R> {
  /**
   * Returns the variant that a request sees, which may be the resource itself.
   * @throws InvalidAnswerError if the role of the request is unknown
   */
  of (request: FastifyRequest): R
}

/** A resource of which requests may see variants, because their roles lack some attributes. */
export interface Varied<R> {
  /** The variants, or `undefined` if each request sees the resource itself. */
  readonly variants: VariantsOf<R> | undefined
}

/** Compiles something for each variant of a resource, when the first request needs it. */
export function perVariant<R, T> (
  variants: VariantsOf<R>,
  compile: (variant: R) => T
): (request: FastifyRequest) => T {
  const known = new Map<R, { readonly compiled: T }>()
  return (request) => {
    const variant = variants.of(request)
    const found = known.get(variant) ?? { compiled: compile(variant) }
    known.set(variant, found)
    return found.compiled
  }
}
