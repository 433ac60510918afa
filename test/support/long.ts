/**
 * Whether slow tests run in their long form: more rows, more kills, a browser. `npm run test:system` sets it.
 *
 * @default false
 */
export const LONG: boolean = process.env.LONG !== undefined

/** The option `skip` of a test that runs in the long form only. */
export const LONG_ONLY: string | false = LONG ? false : 'it runs in the long form only: npm run test:system'

/** The option `skip` of a test without a long form, in a file where others have one. */
export const SHORT_ONLY: string | false = LONG && 'it has run in the short form: npm test'

/**
 * The options of a test that runs in the long form only. The long form of a file with such tests, and without `LONG`,
 * leaves out all others, which the short form runs (`run-files.mjs`).
 */
export const LONG_FORM = { skip: LONG_ONLY, only: true, runOnly: false } as const
