import type { FastifyRequest } from 'fastify'

/** The attributes of a role, as the option `roles` declares them. */
export interface RoleOptions {
  /** The attributes that the role neither sees nor sends. @default none */
  readonly hidden?: readonly string[]
  /** The only attributes that the role sees, in place of `hidden`. @default all */
  readonly visible?: readonly string[]
  /** The attributes that the role sees, and whose values in its requests are ignored. @default none */
  readonly readOnly?: readonly string[]
}

/** Returns the role of a request, or several roles: what one of them may see or write, the request may. */
export type FindRole = (request: FastifyRequest) => string | readonly string[]

/** The checked options `roles` and `role`. */
export interface Roles {
  readonly declared: ReadonlyMap<string, RoleOptions>
  readonly find: FindRole
}
