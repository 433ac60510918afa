import { createRequire } from 'node:module'
import { lazy } from '../../util/functions.js'

/** The part of Fastify's option `ajv` that is used. Other members of `customOptions` have no effect. */
export interface AjvSettings {
  /** The options of Ajv, of which `formats` and `keywords` are used. @default {} */
  readonly customOptions?: { readonly formats?: object, readonly keywords?: unknown }
  /** Functions that take the Ajv, each alone or in a list with its options. @default [] */
  readonly plugins?: readonly unknown[]
}

// `require` loads a CommonJS package synchronously, whereas `import()` returns a promise.
const load: NodeJS.Require = createRequire(import.meta.url)

/** Returns Ajv. The first call loads it, because that takes about half as long as loading all of Fastify. */
export const loadAjv: () => typeof import('ajv') = lazy(() => load('ajv'))

/** Returns the plugin that adds the formats of JSON Schema to Ajv. The first call loads it. */
export const loadFormats: () => typeof import('ajv-formats') = lazy(() => load('ajv-formats'))
