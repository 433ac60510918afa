import type { Ajv, Options as AjvOptions } from 'ajv'
import { lazy } from '../../util/functions.js'
import { VALUE_KEYWORDS } from '../subschemas.js'
import type { Schema } from '../types.js'
import { type AjvSettings, loadAjv } from './ajv.js'
import { addFormats } from './text-formats.js'

/** The decimals of a quotient that decide on `multipleOf`: 0.57 is a multiple of 0.001, although 0.57 / 0.001 < 570. */
const PRECISION = 6

/** How an Ajv reads schemas and reports errors. */
interface AjvMode {
  /** Whether to refuse unknown keywords, and defaults that Ajv would ignore. */
  readonly strict: boolean
  /** Whether a validator goes on after its first error. */
  readonly allErrors?: boolean
}

/** Makes an Ajv with the settings of the app. */
export function makeAjv (
  schema: Schema,
  { strict, allErrors = false }: AjvMode,
  { customOptions: { formats, keywords } = {}, plugins = [] }: AjvSettings
): Ajv {
  // `metaSchema` compiles the metaschema once for all instances, because that takes longer than all the rest.
  const named = { ...(formats !== undefined && { formats }), ...(keywords !== undefined && { keywords }) } as AjvOptions
  const { Ajv } = loadAjv()
  const ajv = new Ajv({
    ...named,
    allErrors,
    meta: false,
    strictSchema: strict,
    validateSchema: false,
    useDefaults: true,
    ownProperties: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    logger: false,
    multipleOfPrecision: PRECISION
  })
  // Fastify's own compiler calls the plugins in the same way. Our formats come after them, so that none replaces ours.
  for (const plugin of plugins) usePlugin(ajv, plugin)
  addFormats(ajv)
  // `addKeyword` does the same, but refuses some names.
  for (const keyword of [...VALUE_KEYWORDS, ...extensionsOf(schema)]) ajv.RULES.keywords[keyword] = true
  return ajv
}

/** Applies a plugin to Ajv. As in Fastify, it is given alone, or in a list with its options. */
function usePlugin (ajv: Ajv, given: unknown): void {
  const [plugin, options] = [given].flat() as [(ajv: Ajv, options?: unknown) => unknown, unknown]
  try {
    plugin(ajv, options)
  } catch {
    // A plugin may need an option of Ajv that is not used here, such as `allErrors`. Ajv then refuses a schema with one
    // of the plugin's keywords.
  }
}

/** Returns the Ajv that checks schemas. */
export const metaSchema: () => Ajv = lazy(() => {
  const { Ajv } = loadAjv()
  return new Ajv({ logger: false })
})

/** Returns the keywords `x-…` of a schema, which may mean anything. */
function extensionsOf (schema: Schema): Set<string> {
  return new Set([...JSON.stringify(schema).matchAll(/"(x-[^"\\]*)":/g)].map(([, keyword]) => keyword as string))
}
