import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const REPLACED = {
  'async-hook-domain': new URL('no-domains.mjs', import.meta.url).href,
  ...Object.fromEntries(Object.entries({
    '': 'index',
    '/html': 'html/index',
    '/sqlite': 'sql/sqlite/index',
    '/postgres': 'sql/postgres/index',
    '/database': 'database/index',
    '/xsd': 'xsd/index',
    '/store-contract': 'contract/index'
  }).map(([entry, file]) =>
    [`fastify-resources${entry}`, new URL(`../../../lib/${file}.ts`, import.meta.url).href]))
}

/**
 * Resolves `./index.js` to `./index.ts`, because sources import the compiled file, which does not exist here. Resolves
 * the package by its own name to its sources, so that nothing needs to be compiled first.
 */
export function resolve (specifier, context, next) {
  if (Object.hasOwn(REPLACED, specifier)) return next(REPLACED[specifier], context)
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true) {
    const { href } = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
    if (existsSync(new URL(href))) return next(href, context)
  }
  return next(specifier, context)
}

// Each test file is a process that loads some 250 files. The blanked text of each is kept under its digest, so that only
// the first process strips types.
const CACHE = new URL('../../../node_modules/.cache/fastify-resources/', import.meta.url)
let transformSync

export function load (url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const source = readFileSync(new URL(url), 'utf8')
  const cached = new URL(`${createHash('sha256').update(source).digest('hex')}.js`, CACHE)
  if (!existsSync(cached)) {
    transformSync ??= createRequire(import.meta.url)('@swc/wasm-typescript').transformSync
    mkdirSync(CACHE, { recursive: true })
    const part = `${fileURLToPath(cached)}.${process.pid}`
    writeFileSync(part, transformSync(source, { mode: 'strip-only', filename: url }).code)
    renameSync(part, cached)
  }
  return { format: 'module', source: readFileSync(cached, 'utf8'), shortCircuit: true }
}
