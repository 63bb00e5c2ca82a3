import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { RED_CLASS, SCORE } from '../../../../test/harness/onnx/known-answers.ts'
import { KNOWN_LABELS, putKnownModel, redRectangle } from '../../testing/known-model.ts'
import { openModel } from './model.ts'

const run = promisify(execFile)

let folder: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'hedgerow-models-')), 'models')
})
afterEach(() => rm(join(folder, '..'), { recursive: true }))

function open(name = 'known') {
  const model = openModel({ folder, name, threads: 1, leastScore: 0.1, log: pino({ level: 'silent' }), clock: () => 0 })
  onTestFinished(() => model.stop())
  return model
}

const redPicture = () => redRectangle(192, 128, { x: 48, y: 32, width: 96, height: 64 })

test('a model runs in a thread of its own, and its classes have our labels', async () => {
  await putKnownModel(folder)
  const model = open()
  const seen = await model.look('orchard', [redPicture()])
  expect(seen).toEqual([[{ box: expect.anything() as unknown, label: 'boar', score: SCORE }]])
  expect(seen![0]![0]!.box.x).toBeCloseTo(0.25, 5)
  expect(model.problems()).toEqual([])
  expect(model.inferenceMs()).toBeGreaterThan(0)
})

test('a class without a label is not reported', async () => {
  await putKnownModel(folder, { labels: KNOWN_LABELS.with(RED_CLASS, null) })
  expect(await open().look('orchard', [redPicture()])).toEqual([[]])
})

test('of each camera only the newest picture waits, and one that sends many gets no more than its turn', async () => {
  await putKnownModel(folder)
  const model = open()
  const order: string[] = []
  const ask = (camera: string, mark: string) =>
    model.look(camera, [redPicture()]).then((seen) => order.push(`${mark} ${seen ? 'looked' : 'dropped'}`))
  const all = [ask('busy', 'busy 1')]
  for (let i = 2; i <= 9; i++) all.push(ask('busy', `busy ${i}`))
  all.push(ask('quiet', 'quiet 1'), ask('busy', 'busy 10'))
  await Promise.all(all)
  expect(order.filter((line) => line.endsWith('looked'))).toEqual(['busy 10 looked', 'quiet 1 looked'])
  expect(order).toHaveLength(11)
  expect(model.problems()).toEqual([
    'The model known is too slow for its cameras: it looked at 2 of 11 pictures in the last 10 s.',
  ])
})

test.each([
  ['that nobody added', undefined, 'model_unknown'],
  ['with a name that leads elsewhere', undefined, 'model_unknown', '../known'],
  ['whose file is something else', { bytes: Buffer.from('no model') }, 'model_unreadable'],
  ['whose file was changed', { sha256: '0'.repeat(64) }, 'model_hash_mismatch'],
])('a model %s is a problem in words, and no caller waits for it', async (_what, given, code, name = 'known') => {
  if (given) await putKnownModel(folder, given)
  const model = open(name)
  await expect.poll(() => model.problems()).toEqual([expect.stringContaining(`(${code})`)])
  expect(await model.look('orchard', [redPicture()])).toBeUndefined()
})

test('a model that is added while the device runs takes effect', async () => {
  await putKnownModel(folder, { bytes: Buffer.from('no model') })
  const model = open()
  await expect.poll(() => model.problems()).toEqual([expect.stringContaining('model_unreadable')])
  await putKnownModel(folder)
  await expect.poll(() => model.problems()).toEqual([])
  await expect.poll(() => model.look('orchard', [redPicture()])).toMatchObject([[{ label: 'boar' }]])
})

test('a model that is stopped answers waiting callers', async () => {
  await putKnownModel(folder)
  const model = open()
  const asked = model.look('orchard', [redPicture()])
  await model.stop()
  await expect(asked).resolves.toBeUndefined()
})

test('a model may be stopped at any moment while its thread loads the runtime and the model', async () => {
  await putKnownModel(folder)
  for (let afterMs = 0; afterMs <= 200; afterMs += 40) {
    const model = open()
    await sleep(afterMs)
    await model.stop()
  }
  expect(await open().look('orchard', [redPicture()])).toMatchObject([[{ label: 'boar' }]])
})

/** Loaded before a program, also in its threads, so that it finds no ONNX Runtime. */
const WITHOUT_RUNTIME = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'onnxruntime-node') throw new Error('not installed')
      return next(specifier, context)
    },
  })
`)}`

test('a device without ONNX Runtime runs, and says what it lacks', async () => {
  await putKnownModel(folder)
  const program = `
    import { setTimeout } from 'node:timers/promises'
    import { openModel } from ${JSON.stringify(new URL('./model.ts', import.meta.url).href)}
    const log = { info() {}, error() {} }
    const model = openModel({ folder: ${JSON.stringify(folder)}, name: 'known', threads: 1, leastScore: 0.1, log })
    while (model.problems().length === 0) await setTimeout(20)
    console.log(model.problems()[0])
    await model.stop()
  `
  const { stdout } = await run(process.execPath, ['--import', WITHOUT_RUNTIME, '-e', program])
  expect(stdout).toMatch(/^Models need the package onnxruntime-node, .*\(runtime_missing\)\n$/)
})
