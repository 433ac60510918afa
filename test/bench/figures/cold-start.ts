/** How long the first import of a module takes, once Fastify is there; in a fresh process. */
import 'fastify'
import { answerQuestions } from '../child.js'

/** In milliseconds. */
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
