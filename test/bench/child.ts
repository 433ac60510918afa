import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** A child process that answers one question after the other. */
export interface Child {
  ask (question: object): Promise<unknown>
  stop (): Promise<void>
}

/** True if each process can be pinned to a core. Otherwise the system schedules them. */
export const isPinned: boolean = availableParallelism() > 1 && hasTaskset()

function hasTaskset (): boolean {
  try {
    execFileSync('taskset', ['-c', '0', 'true'])
    return true
  } catch {
    return false
  }
}

/** Starts a module as a child process. @param core pins it to this core; undefined: any core. */
export function startChild (module: string, core?: number, nodeOptions: readonly string[] = []): Child {
  const path = fileURLToPath(new URL(module, import.meta.url))
  const child = core !== undefined && isPinned
    ? fork(path, { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath, ...nodeOptions] })
    : fork(path, { execArgv: [...nodeOptions] })
  return { ask: (question) => ask(child, question), stop: () => stop(child) }
}

async function ask (child: ChildProcess, question: object): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  child.send(question)
  try {
    const answers = await Promise.race([once(child, 'message', { signal }), once(child, 'exit', { signal }).then(() => undefined)])
    if (answers === undefined) throw new Error(`a process ended when it was asked ${JSON.stringify(question)}`)
    return answers[0]
  } finally {
    over.abort()
  }
}

async function stop (child: ChildProcess): Promise<void> {
  if (!child.connected) return
  child.disconnect()
  await once(child, 'exit')
}

/** Answers the parent's questions in the child process. An error ends the process. */
export function answerQuestions<Question> (answer: (question: Question) => unknown): void {
  process.on('disconnect', () => process.exit())
  process.on('message', async (question) => { process.send?.(await answer(question as Question) ?? null) })
}
