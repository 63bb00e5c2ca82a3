/**
 * `npm run release`: the hub and the gateway, each with its own Node, as archives and in other forms, their sums and
 * the signed list. `npm run release -- keys FOLDER` makes the keys. docs/operations/release.md explains both.
 */
import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, sign as signBytes, type KeyObject } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import {
  namedRelease,
  rawPublicKey,
  readPrivateKey,
  signText,
  type Release,
  type ReleaseFile,
} from '@hedgerow/releases'
import { openProgress } from '@hedgerow/http'
import { ensureGatewayUiBuilt, ensureWebBuilt } from '../web-build.ts'
import { writeArchive } from './archive.ts'
import { build, debianArchitecture, unpackNode } from './build.ts'
import { writeDebianPackage } from './debian-package.ts'
import { writeImage } from './image.ts'
import type { Platform } from './locked-packages.ts'
import { DETECTION_MODEL, writeModel } from './model.ts'
import { buildModelRuntime, MODEL_RUNTIME } from './model-runtime.ts'
import { PRODUCTS } from './products.ts'

const ROOT = join(import.meta.dirname, '../..')
const DAY_MS = 86_400_000
const RELEASE_DAYS = 365
const KEYS_DAYS = 730
const PLATFORMS = ['linux-x64', 'linux-arm64']
const UNTESTED_PLATFORMS = ['darwin-arm64', 'darwin-x64', 'win32-x64']
const PRODUCT_NAMES = [...PRODUCTS.map(({ name }) => name), MODEL_RUNTIME, DETECTION_MODEL]
/** The public keys, which the release key signed, and how to check that without this project. */
const KEY_FILES = ['keys.json', 'root.pub', 'root.pem', 'release.pem', 'release.pem.sig']
const FORMS = ['archive', 'deb', 'image']

const USAGE = `Usage: npm run release -- [options]            makes the archives in ./release
       npm run release -- keys FOLDER          makes a root key and a release key

  --into FOLDER          where the files go (./release)
  --platforms LIST       linux-x64,linux-arm64 unless told; ${UNTESTED_PLATFORMS.join(', ')} are untested
  --products LIST        ${PRODUCT_NAMES.join(',')} unless told
  --forms LIST           archive,deb unless told; image needs mmdebstrap and podman
  --keys FOLDER          signs with release.key of this folder and adds its keys.json
  --compression none     for a try: xz takes two minutes of a core for each archive
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: 'string', default: join(ROOT, 'release') },
    platforms: { type: 'string', default: PLATFORMS.join(',') },
    products: { type: 'string', default: PRODUCT_NAMES.join(',') },
    forms: { type: 'string', default: 'archive,deb' },
    keys: { type: 'string' },
    compression: { type: 'string', default: 'small' },
    help: { type: 'boolean' },
  },
})

if (values.help) console.log(USAGE)
else if (positionals[0] === 'keys' && positionals[1]) makeKeys(positionals[1])
else if (positionals.length === 0) await makeRelease()
else wrong(USAGE)

async function makeRelease(): Promise<void> {
  const platforms = chosen('platforms', [...PLATFORMS, ...UNTESTED_PLATFORMS])
  const products = chosen('products', PRODUCT_NAMES)
  const forms = chosen('forms', FORMS)
  const [compression] = chosen('compression', ['small', 'none']) as ['small' | 'none']
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const time = Number(process.env['SOURCE_DATE_EPOCH'] ?? commitTime())
  // It rises with every release.
  const number = time
  const { into } = values
  const earlier = earlierRelease({ version, number })
  mkdirSync(into, { recursive: true })
  console.log(`Version ${version}, number ${number}, in ${into}. Building the pages.`)
  await ensureWebBuilt()
  await ensureGatewayUiBuilt()
  const archives: ReleaseFile[] = []
  const sums: string[] = []
  for (const platform of platforms) {
    const [os, cpu] = platform.split('-') as [Platform['os'], Platform['cpu']]
    const node = await unpackNode({ os, cpu }, into)
    for (const product of PRODUCTS.filter(({ name }) => products.includes(name))) {
      console.log(`Building ${product.name} for ${platform}.`)
      const built = await build(product, { os, cpu }, { version, number, into, node, keys: values.keys })
      if (forms.includes('archive')) {
        const goal = compression === 'none' ? undefined : product.sizeGoal
        const file = await measured(await packed('the archive', writeArchive(built, { time, compression, into })), goal)
        archives.push({ product: product.name, platform, ...file })
      }
      const onDebian = debianArchitecture(platform) === undefined ? [] : forms
      if (onDebian.includes('deb')) {
        await measured(await packed('the Debian package', writeDebianPackage(built, { time, compression, into })))
      }
      if (onDebian.includes('image')) {
        await measured(await packed('the image', writeImage(built, { time, into })))
      }
      rmSync(built.folder, { recursive: true })
    }
    rmSync(node.folder, { recursive: true })
    if (!products.includes(MODEL_RUNTIME) || !forms.includes('archive')) continue
    console.log(`Building ${MODEL_RUNTIME} for ${platform}.`)
    const runtime = await buildModelRuntime({ os, cpu }, { version, into })
    if (!runtime) continue
    await measured(await packed('the archive', writeArchive(runtime, { time, compression, into })))
    rmSync(runtime.folder, { recursive: true })
  }
  if (products.includes(DETECTION_MODEL) && forms.includes('archive')) {
    console.log(`Building ${DETECTION_MODEL}.`)
    await measured(await writeModel({ time, into }))
  }
  const changed = archives.find(({ name, sha256 }) =>
    earlier?.files.some((file) => file.name === name && file.sha256 !== sha256),
  )
  if (changed)
    wrong(`${changed.name} is not the one that release.json names: commit the changes, and raise the version.`)
  writeFileSync(join(into, 'SHA256SUMS'), sums.join(''))
  if (values.keys === undefined) console.log('Not signed: --keys FOLDER signs.')
  else sign({ version, number, files: archives, time, keys: values.keys })

  async function packed(what: string, work: Promise<string>): Promise<string> {
    const often = compression === 'small' ? ', which takes about two minutes' : ''
    console.log(`Packing ${what}${often}.`)
    const progress = openProgress()
    return progress.during(`Packing ${what}`, (seconds) => `${seconds} s`, work).finally(progress.end)
  }

  async function measured(name: string, goal?: number): Promise<{ name: string; size: number; sha256: string }> {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(into, name)), hash)
    const [size, sha256] = [statSync(join(into, name)).size, hash.digest('hex')]
    sums.push(`${sha256}  ${name}\n`)
    const words =
      goal === undefined ? '' : size < goal * 1e6 ? ` (goal: under ${goal})` : ` OVER ITS GOAL of ${goal} MB`
    console.log(`${name}  ${(size / 1e6).toFixed(1)} MB${words}`)
    return { name, size, sha256 }
  }
}

/**
 * The release that is in the folder, when it is this one. Devices and hubs keep versions by their names and numbers:
 * ends the program when the folder has another release of that name, or one that is not older.
 */
function earlierRelease({ version, number }: Pick<Release, 'version' | 'number'>): Release | undefined {
  const path = join(values.into, 'release.json')
  const earlier = existsSync(path) ? namedRelease(readFileSync(path, 'utf8')) : undefined
  if (!earlier || (earlier.version === version && earlier.number === number)) return earlier
  const found = `${values.into} has version ${earlier.version}, number ${earlier.number}`
  if (earlier.version === version)
    wrong(`${found}, of other sources: raise the version in package.json, or name another folder with --into.`)
  if (earlier.number >= number) wrong(`${found}, and this release would not be newer (${number}): commit first.`)
  return undefined
}

/** The words of an option that takes a list; ends the program when one of them is unknown. */
function chosen(option: 'platforms' | 'products' | 'forms' | 'compression', names: readonly string[]): string[] {
  const words = values[option].split(',')
  const unknown = words.filter((word) => !names.includes(word))
  if (unknown.length > 0) wrong(`--${option}: ${unknown.join(', ')} is none of ${names.join(', ')}.`)
  return words
}

function wrong(text: string): never {
  console.error(text)
  process.exit(2)
}

/** Signs the list of files. */
function sign({
  time,
  keys,
  ...content
}: Pick<Release, 'version' | 'number' | 'files'> & { time: number; keys: string }) {
  const release: Release = {
    ...content,
    createdAt: new Date(time * 1000).toISOString(),
    expiresAt: new Date(time * 1000 + RELEASE_DAYS * DAY_MS).toISOString(),
  }
  const key = readPrivateKey(readFileSync(join(keys, 'release.key'), 'utf8'))
  writeFileSync(join(values.into, 'release.json'), signText('hedgerow release v1', JSON.stringify(release), [key]))
  const sums = readFileSync(join(values.into, 'SHA256SUMS'))
  writeFileSync(join(values.into, 'SHA256SUMS.sig'), signBytes(null, sums, key))
  for (const name of KEY_FILES) writeFileSync(join(values.into, name), readFileSync(join(keys, name)))
  console.log(`Signed: SHA256SUMS and release.json, number ${release.number}, until ${release.expiresAt}.`)
}

/** The root key signs once, here; after that it is kept away from machines with a network. */
function makeKeys(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const [root, release] = ['root.key', 'release.key'].map((name) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(join(folder, name), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
    return privateKey
  })
  const keys = {
    number: 1,
    expiresAt: new Date(Date.now() + KEYS_DAYS * DAY_MS).toISOString(),
    keys: [rawPublicKey(release!)],
  }
  writeFileSync(join(folder, 'keys.json'), signText('hedgerow release keys v1', JSON.stringify(keys), [root!]))
  writeFileSync(join(folder, 'root.pub'), `${rawPublicKey(root!)}\n`)
  writeFileSync(join(folder, 'root.pem'), publicPem(root!))
  writeFileSync(join(folder, 'release.pem'), publicPem(release!))
  writeFileSync(join(folder, 'release.pem.sig'), signBytes(null, Buffer.from(publicPem(release!)), root!))
  console.log(`Made root.key, release.key and what devices and people check with. Keep root.key off the network.`)
}

function publicPem(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
}

function commitTime(): string {
  return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim()
}
