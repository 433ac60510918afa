import type { FastifyInstance } from 'fastify'
import type { Hook, HookLists } from '../options/hooks.js'
import type { AjvSettings, AppSchemas } from '../schema/bundle.js'

/** Returns what Fastify keeps on an instance under the symbol of this description, or `undefined` if it has none. */
function internalOf (app: FastifyInstance, description: string): unknown {
  let instance: object | null = app
  while (instance !== null) {
    const key = Object.getOwnPropertySymbols(instance).find((symbol) => symbol.description === description)
    if (key !== undefined) return Reflect.get(instance, key)
    instance = Object.getPrototypeOf(instance)
  }
}

/** Returns the shared schemas and the Ajv settings by which Fastify validates the app's own routes on this instance. */
export function appSchemasOf (app: FastifyInstance): AppSchemas {
  // Fastify's own validator gets the settings from there.
  const options = internalOf(app, 'fastify.options') as { readonly ajv: AjvSettings } | undefined
  return { shared: app.getSchemas(), ajv: options?.ajv ?? {} }
}

/**
 * Returns the hooks that all routes on this instance have. If they are unknown, it returns one that no other instance
 * has, so that nobody takes the routes for unguarded.
 */
export function appHooksOf (app: FastifyInstance): HookLists {
  const hooks = internalOf(app, 'fastify.hooks') ?? { onRequest: [() => {}] }
  return new Map(Object.entries(hooks as Readonly<Record<string, readonly Hook[]>>))
}

/** Fastify's default of `maxParamLength`, in characters. */
const DEFAULT_LENGTH = 100

/**
 * Returns the length of the longest path parameter that the router accepts, in characters. Fastify fills in the default
 * of `routerOptions` even if it takes the value from the top level.
 */
export function longestParameter ({ initialConfig }: FastifyInstance): number {
  const { maxParamLength = DEFAULT_LENGTH, routerOptions } = initialConfig
  const { maxParamLength: given = DEFAULT_LENGTH } = routerOptions ?? {}
  return given === DEFAULT_LENGTH ? maxParamLength : given
}
