import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm run lock`, after every change of a dependency. A registry mirror may not carry a tool's binary package for every
 * platform; npm then leaves it out of the lock file, and `npm ci` refuses the file everywhere. This adds what is
 * missing: exact version, operating system and processor, so that npm skips it where it does not fit.
 */
type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'aix', 'win32']
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'wasm32']
const EXACT_VERSION = /^\d+\.\d+\.\d+[\w.-]*$/

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> }
const added: string[] = []
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
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
)
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'The lock file is whole.' : `Added to the lock file: ${added.join(', ')}`)
