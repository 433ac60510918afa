// The program of the process that `Reader` starts: it answers each statement by one message.
import { Worker } from 'node:worker_threads'
import { findMember } from '../../core/util/own-property.js'
import { openFile } from './file.js'
import type { ReadAnswer, ReadRequest } from './reader.js'
import { prepare, type RunPrepared } from './statement.js'

/** Ends this process when its parent was killed, even if a statement never ends. */
const WATCH = `setInterval(() => {
  if (require('process').ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL')
}, 1000)`

const [, , path = '', main = ''] = process.argv
// The driver may be a module of the app.
process.argv[1] = main
// A terminal sends these to all its processes. The parent may still answer requests, and closes the channel at its end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
new Worker(WATCH, { eval: true, execArgv: [], env: {} }).unref()

const file = openFile(path, 0, { isReadOnly: true })
/** The statements that are kept, by their texts. Their number is limited. */
const known = new Map<string, RunPrepared>()

function answer ({ text, kept, values }: ReadRequest): ReadAnswer {
  try {
    const run = known.get(text) ?? prepare(file.use().prepare(text), { text, writes: false })
    if (kept) known.set(text, run)
    return { rows: run(values) }
  } catch (error) {
    return { error: Object.fromEntries(['message', 'code', 'errcode'].map((name) => [name, findMember(error, name)])) }
  }
}

process.on('message', (request: ReadRequest) => { process.send?.(answer(request)) })
// The first read gets an error of the opening, but does not take the time of it.
try {
  file.use()
} catch {}
process.send?.('ready')
