import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
/** All sources of the portal and the public site, besides their dependencies. */
const SOURCES = ['apps/portal', 'apps/site', 'packages/ui', 'packages/contract', 'package-lock.json']
const BUILT = ['apps/portal/dist/index.html', 'apps/site/dist/landing.html']

/** The hash of the sources of the present builds. */
const BUILT_OF = join(ROOT, 'node_modules', '.cache', 'hedgerow', 'web-build')

/** Builds the portal and the public site when their sources have changed, or a build is missing; prints one line. */
export async function ensureWebBuilt(): Promise<void> {
  const sources = await hashOfSources()
  const isBuilt = BUILT.every((path) => existsSync(join(ROOT, path)))
  if (isBuilt && (await readFile(BUILT_OF, 'utf8').catch(() => '')) === sources) return
  console.log(isBuilt ? 'Building the portal again, its sources have changed …' : 'Building the portal …')
  for (const app of ['apps/portal', 'apps/site']) await build(app)
  await mkdir(dirname(BUILT_OF), { recursive: true })
  await writeFile(BUILT_OF, sources)
}

async function build(app: string): Promise<void> {
  const vite = join(createRequire(import.meta.url).resolve('vite/package.json'), '..', 'bin', 'vite.js')
  const builder = spawn(process.execPath, [vite, 'build', app, '--logLevel', 'warn'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // On a terminal the build would draw its progress; its output matters only when it fails.
  const said: Buffer[] = []
  for (const stream of [builder.stdout, builder.stderr]) stream.on('data', (part: Buffer) => said.push(part))
  const [code] = (await once(builder, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${app} could not be built:\n${Buffer.concat(said).toString('utf8')}`)
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const path of (await Promise.all(SOURCES.map(filesOf))).flat()) {
    const content = await readFile(join(ROOT, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(join(ROOT, path))).isDirectory()) return [path]
  const entries = (await readdir(join(ROOT, path))).filter((name) => name !== 'dist' && name !== 'node_modules')
  return (await Promise.all(entries.toSorted().map((name) => filesOf(join(path, name))))).flat()
}
