/** The wings of `lib`: each has one subject, and imports the core. See docs/architecture.md. */
const WINGS = ['contract', 'database', 'draw', 'home', 'html', 'openapi', 'sql', 'xsd']

/** The wings that a wing may import besides the core. */
const FRIENDS = { database: ['sql', 'html', 'home'], home: ['html'] }

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files must not import each other in a circle. Types and import() count.',
      severity: 'error',
      from: {},
      to: { circular: true }
    },
    {
      name: 'core-imports-no-wing',
      comment: 'The core must not know its wings. A wing hands the core what it needs as a value.',
      severity: 'error',
      from: { path: '^lib/core/' },
      to: { path: '^lib/', pathNot: '^lib/core/' }
    },
    ...WINGS.map((wing) => ({
      name: `${wing}-imports-the-core`,
      comment: 'A wing imports the core and, if the list FRIENDS says so, another wing. lib/wings.ts only loads them.',
      severity: 'error',
      from: { path: `^lib/${wing}/` },
      to: { path: '^lib/', pathNot: `^lib/(?:(?:${['core', wing, ...FRIENDS[wing] ?? []].join('|')})/|wings\\.ts$)` }
    }))
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^lib/',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import'] }
  }
}
