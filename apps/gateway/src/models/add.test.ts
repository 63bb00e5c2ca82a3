import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../testing/serve-http.ts'
import { knownAnswerModel } from '../../../../test/harness/onnx/known-answers.ts'
import { KNOWN_LABELS } from '../../testing/known-model.ts'
import { addModelToDevice, listDeviceModels } from '../cli/models.ts'
import { modelsFolder } from './store.ts'

const SIZE = { width: 96, height: 64 }
const MODEL = knownAnswerModel('yolox', { size: SIZE })
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const MANIFEST = {
  name: 'known',
  url: 'files/known.onnx',
  sha256: sha256Of(MODEL),
  licence: { name: 'CC0-1.0' },
  layout: 'yolox',
  size: SIZE,
  labels: KNOWN_LABELS,
}

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-models-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

/** A site that serves a manifest and the bytes that it names. */
const site = (manifest: object = MANIFEST, bytes = MODEL) =>
  serveHttp(({ url }, response) => {
    if (url === '/models/manifest.json') response.end(JSON.stringify(manifest))
    else if (url === '/models/files/known.onnx') response.end(bytes)
    else response.writeHead(404).end('<title>Not found</title>')
  })

async function add(what: string, options: { yes?: boolean; from?: string; sha256?: string; accept?: string } = {}) {
  const told: string[] = []
  const asked: string[] = []
  const outcome = await addModelToDevice({
    what,
    from: options.from,
    sha256: options.sha256,
    acceptedLicence: options.accept,
    dataDir,
    print: (line) => void told.push(line),
    confirm: async (question) => (asked.push(question), options.yes ?? false),
  })
  return { ...outcome, told, asked }
}

const files = () => readdir(modelsFolder(dataDir)).catch(() => [])

test('a manifest of one’s own: licence shown and accepted, bytes fetched and compared, then listed', async () => {
  const origin = await site()
  const { text, isDone, told, asked } = await add(`${origin}/models/manifest.json`, { yes: true })
  expect([isDone, text]).toEqual([true, expect.stringContaining(`known is added, SHA-256 ${MANIFEST.sha256}`)])
  expect(told).toEqual([`known: yolox, 96 x 64, from ${origin}/models/files/known.onnx`])
  expect(asked).toEqual(['known has the licence CC0-1.0. Do you accept it?'])
  expect((await files()).toSorted()).toEqual([`${MANIFEST.sha256}.onnx`, 'known.json'].toSorted())
  const list = await listDeviceModels(dataDir)
  expect(list).toMatchObject({ isDone: true, text: expect.stringContaining('known: yolox, 96 x 64, CC0-1.0, 0.0 MB') })
  expect(list.text).toContain('ssdlite-coco: 300 x 300, Apache-2.0, 16.9 MB by npm, https://')
  expect(list.text).toContain('d-fine-n: 640 x 640, Apache-2.0, export it: --from FILE, not tried, https://')
})

test('a manifest on the disk names its file beside it, wherever the command runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-manifest-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'files'))
  await writeFile(join(folder, 'files', 'known.onnx'), MODEL)
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(MANIFEST))
  const { text, isDone, told } = await add(join(folder, 'manifest.json'), { yes: true })
  expect([isDone, text]).toEqual([true, expect.stringContaining('known is added')])
  expect(told).toEqual([`known: yolox, 96 x 64, from ${join(folder, 'files', 'known.onnx')}`])
})

test('in a script the licence is accepted by its name, and by no other', async () => {
  const origin = await site()
  const refused = await add(`${origin}/models/manifest.json`, { accept: 'MIT' })
  expect(refused).toMatchObject({
    isDone: false,
    text: expect.stringMatching(/--accept-licence CC0-1\.0.*\(licence_not_accepted\)/),
  })
  expect(await files()).toEqual([])
  expect(await add(`${origin}/models/manifest.json`, { accept: 'CC0-1.0' })).toMatchObject({ isDone: true })
})

test('an unknown hash is shown, and pinned by a person who trusts it', async () => {
  const path = join(dataDir, 'own.json')
  const { sha256, ...unpinned } = MANIFEST
  await writeFile(path, JSON.stringify({ ...unpinned, url: join(dataDir, 'own.onnx') }))
  await writeFile(join(dataDir, 'own.onnx'), MODEL)
  const refused = await add(path, { accept: 'CC0-1.0' })
  expect(refused).toMatchObject({ isDone: false, text: expect.stringContaining(`--sha256 ${sha256}`) })
  expect(refused.text).toContain('(sha256_needed)')
  expect(await files()).toEqual([])
  expect(await add(path, { accept: 'CC0-1.0', sha256: sha256.toUpperCase() })).toMatchObject({ isDone: true })
  expect(JSON.parse(await readFile(join(modelsFolder(dataDir), 'known.json'), 'utf8'))).toMatchObject({ sha256 })
})

test('why a manifest or a file cannot be read is said in words', async () => {
  const withoutTls = `${(await site()).replace('http:', 'https:')}/models/manifest.json`
  expect((await add(withoutTls)).text).toContain('manifest.json cannot be read: it does not speak TLS. (model_not_f')
  const missing = join(dataDir, 'missing.json')
  expect((await add(missing)).text).toContain(`${missing} cannot be read: there is no such file. (model_not_fetched)`)
  const unknownSet = `${await site({ ...MANIFEST, labels: 'coco99' })}/models/manifest.json`
  expect((await add(unknownSet)).text).toContain(
    'labels: A list of 1 to 1,000 labels or null, or one of coco80, coco91.',
  )
})

test('a model known by name without an address needs that of its file', async () => {
  expect(await add('d-fine-n', { yes: true })).toMatchObject({
    text: expect.stringContaining('(model_address_needed)'),
  })
  const path = join(dataDir, 'other.onnx')
  await writeFile(path, MODEL)
  expect(await add('yolox-nano', { yes: true, from: path })).toMatchObject({
    isDone: false,
    text: expect.stringMatching(/takes \[1, 3, 64, 96\].*\(model_shape\)/),
  })
  expect(await files()).toEqual([])
})

describe('a failure leaves the earlier model', () => {
  beforeEach(async () => {
    await add(`${await site()}/models/manifest.json`, { yes: true })
  })

  /** Returns the code of the failure, if the earlier model is still there and nothing else. */
  async function failureOf(origin: string): Promise<string | undefined> {
    const before = (await files()).toSorted()
    const { text, isDone } = await add(`${origin}/models/manifest.json`, { yes: true })
    expect(isDone).toBe(false)
    expect((await files()).toSorted()).toEqual(before)
    expect(await listDeviceModels(dataDir)).toMatchObject({ isDone: true })
    return /\((\w+)\)$/.exec(text)?.[1]
  }

  test('other bytes than the manifest says', async () => {
    expect(await failureOf(await site(MANIFEST, Buffer.from('another')))).toBe('model_hash_mismatch')
  })

  test('a file that is no model', async () => {
    const bytes = Buffer.from('<!doctype html>')
    expect(await failureOf(await site({ ...MANIFEST, sha256: sha256Of(bytes) }, bytes))).toBe('model_unreadable')
  })

  test('a model of another shape', async () => {
    const bytes = knownAnswerModel('yolov8', { size: SIZE })
    expect(await failureOf(await site({ ...MANIFEST, sha256: sha256Of(bytes) }, bytes))).toBe('model_shape')
  })

  test('a name that the eye has another meaning for', async () => {
    for (const name of ['none', 'demonstration'])
      expect(await failureOf(await site({ ...MANIFEST, name }))).toBe('model_manifest_invalid')
  })

  test('an invalid manifest', async () => {
    expect(await failureOf(await site({ ...MANIFEST, layout: 'yolov4' }))).toBe('model_manifest_invalid')
    expect(await failureOf(await site({ ...MANIFEST, name: '../../keys' }))).toBe('model_manifest_invalid')
  })

  test('an address without the file, and one without a server', async () => {
    expect(await failureOf(await site({ ...MANIFEST, url: 'nothing.onnx' }))).toBe('model_not_fetched')
    expect(await failureOf(await site({ ...MANIFEST, url: 'http://127.0.0.1:9/known.onnx' }))).toBe('model_not_fetched')
  })

  test('an answer that breaks off', async () => {
    const origin = await serveHttp(({ url }, response) => {
      if (url?.endsWith('.json')) {
        response.end(JSON.stringify(MANIFEST))
        return
      }
      response.writeHead(200, { 'content-length': MODEL.length })
      response.write(MODEL.subarray(0, 100), () => response.destroy())
    })
    expect(await failureOf(origin)).toBe('model_not_fetched')
  })
})

test('another version of a model takes its place, and the old bytes are deleted', async () => {
  await add(`${await site()}/models/manifest.json`, { yes: true })
  const bytes = knownAnswerModel('yolox', { size: SIZE, batch: 'n' })
  await add(`${await site({ ...MANIFEST, sha256: sha256Of(bytes) }, bytes)}/models/manifest.json`, { yes: true })
  expect((await files()).toSorted()).toEqual([`${sha256Of(bytes)}.onnx`, 'known.json'].toSorted())
})
