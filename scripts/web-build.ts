import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { putInPlace } from './put-in-place.ts'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, 'node_modules/.cache/hedgerow')
/** The shared sources of every build, besides its own folder. */
const SHARED = ['packages/ui', 'packages/contract', 'package-lock.json', 'scripts/web-build.ts']

type Build = {
  title: string
  apps: readonly { folder: string; page: string }[]
  /** Other folders with sources of this build. */
  from?: readonly string[]
}

const ofHub: Build = {
  title: 'the portal',
  apps: [
    { folder: 'apps/portal', page: 'index.html' },
    { folder: 'apps/public', page: 'landing.html' },
  ],
  // The portal shows the help from there.
  from: ['docs'],
}
const ofGateway: Build = {
  title: "the gateway's pages",
  apps: [{ folder: 'apps/gateway-ui', page: 'index.html' }],
}

/** The portal and the public site. */
export const ensureWebBuilt = (): Promise<void> => ensureBuilt(ofHub)
/** The device's own interface. */
export const ensureGatewayUiBuilt = (): Promise<void> => ensureBuilt(ofGateway)

/** Builds all pages, whether or not they are there. */
export async function buildWeb(): Promise<void> {
  for (const one of [ofHub, ofGateway]) await buildNow(one, `Building ${one.title} …`)
}

/** Builds when the sources have changed or there is no build; prints one line. */
async function ensureBuilt(one: Build): Promise<void> {
  const isBuilt = one.apps.every(({ folder, page }) => existsSync(join(ROOT, folder, 'dist', page)))
  if (isBuilt && (await readFile(markOf(one), 'utf8').catch(() => '')) === (await sourcesOf(one))) return
  await buildNow(one, isBuilt ? `Building ${one.title} again, the sources have changed …` : `Building ${one.title} …`)
}

async function buildNow(one: Build, words: string): Promise<void> {
  console.log(words)
  const sources = await sourcesOf(one)
  for (const { folder } of one.apps) await build(folder)
  await mkdir(CACHE, { recursive: true })
  await writeFile(markOf(one), sources)
}

const sourcesOf = ({ apps, from = [] }: Build): Promise<string> =>
  hashOf([...apps.map(({ folder }) => folder), ...from, ...SHARED])

/** The file with the hash of the sources of the existing build. */
const markOf = ({ apps }: Build): string => join(CACHE, `build-${apps[0]!.folder.replace('apps/', '')}`)

async function build(app: string): Promise<void> {
  const vite = join(createRequire(import.meta.url).resolve('vite/package.json'), '..', 'bin', 'vite.js')
  const made = join(CACHE, `${app.replace('apps/', '')}-${process.pid}`)
  const builder = spawn(
    process.execPath,
    [vite, 'build', app, '--logLevel', 'warn', '--outDir', made, '--emptyOutDir'],
    {
      cwd: ROOT,
      // Overrides the tests' own value, which would give React's slow development build.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  // On a terminal the build would draw its progress; its output matters only when it fails.
  const output: Buffer[] = []
  for (const stream of [builder.stdout, builder.stderr]) stream.on('data', (part: Buffer) => output.push(part))
  const [code] = (await once(builder, 'close')) as [number | null]
  if (code === 0) return putInPlace(made, join(ROOT, app, 'dist'))
  await rm(made, { recursive: true, force: true })
  throw new Error(`${app} could not be built:\n${Buffer.concat(output).toString('utf8')}`)
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of (await Promise.all(paths.map(filesOf))).flat()) {
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
