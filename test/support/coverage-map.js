import { readdirSync } from 'node:fs'

const sources = readdirSync(new URL('../../lib', import.meta.url), { recursive: true })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `lib/${file}`)

/** Every test may cover all of the library, and what none of them covers is missed; the example is not counted. */
export default () => sources
