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

/** The values that are compiled for a resource and for its variants. */
export interface PerVariant<T> {
  /** The value for the resource itself. */
  readonly own: T
  /** Returns the value for the variant that a request sees. The first request that needs it compiles it. */
  of (request: FastifyRequest): T
}

/** Compiles something for a resource and for each of its variants. */
export function perVariant<R extends Varied<R>, T> (resource: R, compile: (variant: R) => T): PerVariant<T> {
  const own = compile(resource)
  const known = new Map([[resource, own]])
  return {
    own,
    of (request) {
      const variant = resource.variants?.of(request) ?? resource
      if (!known.has(variant)) known.set(variant, compile(variant))
      return known.get(variant) as T
    }
  }
}
