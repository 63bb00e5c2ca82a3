import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

/**
 * `npm run lock`, after every change of a dependency. A registry mirror may not carry a tool's binary package for every
 * platform; npm then leaves it out of the lock file, and `npm ci` refuses the file everywhere. This adds the missing
 * entries: exact version, operating system and processor, so that npm skips it where it does not fit. The hash is added
 * for each package that the registry has; test/gates/lock-file.test.ts says which may lack it.
 *
 * It also takes out which Node each package wants: npm leaves an optional package out, without a word, where the Node
 * that installs is not in that range, and everything here runs on the Node that comes with the packages.
 */
type Entry = {
  version?: string
  integrity?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  engines?: unknown
  optionalDependencies?: Record<string, string>
}

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'aix', 'win32']
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'wasm32']
const EXACT_VERSION = /^\d+\.\d+\.\d[\w.-]*$/

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> }
const added: string[] = []
const run = promisify(execFile)
/** The number of requests to the registry at the same time. */
const ASKED_AT_ONCE = 8

/**
 * The hash of a package's file, in the form of Subresource Integrity; undefined where the registry has no such package.
 */
async function integrityOf(name: string, version: string): Promise<string | undefined> {
  const asked = await run('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' }).catch(
    () => undefined,
  )
  return /^sha512-\S+$/.exec(asked?.stdout.trim() ?? '')?.[0]
}

for (const [place, parent] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const known = [`${place}/node_modules/${name}`, `node_modules/${name}`].some((path) => lock.packages[path])
    const words = name.split(/[/-]/)
    const os = SYSTEMS.find((system) => words.includes(system))
    const cpu = PROCESSORS.find((processor) => words.includes(processor))
    if (known || !os || !cpu || !EXACT_VERSION.test(version)) continue
    const libc = words.at(-1) === 'musl' ? 'musl' : words.at(-1) === 'gnu' ? 'glibc' : undefined
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(parent.dev && { dev: true }),
      ...(libc && { libc: [libc] }),
      optional: true,
      os: [os],
    }
    added.push(name)
  }
}
for (const [place, entry] of Object.entries(lock.packages)) if (place.includes('node_modules/')) delete entry.engines
const unpinned = Object.entries(lock.packages)
  .filter(([place, entry]) => place.includes('node_modules/') && entry.version && !entry.integrity)
  .values()
const pinned: string[] = []
const pinInTurn = async () => {
  for (const [place, entry] of unpinned) {
    const name = place.split('node_modules/').at(-1)!
    const integrity = await integrityOf(name, entry.version!)
    if (integrity === undefined) continue
    entry.integrity = integrity
    pinned.push(name)
  }
}
await Promise.all(Array.from({ length: ASKED_AT_ONCE }, pinInTurn))
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
)
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
if (added.length > 0) console.log(`Added to the lock file: ${added.join(', ')}`)
if (pinned.length > 0) console.log(`Pinned by hash: ${pinned.join(', ')}`)
if (added.length + pinned.length === 0) console.log('The lock file is whole.')
