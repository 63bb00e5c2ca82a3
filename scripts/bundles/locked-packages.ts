/** Packages of the lock file: what a package needs on a platform, and its files, checked against the lock's hashes. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
export const CACHE = join(ROOT, 'node_modules/.cache/hedgerow/packages')
const FOLDER = 'node_modules/'
const run = promisify(execFile)

export type Platform = { os: 'linux' | 'darwin' | 'win32'; cpu: 'x64' | 'arm64' }

type Entry = {
  name?: string
  version: string
  integrity?: string
  license?: string
  os?: string[]
  cpu?: string[]
  libc?: string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** `path` is its key in the lock file: `node_modules/a`, or `node_modules/b/node_modules/a`. */
export type LockedPackage = { path: string; name: string; version: string; integrity: string; license: string }

/** Packages whose package.json names no licence; the file that names it. */
const NAMED_IN_A_FILE: Record<string, string> = { suncalc: 'BSD-2-Clause' }

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> }

/** The package of a path of the lock file, which may leave the first `node_modules/` out. Throws for another. */
export function lockedPackage(nameOrPath: string): LockedPackage {
  const path = nameOrPath.startsWith(FOLDER) ? nameOrPath : FOLDER + nameOrPath
  const entry = lock.packages[path]
  if (!entry) throw new Error(`the lock file has no ${path}`)
  // An alias has its own name in the entry.
  const name = entry.name ?? path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)
  const license = entry.license ?? NAMED_IN_A_FILE[name] ?? 'unknown'
  return { path, name, version: entry.version, integrity: entry.integrity ?? '', license }
}

/** These packages of the top and all that they need on this platform. */
export function closure(names: readonly string[], platform: Platform): LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  const visit = (name: string, from: string): void => {
    const path = resolve(name, from)
    const entry = path && lock.packages[path]
    if (!path || !entry || found.has(path) || !fits(entry, platform)) return
    found.set(path, lockedPackage(path))
    for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) visit(next, path)
  }
  for (const name of names) visit(name, '')
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Where the package at `from` finds `name`, as Node does; undefined where it is not installed on any platform. */
function resolve(name: string, from: string): string | undefined {
  const inside = from === '' ? FOLDER + name : `${from}/${FOLDER}${name}`
  if (inside in lock.packages || from === '') return inside in lock.packages ? inside : undefined
  return resolve(name, from.slice(0, Math.max(0, from.lastIndexOf(`/${FOLDER}`))))
}

const fits = ({ os, cpu, libc }: Entry, platform: Platform): boolean =>
  (!os || os.includes(platform.os)) &&
  (!cpu || cpu.includes(platform.cpu)) &&
  (!libc || platform.os !== 'linux' || libc.includes('glibc'))

/** Unpacks a package into `folder`. Refuses it when its hash is not the lock file's. */
export async function unpack(wanted: LockedPackage, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', await archiveOf(wanted), '-C', folder, '--strip-components=1', '--no-same-owner'])
}

/** Fetches what the cache lacks, by one npm process. */
export async function fetchAll(wanted: readonly LockedPackage[]): Promise<void> {
  const missing = wanted.filter((one) => !existsSync(fileOf(one)))
  if (missing.length === 0) return
  const fetched = join(CACHE, `.${process.pid}`)
  await mkdir(fetched, { recursive: true })
  const names = missing.map(({ name, version }) => `${name}@${version}`)
  const { stdout } = await run('npm', ['pack', ...names, '--json', '--pack-destination', fetched], { cwd: ROOT })
  // npm 10 answers with a list, npm 11 and later with an object.
  const answers = Object.values(
    JSON.parse(stdout) as Record<string, { name: string; version: string; filename: string }>,
  )
  for (const answer of answers)
    await rename(join(fetched, answer.filename.replace('/', '-').replace('@', '')), fileOf(answer))
  await rm(fetched, { recursive: true })
}

const fileOf = ({ name, version }: Pick<LockedPackage, 'name' | 'version'>): string =>
  join(CACHE, `${name.replace('/', '-').replace('@', '')}-${version}.tgz`)

async function archiveOf(wanted: LockedPackage): Promise<string> {
  await fetchAll([wanted])
  const file = fileOf(wanted)
  const hash = `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`
  if (hash === wanted.integrity) return file
  await rm(file)
  throw new Error(`${wanted.name}@${wanted.version} does not have the hash of the lock file`)
}
