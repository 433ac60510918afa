#!/usr/bin/env node
import { run } from './run.js'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => { stop.abort() })
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  print: (text) => { process.stdout.write(text) },
  complain: (text) => { process.stderr.write(text) },
  signal: stop.signal
})
// A module that "diff" has loaded may keep the process alive, such as a server that listens. So the process ends here,
// when all that it prints is written.
process.stdout.write('', () => { process.stderr.write('', () => { process.exit() }) })
