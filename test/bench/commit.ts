import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A checkout of another commit whose package is built. */
export interface Checkout {
  readonly folder: string
  /** The program that serves a resource of it. Undefined: that commit has none. */
  readonly program: URL | undefined
  remove (): void
}

/** Checks a commit out into a temporary folder and builds it there. This takes a minute. */
export function checkOut (commit: string): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const run = (file: string, parameters: readonly string[], cwd = folder): void => {
    execFileSync(file, parameters, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  run('git', ['worktree', 'add', '--force', '--detach', folder, commit], process.cwd())
  run('npm', ['ci', '--silent', '--ignore-scripts'])
  run('npm', ['run', '--silent', 'bundle'])
  const hasProgram = existsSync(join(folder, 'test/bench/servers/resource.ts'))
  if (hasProgram) {
    run('npm', ['ci', '--silent', '--ignore-scripts', '--prefix', 'test/bench'])
    run('npx', ['tsc', '-p', 'test/bench'])
  }
  return {
    folder,
    program: hasProgram ? pathToFileURL(join(folder, 'test/bench/dist/test/bench/servers/resource.js')) : undefined,
    remove: () => { run('git', ['worktree', 'remove', '--force', folder], process.cwd()) }
  }
}
