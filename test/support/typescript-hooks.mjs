import { existsSync, readFileSync } from 'node:fs'

/** Imports name the file that will be: `./index.js`, of which there is the source alone. */
export function resolve (specifier, context, next) {
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true) {
    const { href } = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
    if (existsSync(new URL(href))) return next(href, context)
  }
  return next(specifier, context)
}

// From 22.18 on Node.js strips types by itself.
const { transformSync } = process.features.typescript ? {} : (await import('@swc/wasm-typescript')).default

export function load (url, context, next) {
  if (transformSync === undefined || !url.endsWith('.ts')) return next(url, context)
  const { code } = transformSync(readFileSync(new URL(url), 'utf8'), { mode: 'strip-only', filename: url })
  return { format: 'module', source: code, shortCircuit: true }
}
