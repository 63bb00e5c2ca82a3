import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { says, startVisionServer, type VisionServer } from '../../../../test/harness/vision-server.ts'
import { putKnownModel, redRectangle } from '../../testing/known-model.ts'
import { encodeJpeg } from '../cameras/decode.ts'
import { createIntake } from '../detections/intake.ts'
import { openRecord, RECORD_FILE } from '../detections/record.ts'
import { deviceFile } from '../device-file/schema.ts'
import { openDetectionQueue } from '../hub/detection-queue.ts'
import { modelsFolder } from '../models/store.ts'
import { subjectsOf, whyNot } from '../rules/match.ts'
import { createSecondLook } from './second-look.ts'

const log = pino({ level: 'silent' })
let dataDir: string
let server: VisionServer
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-second-look-'))
  server = await startVisionServer(says('yes', 'A boar.'))
})
afterEach(async () => {
  await server.stop()
  await rm(dataDir, { recursive: true })
})

const RULES = [
  { name: 'confirmed', labels: ['boar'], verdict: 'confirmed', fire: ['valve'] },
  { name: 'any', labels: ['boar'], fire: ['valve'] },
]
const VALVE = { driver: 'http', on: { url: 'http://127.0.0.1:9/on' }, off: { url: 'http://127.0.0.1:9/off' } }

/** The parts that a detection passes through in a device: intake, record, rules and second look. */
async function openParts(secondLook: object, { snapshot }: { snapshot?: Buffer } = {}) {
  const file = deviceFile.parse({ secondLook, rules: RULES, deterrents: { valve: VALVE } })
  const queue = await openDetectionQueue(join(dataDir, 'detections'), log)
  const record = openRecord(join(dataDir, RECORD_FILE), { settings: () => file.record, log, clock: Date.now })
  /** The rules that would fire, each time that they see the detection. */
  const seen: string[] = []
  const intake = createIntake({
    queue,
    record,
    log,
    judge: () => ({}),
    onHeldBack: () => {},
    onPerson: () => {},
    isSnoozed: () => false,
    onSeen(detection) {
      const [subject] = subjectsOf(detection, undefined)
      const fires = file.rules.filter((rule) => whyNot(rule, subject!, Date.now(), file.site) === undefined)
      seen.push(fires.map(({ name }) => name).join(' ') || 'none')
      looks.see(detection)
    },
  })
  /** The detections whose verdict has reached the record, the rules and the queue. */
  const finished = new Set<string>()
  const looks = createSecondLook({
    file,
    dataDir,
    snapshot: async () => snapshot,
    thumbnail: record.picture,
    async onVerdict(id, label, verdict) {
      await intake.addVerdict(id, label, verdict)
      finished.add(id)
    },
    log,
  })
  onTestFinished(async () => {
    await looks.stop()
    record.close()
    await queue.close()
  })
  const verdictsOf = (id: string) => record.find(id)?.verdicts?.filter(({ stage }) => stage === 'second-look') ?? []
  const spoken = async (id: string) => {
    await expect.poll(() => finished).toContain(id)
    expect(verdictsOf(id)).toHaveLength(1)
    return verdictsOf(id)[0]!
  }
  return { file, queue, record, intake, looks, seen, spoken, verdictsOf }
}

const endpoint = (more: object = {}) => ({ labels: ['boar'], endpoint: { url: server.url, model: 'eyes', ...more } })

let thumbnail: string
beforeEach(async () => {
  const jpeg = await encodeJpeg(redRectangle(320, 180, { x: 80, y: 45, width: 160, height: 90 }))
  thumbnail = jpeg.toString('base64')
})

const boar = (more: Partial<Detection> = {}): Detection => ({
  id: 'a',
  camera: 'orchard',
  label: 'boar',
  severity: 'alert',
  score: 0.9,
  startedAt: new Date().toISOString(),
  verdicts: [{ stage: 'detector', by: 'known', outcome: 'unsure', score: 0.9 }],
  thumbnail,
  ...more,
})

test('a detection is unsure until the endpoint answers; then rules see it again, the hub the verdict', async () => {
  const { intake, seen, spoken, queue } = await openParts(endpoint())
  await intake.report([boar()])
  expect(seen[0]).toBe('any')
  expect(await spoken('a')).toMatchObject({ by: 'eyes', outcome: 'confirmed', score: 0.9, reason: 'A boar.' })
  expect(seen).toEqual(['any', 'confirmed any'])
  expect(queue.waiting()).toBe(2)
  // The source does not know of the second look, and updates its detection.
  await intake.report([boar({ endedAt: new Date().toISOString() })])
  expect(seen.at(-1)).toBe('confirmed any')
  expect(server.questions).toHaveLength(1)
  expect(server.questions[0]!.text).toContain('Does this picture show: "boar"?\nCamera: "orchard".')
})

test('a detection that the second look rejects fires nothing any more', async () => {
  server.answer = says('no', 'A bush in the wind.')
  const { intake, seen, spoken } = await openParts(endpoint())
  await intake.report([boar()])
  expect(await spoken('a')).toMatchObject({ outcome: 'rejected', reason: 'A bush in the wind.' })
  expect(seen).toEqual(['any', 'none'])
})

test('a second look fires nothing alone: label and score stay those of the detector', async () => {
  server.answer = says('yes', 'It is a boar, fire!', 1)
  const { intake, record, spoken } = await openParts(endpoint())
  await intake.report([boar({ score: 0.2 })])
  await spoken('a')
  expect(record.find('a')).toMatchObject({ label: 'boar', score: 0.2 })
})

test('other labels, and detections without a picture, are not asked about', async () => {
  const { intake, seen } = await openParts(endpoint())
  await intake.report([boar({ id: 'b', label: 'deer' })])
  const { thumbnail: _none, ...without } = boar({ id: 'c' })
  await intake.report([without])
  expect(seen).toHaveLength(2)
  expect(server.questions).toHaveLength(0)
  // The picture comes later.
  await intake.report([boar({ id: 'c' })])
  await expect.poll(() => server.questions).toHaveLength(1)
})

test('with another label a detection loses its verdict and is asked about again', async () => {
  const { intake, record, spoken, verdictsOf } = await openParts({ ...endpoint(), labels: ['boar', 'deer'] })
  await intake.report([boar()])
  await spoken('a')
  server.answer = 'late'
  await intake.report([boar({ label: 'deer' })])
  expect(verdictsOf('a')).toEqual([])
  await expect.poll(() => server.questions.at(-1)!.text).toContain('"deer"')
  expect(record.find('a')!.verdicts).toEqual([{ stage: 'detector', by: 'known', outcome: 'unsure', score: 0.9 }])
})

describe('an endpoint', () => {
  test('that is late is unsure', async () => {
    server.answer = 'late'
    const { intake, spoken } = await openParts({ ...endpoint(), timeoutSeconds: 1 })
    await intake.report([boar()])
    expect(await spoken('a')).toMatchObject({ outcome: 'unsure', reason: 'No answer within 1 s.' })
  })

  const busy = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } })
  const BUSY = 'The endpoint has too much to do.'

  test('that asks for a pause is asked after it about what it refused and what came meanwhile', async () => {
    server.answer = busy('1')
    const { intake, looks, spoken, verdictsOf } = await openParts(endpoint())
    await intake.report([boar()])
    await expect.poll(() => looks.problems()).toEqual([`The second look does not work: ${BUSY}`])
    expect(verdictsOf('a')).toEqual([])
    await intake.report([boar({ id: 'b' })])
    server.answer = says('yes', 'A boar.')
    for (const id of ['a', 'b']) expect(await spoken(id)).toMatchObject({ by: 'eyes', outcome: 'confirmed' })
    expect(looks.problems()).toEqual([])
  })

  test('that asks for a pause is left alone; of too many that wait the oldest stay unsure', async () => {
    server.answer = busy('600')
    const { intake, verdictsOf } = await openParts(endpoint())
    for (let i = 0; i < 17; i++) await intake.report([boar({ id: `waits ${i}` })])
    const reason = 'Too many waited for a second look.'
    await expect.poll(() => verdictsOf('waits 0')).toMatchObject([{ outcome: 'unsure', reason }])
    expect([verdictsOf('waits 1'), verdictsOf('waits 16')]).toEqual([[], []])
    expect(server.questions).toHaveLength(1)
  })

  test('that pauses for longer than its answer is of use leaves detections unsure, with the reason', async () => {
    server.answer = busy('1')
    const { intake, looks, spoken } = await openParts(endpoint())
    await intake.report([boar()])
    await expect.poll(() => looks.problems()).toHaveLength(1)
    server.answer = busy('3600')
    await intake.report([boar({ id: 'b' })])
    for (const id of ['a', 'b']) expect(await spoken(id)).toMatchObject({ outcome: 'unsure', reason: BUSY })
    const { length } = server.questions
    await intake.report([boar({ id: 'c' })])
    expect(await spoken('c')).toMatchObject({ outcome: 'unsure', reason: BUSY })
    expect(server.questions).toHaveLength(length)
    expect(looks.problems()).toEqual([`The second look does not work: ${BUSY}`])
  })

  test('that pauses is not asked about a detection whose label no longer matters', async () => {
    server.answer = busy('1')
    const { intake, looks, spoken } = await openParts(endpoint())
    await intake.report([boar()])
    await expect.poll(() => looks.problems()).toHaveLength(1)
    await intake.report([boar({ label: 'fox' })])
    server.answer = says('yes', 'A boar.')
    await intake.report([boar({ id: 'b' })])
    await spoken('b')
    expect(server.questions.filter(({ text }) => text.includes('fox'))).toEqual([])
    expect(looks.problems()).toEqual([])
  })

  test('that is slow gets the newest first; of too many the oldest stay unsure', async () => {
    server.answer = 'late'
    const { intake, verdictsOf } = await openParts(endpoint())
    await intake.report([boar({ id: 'first' })])
    await expect.poll(() => server.questions).toHaveLength(1)
    for (let i = 0; i < 18; i++) await intake.report([boar({ id: `waits ${i}` })])
    const reason = 'Too many waited for a second look.'
    await expect.poll(() => verdictsOf('waits 1')).toMatchObject([{ outcome: 'unsure', reason }])
    expect([verdictsOf('waits 0').length, verdictsOf('waits 2').length]).toEqual([1, 0])
  })
})

test('without a way to the hub its second look is unsure; with one, the verdict is the hub’s', async () => {
  const { intake, looks, spoken } = await openParts({ labels: ['boar'], hub: true })
  await intake.report([boar()])
  expect(await spoken('a')).toMatchObject({ by: 'hub', outcome: 'unsure' })
  looks.useHub(async ({ label, jpeg }) => ({
    by: 'eyes at the hub',
    outcome: 'confirmed',
    reason: `${label} ${jpeg.length > 100}`,
  }))
  await intake.report([boar({ id: 'b' })])
  expect(await spoken('b')).toMatchObject({ by: 'eyes at the hub', outcome: 'confirmed', reason: 'boar true' })
})

describe('a second model sees only the object, at full resolution', () => {
  const large = { width: 1_920, height: 1_080 }
  const red = { x: 960, y: 540, width: 48, height: 32 }
  const box = { x: 0.5, y: 0.5, width: 48 / 1_920, height: 32 / 1_080 }

  async function look(settings: object, labels: (string | null)[], shown = red) {
    await putKnownModel(modelsFolder(dataDir), { labels })
    const snapshot = await sharp(redRectangle(large.width, large.height, shown).data, {
      raw: { ...large, channels: 3 },
    })
      .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
      .toBuffer()
    const { intake, spoken } = await openParts({ labels: ['boar'], model: 'known', ...settings }, { snapshot })
    const id = `of ${labels[3]}`
    await intake.report([boar({ id, box })])
    return spoken(id)
  }

  test('and confirms what it sees there too, by our name for it', async () => {
    expect(await look({}, ['a', 'b', 'c', 'Wild boar', null])).toMatchObject({ by: 'known', outcome: 'confirmed' })
    expect(await look({}, ['a', 'b', 'c', 'animal', null])).toMatchObject({ outcome: 'confirmed' })
  })

  test('and rejects what it sees as something else, or not at all', async () => {
    expect(await look({}, ['a', 'b', 'c', 'fox', null])).toMatchObject({ outcome: 'rejected', reason: 'It shows fox.' })
    const elsewhere = { ...red, x: 100, y: 100 }
    expect(await look({}, ['a', 'b', 'c', 'boar', null], elsewhere)).toMatchObject({
      outcome: 'rejected',
      reason: 'It shows nothing of the kind.',
    })
  })
})

test('gateway.yaml says who looks: exactly one', () => {
  const parse = (secondLook: object) => deviceFile.safeParse({ secondLook }).error?.issues.map(({ message }) => message)
  expect(parse({ labels: ['boar'], hub: true })).toBeUndefined()
  const message = 'Say who looks: one of `model`, `endpoint` and `hub`.'
  expect(parse({ labels: ['boar'] })).toEqual([message])
  expect(parse({ labels: ['boar'], hub: true, model: 'known' })).toEqual([message])
})
