import neostandard from 'neostandard'

/** Who may know whom: formats and stores know the resource and their own contract, and never each other or Fastify. */
const wing = (files, ...patterns) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: patterns.map((group) => ({ group: [group] })) }] }
})

export default [
  ...neostandard({ ts: true, ignores: ['**/dist', '.tap', '.example', 'test/vectors'] }),
  wing(['lib/**/*.ts'], '**/index.js'),
  wing(['lib/formats/**/*.ts'], 'fastify', '@fastify/formbody', '**/stores/memory.js', '**/stores/sql*', '**/actions/*', '**/routes.js', '**/hall.js', '**/index.js'),
  wing(['lib/stores/**/*.ts'], 'fastify', '@fastify/formbody', '**/formats/*', '**/actions/*', '**/routes.js', '**/hall.js', '**/index.js'),
  wing(['lib/actions/**/*.ts'], 'fastify', '@fastify/formbody', '**/formats/*', '**/stores/memory.js', '**/routes.js', '**/hall.js', '**/index.js')
]
