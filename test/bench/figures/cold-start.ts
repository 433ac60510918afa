/** Measures the first import of a module in a fresh process that has already loaded Fastify. */
import 'fastify'
import { answerQuestions } from '../child.js'

/** The duration of an import in milliseconds. */
export interface Load {
  readonly clock: number
  readonly processor: number
}

answerQuestions<{ readonly load: string }>(async ({ load }) => {
  const start = performance.now()
  const before = process.cpuUsage()
  await import(load)
  const { user, system } = process.cpuUsage(before)
  return { clock: performance.now() - start, processor: (user + system) / 1000 } satisfies Load
})
