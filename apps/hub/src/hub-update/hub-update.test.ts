import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getVersions, hubProblems } from '@hedgerow/contract'
import { NO_PROGRESS } from '@hedgerow/http'
import { rawPublicKey, signText, type Release } from '@hedgerow/releases'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createHubUpdate } from './hub-update.ts'
import { readInstallation, type Installation } from './installation.ts'
import { fetchHub as fetchWith, findNewer } from './newer-release.ts'
import { openSeen } from './seen.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey
const [root, releaseKey, stranger] = [newKey(), newKey(), newKey()]
const platform = `${process.platform}-${process.arch}`
const archive = { name: `hedgerow-hub-0.2.0-${platform}.tar.xz`, bytes: Buffer.alloc(40_000, 'hub') }
const debian = {
  name: `hedgerow-hub_0.2.0_${process.arch === 'x64' ? 'amd64' : 'arm64'}.deb`,
  bytes: Buffer.from('deb'),
}
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const installation: Installation = { version: '0.1.0', number: 7, keysNumber: 3, rootKey: rawPublicKey(root) }

const base = mkdtempSync(join(tmpdir(), 'hub-update-'))
let folder: string
let into: string
let url: string
beforeEach(() => {
  folder = mkdtempSync(join(base, 'release-'))
  into = mkdtempSync(join(base, 'into-'))
  url = pathToFileURL(folder).href
  write({})
})
afterAll(() => rmSync(base, { recursive: true }))

type Change = { keys?: object; release?: Partial<Release>; by?: KeyObject; sumsBy?: KeyObject }

function write({ keys, release, by = releaseKey, sumsBy = releaseKey }: Change): void {
  const file = { product: 'hedgerow-hub', platform, name: archive.name, size: archive.bytes.length }
  const content = {
    version: '0.2.0',
    number: 8,
    createdAt: '2026-11-22T10:00:00Z',
    expiresAt: '2027-11-22T10:00:00Z',
    files: [{ ...file, sha256: sha256Of(archive.bytes) }],
    ...release,
  }
  const list = { number: 3, expiresAt: '2027-11-22T00:00:00Z', keys: [rawPublicKey(releaseKey)], ...keys }
  const sums = Buffer.from(`${sha256Of(debian.bytes)}  ${debian.name}\n`)
  const files = {
    'keys.json': signText('hedgerow release keys v1', JSON.stringify(list), [root]),
    'release.json': signText('hedgerow release v1', JSON.stringify(content), [by]),
    SHA256SUMS: sums,
    'SHA256SUMS.sig': sign(null, sums, sumsBy),
    [archive.name]: archive.bytes,
    [debian.name]: debian.bytes,
  }
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
}

const find = (change: Partial<Parameters<typeof findNewer>[0]> = {}) =>
  findNewer({
    url,
    rootKey: undefined,
    installation,
    seen: openSeen(join(into, '..', `${basename(into)}-seen.json`)),
    clock: () => NOW,
    ...change,
  })
const fetchHub = (newer: Parameters<typeof fetchWith>[0], form: 'archive' | 'deb', to: string) =>
  fetchWith(newer, form, to, NO_PROGRESS)

describe('a newer version of the hub', () => {
  it('is a release with a higher number; of the sources, one with a higher version', async () => {
    expect((await find())?.release.version).toBe('0.2.0')
    expect(await find({ installation: { ...installation, number: 8 } })).toBeUndefined()
    expect(await find({ installation: { ...installation, number: 9 } })).toBeUndefined()
    const sources = { ...installation, number: 0, keysNumber: 0 }
    expect((await find({ installation: { ...sources, version: '0.1.10' } }))?.release.version).toBe('0.2.0')
    expect(await find({ installation: { ...sources, version: '0.10.0' } })).toBeUndefined()
  })

  it.each<[string, Change]>([
    ['is signed by nobody who is known', { by: stranger }],
    ['has expired', { release: { expiresAt: '2026-11-22T11:00:00Z' } }],
    ['comes with an older list of keys', { keys: { number: 2 } }],
  ])('is ignored when it %s', async (_, change) => {
    write(change)
    await expect(find()).rejects.toThrow(/key|expired|older/)
  })

  it('needs a root key: of the installation, or one that is set', async () => {
    const keyless = { ...installation, rootKey: undefined }
    await expect(find({ installation: keyless })).rejects.toThrow('HUB_UPDATES_KEY')
    expect(await find({ installation: keyless, rootKey: rawPublicKey(root) })).toBeDefined()
    await expect(find({ rootKey: rawPublicKey(stranger) })).rejects.toThrow('No root key')
  })

  it.each([
    ['archive', archive],
    ['deb', debian],
  ] as const)('is fetched as %s when it has the signed hash, and not at all otherwise', async (form, file) => {
    const newer = (await find())!
    const path = await fetchHub(newer, form, into)
    expect(basename(path)).toBe(file.name)
    expect(readFileSync(path).equals(file.bytes)).toBe(true)
    rmSync(path)
    writeFileSync(join(folder, file.name), Buffer.concat([file.bytes, Buffer.from('x')]))
    await expect(fetchHub(newer, form, into)).rejects.toThrow('does not have the hash')
    expect(readdirSync(into)).toEqual([])
  })

  it('is no Debian package of somebody else', async () => {
    write({ sumsBy: stranger })
    await expect(fetchHub((await find())!, 'deb', into)).rejects.toThrow('SHA256SUMS')
  })

  it('is found and fetched over HTTP, and says what the server answered', async () => {
    const server = createServer((request, response) => {
      const name = basename(request.url!)
      if (request.url !== `/of/hedgerow/${name}` || name === 'keys.json?') return response.writeHead(404).end()
      return response.end(readFileSync(join(folder, name)))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      const newer = (await find({ url: `${address}/of/hedgerow` }))!
      expect(readFileSync(await fetchHub(newer, 'archive', into)).equals(archive.bytes)).toBe(true)
      await expect(find({ url: `${address}/elsewhere` })).rejects.toThrow(`${address}/elsewhere/keys.json answered 404`)
    } finally {
      server.close()
    }
    await expect(find({ url: `${address}/of/hedgerow` })).rejects.toThrow('ECONNREFUSED')
  })
})

describe('a clock that was set back', () => {
  const YEARS = 3 * 365 * 86_400_000
  const behind = () => NOW - YEARS
  const expired = { release: { expiresAt: '2026-11-22T11:00:00Z' } }

  async function served<T>(date: number, look: (address: string) => Promise<T>): Promise<T> {
    const server = createServer((request, response) => {
      response.setHeader('Date', new Date(date).toUTCString())
      response.end(readFileSync(join(folder, basename(request.url!))))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      return await look(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    } finally {
      server.close()
    }
  }

  it('revives no release after a newer one was seen, or where the server’s clock is right', async () => {
    write(expired)
    await served(NOW, (address) => expect(find({ url: address, clock: behind })).rejects.toThrow('has expired'))
    write({ release: { createdAt: '2026-11-22T11:30:00Z' } })
    await find()
    write(expired)
    await expect(find({ clock: behind })).rejects.toThrow('The release has expired')
  })

  it('revives none where the running version was made later, or both clocks were there before', async () => {
    write(expired)
    const number = Date.parse('2026-11-22T11:30:00Z') / 1000
    const newer = { ...installation, number }
    await expect(find({ clock: behind, installation: newer })).rejects.toThrow('The release has expired')
    write({})
    await served(NOW, (address) => find({ url: address }))
    write(expired)
    await expect(find({ clock: behind })).rejects.toThrow('The release has expired')
  })

  it('brings no older list of keys back, and one that leapt ahead alone keeps nothing', async () => {
    write({ keys: { number: 4 } })
    await find()
    write({ keys: { number: 3 } })
    await expect(find({ clock: behind })).rejects.toThrow('older than one that was seen')
    write({ keys: { number: 4 } })
    await expect(find({ clock: () => NOW + 40 * YEARS })).rejects.toThrow('has expired')
    expect((await find())?.release.version).toBe('0.2.0')
  })
})

it('what was seen is written through no link that waits under a name of ours', () => {
  const [path, target] = [join(into, 'seen.json'), join(into, 'precious')]
  writeFileSync(target, '')
  for (const name of [path, `${path}.${process.pid}`]) symlinkSync(target, name)
  const seen = { rootKey: rawPublicKey(root), keys: 4, passed: NOW }
  openSeen(path).keep(seen)
  expect([readFileSync(target, 'utf8'), openSeen(path).read(seen.rootKey)]).toEqual(['', seen])
  // Where nothing can be written, and where a folder has the name, nothing happens.
  for (const other of [join(target, 'seen.json'), into]) openSeen(other).keep(seen)
  expect(readdirSync(base).filter((name) => name.startsWith(basename(into)))).toEqual([basename(into)])
  expect(readdirSync(into).toSorted()).toEqual(['precious', 'seen.json', `seen.json.${process.pid}`])
})

it('is logged once, and a failed check keeps the last result', async () => {
  const lines: string[] = []
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => lines.push((JSON.parse(line) as { msg: string }).msg) },
  )
  const update = createHubUpdate({
    source: { url, rootKey: undefined },
    dataDir: into,
    installation,
    clock: () => NOW,
    log,
  })
  expect(update.status()).toMatchObject({ version: '0.1.0', isChecked: true, newer: null, checkedAt: null })
  await update.look()
  await update.look()
  expect(update.status()).toMatchObject({ newer: { version: '0.2.0' }, problem: null })
  expect(lines).toEqual(['there is a newer version of the hub'])
  rmSync(join(folder, 'keys.json'))
  await update.look()
  expect(update.status()).toMatchObject({ newer: { version: '0.2.0' }, problem: expect.stringContaining('keys.json') })
  write({ release: { number: 7 } })
  await update.look()
  expect(update.status()).toMatchObject({ newer: null, problem: null })
  await update.stop()
})

describe('a hub with an address to look at', () => {
  let hub: TestHub
  beforeEach(async () => {
    write({
      release: { version: '9.0.0', expiresAt: '2099-01-01T00:00:00Z' },
      keys: { expiresAt: '2099-01-01T00:00:00Z' },
    })
    hub = await startTestHub('sqlite', { updates: { url, rootKey: rawPublicKey(root) } })
  })
  afterEach(() => hub.stop())

  it('tells everybody on the dashboard, and managers among the versions', async () => {
    const get = async (path: string, role: 'user' | 'manager') =>
      (
        await hub.app.inject({
          url: `/api${path}`,
          headers: { authorization: `Bearer ${await hub.signIn(role)}` },
        })
      ).json()
    expect(await get(hubProblems.path, 'user')).toEqual([])
    await hub.hubUpdate.look()
    expect(await get(hubProblems.path, 'user')).toEqual([
      { part: 'update', message: expect.stringMatching(/^Version 9\.0\.0 of the hub is available; this is \d/) },
    ])
    expect((await get(getVersions.path, 'manager')).hub).toMatchObject({ isChecked: true, newer: { version: '9.0.0' } })
  })
})

it('an archive says which release it is, and who may sign the next one', () => {
  const unpacked = join(base, 'unpacked')
  mkdirSync(unpacked)
  writeFileSync(join(unpacked, 'version.json'), JSON.stringify({ version: '0.1.0', number: 7 }))
  expect(readInstallation(unpacked)).toEqual({ version: '0.1.0', number: 7, keysNumber: 0, rootKey: undefined })
  writeFileSync(join(unpacked, 'root.pub'), `${rawPublicKey(root)}\n`)
  writeFileSync(join(unpacked, 'keys.json'), readFileSync(join(folder, 'keys.json')))
  expect(readInstallation(unpacked)).toEqual(installation)
})
