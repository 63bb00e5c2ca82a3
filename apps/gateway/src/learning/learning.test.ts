import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Detection } from '@hedgerow/contract'
import { createRgbImage, verifierFeatures, type RgbImage } from '@hedgerow/vision'
import { createRandom, type Random } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLearning, isDue, type Learning } from './learning.ts'
import type { StoredVerdict } from './night.ts'
import { learningSettings } from './schema.ts'
import { LEARNING_FILE, openLearningStore } from './store.ts'

const log = pino({ level: 'silent' })
const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-05-20T01:00:00Z')

let dataDir: string
let said: StoredVerdict[]
let updates: { id: string; suppressed?: boolean | undefined; doubtful?: boolean | undefined }[]
let now: number
let alsoLearn: Record<string, string[]>
let masks: [number, number][][]
let learning: Learning

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hedgerow-learning-'))
  said = []
  updates = []
  now = NOW
  alsoLearn = {}
  masks = []
  learning = open()
})

afterEach(async () => {
  await learning.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

function open(): Learning {
  return createLearning({
    dataDir,
    settings: () => learningSettings.parse({ alsoLearn }),
    place: () => ({ timeZone: 'UTC' }),
    masks: () => masks,
    reviews: () => said,
    picture: async () => undefined,
    async update(id, change) {
      updates.push({ id, ...change })
      return true
    },
    log,
    clock: () => now,
  })
}

/** An animal is a bright body on a dark ground; a branch is stripes from one side to the other. */
function draw(kind: 'animal' | 'branch', random: Random): RgbImage {
  const image = createRgbImage(64, 64)
  const shift = random.between(-6, 6)
  for (let y = 0; y < 64; y++)
    for (let x = 0; x < 64; x++) {
      const isBody = Math.abs(x - 32 - shift) < 18 && Math.abs(y - 34) < 10
      const isStripe = Math.floor((x + y + shift) / 5) % 2 === 0
      const level = (kind === 'animal' ? isBody : isStripe) ? 170 : 60
      for (let channel = 0; channel < 3; channel++)
        image.data[y * image.stride + 3 * x + channel] = level + random.between(-20, 20)
    }
  return image
}

const random = createRandom(12)
let count = 0

function seen(label = 'deer', more: Partial<Detection> = {}): Detection {
  count += 1
  const startedAt = new Date(now).toISOString()
  return { id: `d${count}`, camera: 'orchard', label, severity: 'alert', score: 0.7, startedAt, ...more }
}

const judge = (detection: Detection, kind: 'animal' | 'branch', before?: Detection) =>
  learning.judge(detection, { before, sight: { crop: draw(kind, random), travel: 1 } })

/** Reports detections an hour apart, and the reviews of people. */
async function mark(amount: number, label = 'deer'): Promise<void> {
  for (let i = 0; i < amount; i++) {
    const kind = i % 2 === 0 ? 'animal' : 'branch'
    const detection = seen(label, { startedAt: new Date(now - (amount - i) * HOUR_MS).toISOString() })
    await judge(detection, kind)
    said.push({ detection: detection.id, verdict: kind === 'animal' ? 'right' : 'wrong', label: null })
  }
  const kept = () => new DatabaseSync(join(dataDir, LEARNING_FILE), { readOnly: true })
  const looks = () => {
    const database = kept()
    const row = database.prepare('select count(*) as count from looks').get()!
    database.close()
    return Number(row['count'])
  }
  await expect.poll(looks).toBeGreaterThanOrEqual(amount)
}

const versionsOf = (label = 'deer') =>
  learning
    .report()
    .cameras[0]?.labels.find((one) => one.label === label)
    ?.versions.map(({ state }) => state)

test('after a night it holds back detections like those called wrong, and says so; the others are shown', async () => {
  await mark(38)
  await learning.run()
  expect(learning.state()).toMatchObject({ state: 'waiting', message: expect.stringContaining('1 right and 1 wrong') })
  expect(await judge(seen(), 'branch')).toEqual({})
  await mark(60)
  await learning.run()
  const branch = await judge(seen(), 'branch')
  expect(branch).toMatchObject({ suppressed: true, verdict: { stage: 'learned', outcome: 'rejected' } })
  expect(await judge(seen(), 'animal')).toMatchObject({ verdict: { outcome: 'unsure' } })
  expect(await judge(seen(), 'animal')).not.toHaveProperty('suppressed')
  // A later stage or a person overrules it, and a detection that was shown once stays shown.
  expect(await judge(seen('deer', { validated: true }), 'branch')).toEqual({})
  const shown = seen()
  expect(await judge(shown, 'branch', shown)).toEqual({})
  // A better picture makes it show the detection.
  const hidden = seen()
  expect(await judge(hidden, 'branch')).toMatchObject({ suppressed: true })
  expect(await judge(hidden, 'animal', { ...hidden, suppressed: true })).toMatchObject({ suppressed: false })
  const report = learning.report()
  expect(report.cameras[0]?.labels[0]).toMatchObject({
    right: 49,
    wrong: 49,
    versions: [{ state: 'active', missed: 0 }],
  })
  // The decision survives a restart.
  await learning.stop()
  learning = open()
  expect(await judge(seen(), 'branch')).toMatchObject({ suppressed: true })
})

test.each(['Person', 'Motion'])('%s is never learned away, unless the owner says so for that camera', async (label) => {
  await mark(80, label)
  await learning.run()
  expect(await judge(seen(label), 'branch')).toEqual({})
  alsoLearn = { gate: [label] }
  await learning.run()
  expect(await judge(seen(label), 'branch')).toEqual({})
  alsoLearn = { orchard: [label.toLowerCase()] }
  await learning.run()
  expect(await judge(seen(label), 'branch')).toMatchObject({ suppressed: true })
  alsoLearn = {}
  expect(await judge(seen(label), 'branch')).toEqual({})
})

test('one click goes back, and nothing takes over for a week', async () => {
  await mark(80)
  await learning.run()
  expect(learning.undo({ camera: 'orchard', label: 'deer' }, 'Ada')).toBe(true)
  expect(learning.undo({ camera: 'orchard', label: 'deer' }, 'Ada')).toBe(false)
  expect(await judge(seen(), 'branch')).toEqual({})
  await learning.run()
  expect(versionsOf()).toEqual(['undone'])
  expect(learning.state().message).toContain('nothing takes over before 2026-05-27')
  now += 8 * 24 * HOUR_MS
  await learning.run()
  expect(versionsOf()).toEqual(['active', 'undone'])
})

test('people go back to the version that they name, or to none', async () => {
  for (let night = 0; night < 3; night++) {
    await mark(80)
    const store = openLearningStore(join(dataDir, LEARNING_FILE), log)
    const [newest] = learning.report().cameras[0]?.labels[0]?.versions ?? []
    if (newest) store.begin('orchard', 'deer', now, store.versions().at(-1)!.verifier)
    store.close()
    if (!newest) await learning.run()
  }
  expect(versionsOf()).toEqual(['active', 'replaced', 'replaced'])
  const undo = (to: number | null) => learning.undo({ camera: 'orchard', label: 'deer', to }, 'Ada')
  expect(undo(9)).toBe(false)
  expect(undo(1)).toBe(true)
  expect(versionsOf()).toEqual(['undone', 'undone', 'active'])
  expect(undo(2)).toBe(false)
  expect(undo(null)).toBe(true)
  expect(versionsOf()).toEqual(['undone', 'undone', 'undone'])
})

test('a later picture shows a held-back detection only when it is more likely right than wrong', async () => {
  await learning.stop()
  const crop = draw('animal', random)
  const featuresAt = (score: number) =>
    verifierFeatures({ crop, box: undefined, score, hour: 0, seconds: 0, travel: 0 })
  // Its logit is 20 times the difference of the detector's score from 0.5.
  const middle = featuresAt(0.5)
  const weights = featuresAt(1).map((value, index) => 10 * (value - middle[index]!))
  const threshold = { logit: -2, bound: 0.01, needed: 99 }
  const store = openLearningStore(join(dataDir, LEARNING_FILE), log)
  store.begin('orchard', 'deer', now, { weights, bias: 0, calibration: { slope: -1, offset: 0 }, threshold })
  store.close()
  learning = open()
  const look = (detection: Detection, score: number, before?: Detection) =>
    learning.judge({ ...detection, score }, { before, sight: { crop, travel: 0 } })
  expect(await look(seen(), 0.42)).not.toHaveProperty('suppressed')
  const hidden = seen()
  expect(await look(hidden, 0.2)).toMatchObject({ suppressed: true })
  const before = { ...hidden, suppressed: true }
  expect(await look(hidden, 0.42, before)).toMatchObject({ suppressed: true, verdict: { outcome: 'rejected' } })
  expect(await look(hidden, 0.6, before)).toMatchObject({ suppressed: false, verdict: { outcome: 'unsure' } })
})

test('nights are counted from reviews: shown and right, shown and wrong, held back, and wrongly so', async () => {
  await mark(80)
  await learning.run()
  const nights = () => learning.report().cameras[0]!.nights
  const last = () => nights().at(-1)!
  const sum = (part: 'right' | 'wrong') => nights().reduce((total, night) => total + night[part], 0)
  expect([nights().length, sum('right'), sum('wrong')]).toEqual([30, 40, 40])
  // What somebody calls another animal is no false alarm; a branch is one.
  const [boar, branch] = said.filter(({ verdict }) => verdict === 'wrong')
  Object.assign(boar!, { label: 'boar' })
  Object.assign(branch!, { label: 'branch' })
  expect([sum('right'), sum('wrong')]).toEqual([40, 39])
  expect(last()).toMatchObject({ day: '2026-05-19', lost: 0, heldBack: 0 })
  const hidden = [seen(), seen()]
  for (const one of hidden) await judge(one, 'branch')
  expect(last()).toMatchObject({ lost: 0, heldBack: 2 })
  said.push({ detection: hidden[0]!.id, verdict: 'right', label: null })
  await learning.onReviews()
  expect(last()).toMatchObject({ lost: 1, heldBack: 1 })
})

test('a right review shows a held-back detection; two of them end the version', async () => {
  await mark(80)
  await learning.run()
  const hidden = [seen(), seen(), seen()]
  for (const one of hidden) expect(await judge(one, 'branch')).toMatchObject({ suppressed: true })
  said.push({ detection: hidden[0]!.id, verdict: 'right', label: null })
  await learning.onReviews()
  expect(updates).toEqual([{ id: hidden[0]!.id, suppressed: false }])
  expect(versionsOf()).toEqual(['active'])
  // The review is undone, so it is no miss, and comes again.
  const missed = () => learning.report().cameras[0]?.labels[0]?.versions[0]?.missed
  expect(missed()).toBe(1)
  said.at(-1)!.verdict = null
  await learning.onReviews()
  expect(updates.slice(1)).toEqual([{ id: hidden[0]!.id, suppressed: true }])
  expect(missed()).toBe(0)
  said.at(-1)!.verdict = 'right'
  await learning.onReviews()
  expect(updates.slice(2)).toEqual([{ id: hidden[0]!.id, suppressed: false }])
  expect(versionsOf()).toEqual(['active'])
  said.push({ detection: hidden[1]!.id, verdict: 'right', label: null })
  await learning.onReviews()
  expect(versionsOf()).toEqual(['undone'])
  expect(learning.report().cameras[0]?.labels[0]?.versions[0]).toMatchObject({ endedBy: 'misses', missed: 2 })
  expect(await judge(seen(), 'branch')).toEqual({})
})

test('a hub that calls everything wrong hides nothing', async () => {
  await mark(120)
  for (const one of said) one.verdict = 'wrong'
  await learning.run()
  expect(await judge(seen(), 'branch')).toEqual({})
  expect(await judge(seen(), 'animal')).toEqual({})
})

test('a review that contradicts all others is asked about once; repeated boxes are proposed as a mask', async () => {
  await mark(100)
  const slip = said[41]!
  slip.verdict = 'right'
  for (let i = 0; i < 20; i++) await judge(seen('deer', { box: { x: 0.5, y: 0.1, width: 0.2, height: 0.2 } }), 'branch')
  await learning.run()
  await learning.run()
  expect(updates).toEqual([{ id: slip.detection, doubtful: true }])
  const [mask] = learning.report().cameras[0]!.masks
  expect(mask).toMatchObject({ label: 'deer', times: 20, wrong: 0 })
  expect(mask!.lines).toContain('masks:\n      - [[0.49, 0.09], [0.71, 0.09], [0.71, 0.31], [0.49, 0.31]]')
})

test('a mask that was dismissed is not proposed again, nor one that gateway.yaml has', async () => {
  await mark(40)
  for (let i = 0; i < 20; i++) await judge(seen('deer', { box: { x: 0.5, y: 0.1, width: 0.2, height: 0.2 } }), 'branch')
  await learning.run()
  const proposed = () => learning.report().cameras[0]!.masks
  const [mask] = proposed()
  masks = [mask!.polygon]
  expect(proposed()).toEqual([])
  masks = []
  expect(learning.dismissMask('orchard', 'another')).toBe(false)
  expect(learning.dismissMask('orchard', mask!.id)).toBe(true)
  expect(learning.dismissMask('orchard', mask!.id)).toBe(false)
  for (let i = 0; i < 9; i++) await judge(seen('deer', { box: { x: 0.51, y: 0.1, width: 0.2, height: 0.2 } }), 'branch')
  await learning.run()
  expect(proposed()).toEqual([])
})

test('kill -9 in the middle of a night: the old version stays, and the next run is whole', async () => {
  await mark(80)
  await learning.run()
  await learning.stop()
  const store = openLearningStore(join(dataDir, LEARNING_FILE), log)
  for (let i = 0; i < 240; i++) {
    const kind = i % 2 === 0 ? 'animal' : 'branch'
    const at = NOW - i * HOUR_MS
    const facts = { camera: 'orchard', label: 'deer', at, score: 0.5, hour: 1, seconds: 1, travel: 0, box: undefined }
    store.addLook({ id: `k${i}`, ...facts, crop: draw(kind, random) })
    said.push({ detection: `k${i}`, verdict: kind === 'animal' ? 'right' : 'wrong', label: null })
  }
  store.close()
  const modules = JSON.stringify(new URL('./learning.ts', import.meta.url).href)
  const schema = JSON.stringify(new URL('./schema.ts', import.meta.url).href)
  const program = `
    const { createLearning } = await import(${modules}); const { learningSettings } = await import(${schema})
    const nothing = () => {}
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
    const learning = createLearning({ dataDir: ${JSON.stringify(dataDir)}, settings: () => learningSettings.parse({}),
      place: () => ({ timeZone: 'UTC' }), masks: () => [], reviews: () => ${JSON.stringify(said)},
      picture: async () => undefined,
      update: async () => true, log, clock: () => ${NOW + 30 * HOUR_MS} })
    const done = learning.run()
    console.log('begun')
    await done
    console.log('ended')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (part: Buffer) => (output += part.toString()))
  await expect.poll(() => output).toContain('begun')
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
  expect(output).not.toContain('ended')
  now = NOW + 31 * HOUR_MS
  learning = open()
  expect(versionsOf()).toEqual(['active'])
  expect(await judge(seen(), 'branch')).toMatchObject({ suppressed: true })
  await learning.run()
  expect(learning.state().state).toBe('waiting')
})

test('when its file cannot be written or read, nothing is held back and nothing is refused', async () => {
  const database = new DatabaseSync(join(dataDir, LEARNING_FILE))
  database.exec('drop table looks')
  database.close()
  expect(await judge(seen(), 'branch')).toEqual({})
  await learning.onReviews()
  await expect(learning.run()).rejects.toThrow('no such table')
  expect(learning.state().state).toBe('failed')
})

test('a night is due once, whatever the clock does', () => {
  const settings = { enabled: true, hours: '02:00-05:00' }
  const at = (time: string) => Date.parse(`2026-05-20T${time}:00Z`)
  const due = (time: number, begunAt: number | undefined) => isDue(time, begunAt, settings, { timeZone: 'UTC' })
  expect(due(at('01:59'), undefined)).toBe(false)
  expect(due(at('02:00'), undefined)).toBe(true)
  expect(due(at('04:00'), at('02:00'))).toBe(false)
  expect(due(at('02:00') + 24 * HOUR_MS, at('02:00'))).toBe(true)
  // The clock leapt a year ahead and came back.
  expect(due(at('03:00'), at('03:00') + 365 * 24 * HOUR_MS)).toBe(true)
  expect(isDue(at('03:00'), undefined, { ...settings, enabled: false }, {})).toBe(false)
})
