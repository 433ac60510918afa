import { inspect } from 'node:util'

/** The same for two paths that a router takes for one: what parameters are called, and in which order conditions stand, makes no difference to it. */
export function routeKey (path: string, conditions: unknown): string {
  return `${path.replaceAll(/:\w+/g, ':')} ${inspect(conditions, { sorted: true })}`
}
