import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import neostandard from 'neostandard'

/**
 * The layers of `lib`, from the top. A folder may import itself and the layers after it. Folders of one layer must not
 * import each other.
 */
const LAYERS = [['index'], ['plugin'], ['openapi'], ['http'], ['routing'], ['actions', 'formats'], ['stores'], ['resource'], ['schema'], ['util'], ['errors']]
/** These folders may import Fastify. Those in `TYPES_NAME_FASTIFY` may import only its types. */
const NAMES_FASTIFY = ['plugin', 'openapi', 'http']
const TYPES_NAME_FASTIFY = ['routing', 'actions', 'formats', 'resource']

/** @returns {import('eslint').Linter.Config} the import rules of one folder (or file) at the top of `lib` */
function wall (name, layer) {
  const above = LAYERS.flatMap((names, index) => index < layer || (index === layer && names.length > 1) ? names.filter((other) => other !== name) : [])
  const patterns = [
    ...(above.length === 0 ? [] : [{ regex: `^\\.\\.?/(?:\\.\\./)*(?:${above.join('|')})(?:/|\\.js$)`, message: `lib/${name} may not import what stands above or beside it: see docs/architecture.md.` }]),
    ...(name === 'formats' ? [{ regex: '/stores/(?!store\\.js$)', message: 'Formats know the contract of stores alone.' }] : [])
  ]
  const fastify = NAMES_FASTIFY.includes(name) || name === 'index'
    ? []
    : [{ group: ['fastify', '@fastify/formbody', 'fastify-plugin'], allowTypeImports: TYPES_NAME_FASTIFY.includes(name), message: 'Fastify is named by lib/http, lib/openapi and lib/plugin.' }]
  return {
    files: [name === 'index' || name === 'errors' ? `lib/${name}.ts` : `lib/${name}/**/*.ts`],
    rules: {
      'no-restricted-imports': patterns.length === 0 ? 'off' : ['error', { patterns }],
      '@typescript-eslint/no-restricted-imports': fastify.length === 0 ? 'off' : ['error', { patterns: fastify }]
    }
  }
}

const targets = new Map()

/** Returns the files that a file imports, type imports included. Each file is read once. */
function importsOf (file) {
  if (!targets.has(file)) targets.set(file, [...readFileSync(file, 'utf8').matchAll(/\bfrom '(\.[^']+)\.js'/g)].map(([, path]) => resolve(dirname(file), `${path}.ts`)))
  return targets.get(file)
}

/** Returns the chain of imports that leads from one file to another, or undefined if none does. */
function findWay (from, to, seen = new Set()) {
  if (from === to) return [to]
  if (seen.has(from)) return undefined
  seen.add(from)
  for (const next of importsOf(from)) {
    const way = findWay(next, to, seen)
    if (way !== undefined) return [from, ...way]
  }
}

/** Reports an import that leads back to its own file. `import-x/no-cycle` would ignore type imports. */
const noCycle = {
  create ({ filename, report }) {
    const check = ({ source }) => {
      if (!source?.value.startsWith('.')) return
      const way = findWay(resolve(dirname(filename), source.value.replace(/\.js$/, '.ts')), filename)
      if (way !== undefined) report({ node: source, message: `This import leads back to its own file by ${way.map((file) => relative('lib', file)).join(', ')}.` })
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check }
  }
}

export default [
  ...neostandard({ ts: true, ignores: ['**/dist', '.tap', '.programs', 'test/vectors', 'example/json-api-paths.d.ts'] }),
  // The texts to find in lib are also parts of templates.
  { files: ['test/mutants/areas/*.ts'], rules: { 'no-template-curly-in-string': 'off' } },
  {
    files: ['lib/**/*.ts'],
    plugins: { local: { rules: { 'no-cycle': noCycle } } },
    rules: {
      'local/no-cycle': 'error',
      '@stylistic/max-len': ['error', { code: 120, ignoreUrls: true, ignoreRegExpLiterals: true }],
      'max-lines-per-function': ['error', { max: 60 }],
      'max-params': ['error', { max: 4 }]
    }
  },
  ...LAYERS.flatMap((names, layer) => names.map((name) => wall(name, layer)))
]
