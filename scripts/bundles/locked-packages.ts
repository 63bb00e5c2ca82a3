/** Packages of the lock file: what a package needs on a platform, and its files, checked against the lock's hashes. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, 'node_modules/.cache/hedgerow/packages')
const run = promisify(execFile)

export type Platform = { os: 'linux' | 'darwin' | 'win32'; cpu: 'x64' | 'arm64' }

type Entry = {
  version: string
  integrity?: string
  license?: string
  os?: string[]
  cpu?: string[]
  libc?: string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

export type LockedPackage = { name: string; version: string; integrity: string; license: string }

/** Packages whose package.json names no licence; each has one in a file. */
const NAMED_IN_A_FILE: Record<string, string> = { suncalc: 'BSD-2-Clause' }

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> }

/** A package that the lock file has at its top. Throws for another. */
export function lockedPackage(name: string): LockedPackage {
  const entry = lock.packages[`node_modules/${name}`]
  if (!entry) throw new Error(`the lock file has no package ${name} at its top`)
  const license = entry.license ?? NAMED_IN_A_FILE[name] ?? 'unknown'
  return { name, version: entry.version, integrity: entry.integrity ?? '', license }
}

/** These packages and all that they need on this platform. */
export function closure(names: readonly string[], platform: Platform): LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  const visit = (name: string): void => {
    const entry = lock.packages[`node_modules/${name}`]
    if (!entry || found.has(name) || !fits(entry, platform)) return
    found.set(name, lockedPackage(name))
    for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) visit(next)
  }
  for (const name of names) visit(name)
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const fits = ({ os, cpu, libc }: Entry, platform: Platform): boolean =>
  (!os || os.includes(platform.os)) &&
  (!cpu || cpu.includes(platform.cpu)) &&
  (!libc || platform.os !== 'linux' || libc.includes('glibc'))

/** Unpacks a package into `folder`. What does not have the lock file's hash is refused. */
export async function unpack(wanted: LockedPackage, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', await archiveOf(wanted), '-C', folder, '--strip-components=1', '--no-same-owner'])
}

async function archiveOf({ name, version, integrity }: LockedPackage): Promise<string> {
  const file = join(CACHE, `${name.replace('/', '-').replace('@', '')}-${version}.tgz`)
  if (!existsSync(file)) {
    const fetched = `${file}.${process.pid}`
    await mkdir(fetched, { recursive: true })
    const { stdout } = await run('npm', ['pack', `${name}@${version}`, '--json', '--pack-destination', fetched], {
      cwd: ROOT,
    })
    // npm 10 answers with a list, npm 11 and later with an object.
    const answer = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>)
    await rename(join(fetched, answer[0]!.filename.replace('/', '-').replace('@', '')), file)
    await rm(fetched, { recursive: true })
  }
  const hash = `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`
  if (hash === integrity) return file
  await rm(file)
  throw new Error(`${name}@${version} does not have the hash of the lock file`)
}
