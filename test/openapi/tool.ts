import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = new URL('../../', import.meta.url)

export interface Ended {
  readonly code: number | null
  readonly printed: string
}

/** Runs a program of a package to its end, without tap's settings for child processes. */
export async function runTool (program: string, parameters: readonly string[]): Promise<Ended> {
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env
  const child = spawn(
    process.execPath, [fileURLToPath(new URL(program, folder)), ...parameters],
    { cwd: fileURLToPath(folder), env: { ...env, REDOCLY_TELEMETRY: 'off' } }
  )
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => { printed += chunk.toString() })
  }
  return new Promise((resolve) => child.on('close', (code) => { resolve({ code, printed }) }))
}
