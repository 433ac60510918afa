import { existsSync, readFileSync } from 'node:fs'

const OURS = {
  'fastify-resources': new URL('../../../lib/index.ts', import.meta.url).href,
  'fastify-resources/store-contract': new URL('../../../lib/stores/contract/index.ts', import.meta.url).href
}

/**
 * Resolves `./index.js` to `./index.ts`, because sources import the compiled file, which does not exist here. Resolves
 * the package by its own name to its sources, so that nothing needs to be compiled first.
 */
export function resolve (specifier, context, next) {
  if (Object.hasOwn(OURS, specifier)) return next(OURS[specifier], context)
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true) {
    const { href } = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
    if (existsSync(new URL(href))) return next(href, context)
  }
  return next(specifier, context)
}

// Node.js strips types by itself from 22.18 on.
const { transformSync } = process.features.typescript ? {} : (await import('@swc/wasm-typescript')).default

export function load (url, context, next) {
  if (transformSync === undefined || !url.endsWith('.ts')) return next(url, context)
  const { code } = transformSync(readFileSync(new URL(url), 'utf8'), { mode: 'strip-only', filename: url })
  return { format: 'module', source: code, shortCircuit: true }
}
