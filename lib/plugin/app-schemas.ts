import type { FastifyInstance } from 'fastify'
import type { AjvSettings, AppSchemas } from '../schema/bundle.js'

/** Fastify keeps its options under a symbol of this description, and hands them to its own validator from there. */
const OPTIONS = 'fastify.options'

/** The schemas, formats and keywords that Fastify's own routes on this instance have. */
export function appSchemasOf (app: FastifyInstance): AppSchemas {
  let around: object | null = app
  while (around !== null) {
    const key: symbol | undefined = Object.getOwnPropertySymbols(around).find(
      ({ description }) => description === OPTIONS
    )
    if (key !== undefined) {
      return { shared: app.getSchemas(), ajv: (Reflect.get(around, key) as { readonly ajv: AjvSettings }).ajv }
    }
    around = Object.getPrototypeOf(around) as object | null
  }
  return { shared: app.getSchemas(), ajv: {} }
}
