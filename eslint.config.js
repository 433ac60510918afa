import neostandard from 'neostandard'

export default [
  ...neostandard({ ts: true, ignores: ['**/dist', '.tap', '.programs', 'test/vectors', 'example/json-api-paths.d.ts'] }),
  {
    files: ['lib/**/*.ts', 'test/**/*.{ts,mjs}'],
    rules: { '@stylistic/max-len': ['error', { code: 120, ignoreUrls: true, ignoreRegExpLiterals: true }] }
  },
  {
    files: ['lib/**/*.ts'],
    rules: {
      'max-lines-per-function': ['error', { max: 60 }],
      'max-params': ['error', { max: 4 }]
    }
  }
]
