/**
 * `npm run release`: archives of the hub and of the gateway, each with its own Node, their sums and the signed list.
 * `npm run release -- keys FOLDER` makes the keys. docs/operations/release.md explains both.
 */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rawPublicKey, readPrivateKey, signText, type Release, type ReleaseFile } from '@hedgerow/releases'
import { ensureGatewayUiBuilt, ensureWebBuilt } from '../web-build.ts'
import { build } from './build.ts'
import type { Platform } from './locked-packages.ts'
import { PRODUCTS } from './products.ts'

const ROOT = join(import.meta.dirname, '../..')
const DAY_MS = 86_400_000
const RELEASE_DAYS = 365
const KEYS_DAYS = 730
const PLATFORMS = ['linux-x64', 'linux-arm64']

const USAGE = `Usage: npm run release -- [options]            makes the archives in ./release
       npm run release -- keys FOLDER          makes a root key and a release key

  --into FOLDER          where the archives go (./release)
  --platforms LIST       linux-x64,linux-arm64 unless told; darwin-arm64 and darwin-x64 are untested
  --products LIST        hedgerow-hub,hedgerow-gateway unless told
  --keys FOLDER          signs with release.key of this folder and adds its keys.json
  --compression none     for a try: xz takes two minutes of a core for each archive
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: 'string', default: join(ROOT, 'release') },
    platforms: { type: 'string', default: PLATFORMS.join(',') },
    products: { type: 'string', default: PRODUCTS.map(({ name }) => name).join(',') },
    keys: { type: 'string' },
    compression: { type: 'string', default: 'small' },
    help: { type: 'boolean' },
  },
})

if (values.help) console.log(USAGE)
else if (positionals[0] === 'keys' && positionals[1]) makeKeys(positionals[1])
else if (positionals.length === 0) await makeArchives()
else {
  console.error(USAGE)
  process.exitCode = 2
}

async function makeArchives(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const time = Number(process.env['SOURCE_DATE_EPOCH'] ?? commitTime())
  const compression = values.compression === 'none' ? 'none' : 'small'
  mkdirSync(values.into, { recursive: true })
  await ensureWebBuilt()
  await ensureGatewayUiBuilt()
  const files: ReleaseFile[] = []
  for (const product of PRODUCTS.filter(({ name }) => values.products.split(',').includes(name))) {
    for (const words of values.platforms.split(',')) {
      const [os, cpu] = words.split('-') as [Platform['os'], Platform['cpu']]
      const file = await build(product, { os, cpu }, { version, time, compression, into: values.into })
      console.log(`${file.name}  ${(file.size / 1e6).toFixed(1)} MB`)
      files.push(file)
    }
  }
  writeFileSync(join(values.into, 'SHA256SUMS'), files.map(({ sha256, name }) => `${sha256}  ${name}\n`).join(''))
  if (values.keys === undefined) console.log('Not signed: --keys FOLDER signs.')
  else sign({ version, files, time, keys: values.keys })
}

/** The list of files, signed; its number is the time in minutes, which grows with every release. */
function sign({ version, files, time, keys }: { version: string; files: ReleaseFile[]; time: number; keys: string }) {
  const release: Release = {
    version,
    number: Math.floor(time / 60),
    createdAt: new Date(time * 1000).toISOString(),
    expiresAt: new Date(time * 1000 + RELEASE_DAYS * DAY_MS).toISOString(),
    files,
  }
  const key = readPrivateKey(readFileSync(join(keys, 'release.key'), 'utf8'))
  writeFileSync(join(values.into, 'release.json'), signText('hedgerow release v1', JSON.stringify(release), [key]))
  writeFileSync(join(values.into, 'keys.json'), readFileSync(join(keys, 'keys.json')))
  console.log(`Signed: release.json, number ${release.number}, until ${release.expiresAt}.`)
}

/** The root key signs once, here, and is then kept away from machines with a network. */
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
  console.log(`Made root.key, root.pub, release.key and keys.json in ${folder}. Keep root.key off the network.`)
}

function commitTime(): string {
  return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim()
}
