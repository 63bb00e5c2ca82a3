import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(import.meta.dirname, '..')
/** Everything that the portal and the public site are made of, besides their dependencies. */
const SOURCES = ['apps/portal', 'apps/site', 'packages/ui', 'packages/contract', 'package-lock.json']
const BUILT = ['apps/portal/dist/index.html', 'apps/site/dist/landing.html']

/** Builds the portal and the public site when a source is newer than a build, or one is missing; says so in one line. */
export async function ensureWebBuilt(): Promise<void> {
  const built = Math.min(...(await Promise.all(BUILT.map(changedAtMs))))
  const changed = Math.max(...(await Promise.all(SOURCES.map(newestAtMs))))
  if (built >= changed) return
  console.log(built === 0 ? 'Building the portal …' : 'Building the portal again, its sources have changed …')
  for (const app of ['apps/portal', 'apps/site']) await build(app)
}

async function build(app: string): Promise<void> {
  const vite = join(fileURLToPath(import.meta.resolve('vite/package.json')), '..', 'bin', 'vite.js')
  const builder = spawn(process.execPath, [vite, 'build', app, '--logLevel', 'warn'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // On a terminal the build would draw its progress; what it says matters only when it fails.
  const said: Buffer[] = []
  for (const stream of [builder.stdout, builder.stderr]) stream.on('data', (part: Buffer) => said.push(part))
  const [code] = (await once(builder, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${app} could not be built:\n${Buffer.concat(said).toString('utf8')}`)
}

async function changedAtMs(path: string): Promise<number> {
  return (await stat(join(ROOT, path)).catch(() => undefined))?.mtimeMs ?? 0
}

async function newestAtMs(path: string): Promise<number> {
  const own = await stat(join(ROOT, path))
  if (!own.isDirectory()) return own.mtimeMs
  const entries = (await readdir(join(ROOT, path))).filter((name) => name !== 'dist' && name !== 'node_modules')
  return Math.max(0, ...(await Promise.all(entries.map((name) => newestAtMs(join(path, name))))))
}
