import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { createRgbImage } from '@hedgerow/vision'
import { createRandom } from '@hedgerow/vision/rendered'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLearning, type Learning } from './learning.ts'
import type { StoredVerdict } from './night.ts'
import { learningSettings } from './schema.ts'

const log = pino({ level: 'silent' })
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MODEL = 'a'.repeat(64)
const FEATURES = 64

let dataDir: string
let said: StoredVerdict[]
let now: number
let learning: Learning
let count: number
const random = createRandom(5)

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hedgerow-names-'))
  said = []
  now = Date.parse('2026-05-20T01:00:00Z')
  count = 0
  learning = open(dataDir)
})
afterEach(async () => {
  await learning.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

function open(folder: string): Learning {
  return createLearning({
    dataDir: folder,
    settings: () => learningSettings.parse({}),
    place: () => ({ timeZone: 'UTC' }),
    masks: () => [],
    reviews: () => said,
    picture: async () => undefined,
    update: async () => true,
    log,
    clock: () => now,
  })
}

/** What a detector sees of a kind: its own features are loud, the others noise. `like`: between two kinds. */
function features(kind: number, like = kind): Float32Array {
  const values = Float32Array.from({ length: FEATURES }, (_, i) => {
    const own = i % 8 === kind || i % 8 === like
    return (own ? 0.8 : 0.1) + random.between(0, 0.3)
  })
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

type Seen = { label?: string; kind?: number; like?: number; id?: string; before?: Detection; model?: string }

/** A detection as the intake hands it over; returns what it becomes. */
async function see({ label = 'horse', kind = 1, like, id = `d${++count}`, before, model = MODEL }: Seen = {}) {
  const detection: Detection = {
    id,
    camera: 'orchard',
    label,
    severity: 'alert',
    score: 0.7,
    startedAt: new Date(now).toISOString(),
    box: { x: 0.4, y: 0.4, width: 0.2, height: 0.2 },
  }
  const sight = { crop: createRgbImage(64, 64), travel: 1, features: { model, values: features(kind, like) } }
  const { named } = await learning.judge(detection, { before, sight })
  return { ...detection, label: named?.label ?? label, ...(named && { verdicts: [named.verdict] }) }
}

/** `amount` detections an hour apart of each of these, with a person's review. */
async function review(amount: number, seen: Seen, verdict: 'right' | 'wrong', label: string | null): Promise<void> {
  for (let i = 0; i < amount; i++) {
    now += HOUR_MS
    const { id } = await see(seen)
    said.push({ detection: id, verdict, label })
  }
}

const teach = async (boars: number, horses: number) => {
  await review(horses, { kind: 2 }, 'right', null)
  await review(boars, { kind: 1 }, 'wrong', 'Boar')
}
const names = () => learning.report().names!

test('twenty corrections teach a name: the next one has it, others keep theirs; one click undoes it', async () => {
  await teach(12, 22)
  await learning.run()
  expect(names().list).toEqual([
    { name: 'boar', corrections: 12, state: 'collecting', message: '8 more corrections are needed.' },
  ])
  expect(learning.names.known()).toEqual([{ name: 'boar', reason: '8 more corrections are needed.' }])
  expect(learning.names.unlearned()).toEqual(['boar'])
  expect(await see()).toMatchObject({ label: 'horse' })
  await teach(13, 8)
  await learning.run()
  expect(names().list).toMatchObject([{ name: 'boar', corrections: 25, state: 'passed' }])
  expect(learning.names.known()).toEqual([{ name: 'boar', reason: undefined }])
  expect([learning.names.undone(), learning.names.unlearned()]).toEqual([[], []])
  await learning.run(true)
  expect(names().versions).toHaveLength(1)
  const [boar, horse] = [await see({ kind: 1 }), await see({ kind: 2 })]
  expect(boar).toMatchObject({
    label: 'boar',
    verdicts: [{ stage: 'named', by: 'version 1', outcome: 'unsure', reason: expect.stringContaining('said horse') }],
  })
  expect(horse.label).toBe('horse')
  expect(names()).toMatchObject({ versions: [{ number: 1, state: 'active', names: ['boar'], from: null }] })
  expect(names().before).toContainEqual(expect.objectContaining({ label: 'horse', now: 'boar', camera: 'orchard' }))
  expect(learning.names.undo(1, 'Rosa')).toBe(true)
  expect(await see()).toMatchObject({ label: 'horse' })
  expect(await see({ id: boar.id, before: boar })).toMatchObject({ label: 'horse' })
  expect(names()).toMatchObject({ versions: [{ state: 'undone', endedBy: 'Rosa' }], before: [] })
  expect(learning.names.known()[0]?.reason).toContain('no version of it is active')
  expect(learning.names.undone()).toEqual(['boar'])
  // For a week no night brings it back; a person may.
  now += DAY_MS
  await learning.run()
  expect(names().versions).toHaveLength(1)
  expect(names().list[0]?.message).toContain('A person undid a version')
  await learning.run(true)
  expect(await see()).toMatchObject({ label: 'boar' })
})

test('persons, vehicles, fire and smoke keep their label whatever they look like, and are no names', async () => {
  await teach(25, 25)
  await review(25, { kind: 3 }, 'wrong', 'person')
  await review(25, { kind: 4 }, 'wrong', 'smoke')
  await review(25, { kind: 5 }, 'wrong', 'car')
  await review(3, { kind: 6 }, 'wrong', 'Bella')
  await learning.run()
  expect(names().list.map(({ name }) => name)).toEqual(['boar'])
  expect(names().problem).toContain('No kind of animal ends these names: bella.')
  for (const label of ['person', 'car', 'smoke', 'motion']) expect((await see({ label })).label).toBe(label)
  for (const kind of [3, 4, 5]) expect((await see({ kind })).label).toBe('horse')
})

test('an unsure one is an animal; a name that was told stays, until the detector sees no animal', async () => {
  await teach(30, 30)
  await learning.run()
  const unsure: string[] = []
  for (let i = 0; i < 30; i++) unsure.push((await see({ kind: 1, like: 2 })).label)
  expect(new Set(unsure)).toContain('animal')
  const boar = await see()
  expect(await see({ id: boar.id, before: boar, kind: 2 })).toMatchObject({ label: 'boar', verdicts: boar.verdicts })
  expect(await see({ id: boar.id, before: boar, label: 'person' })).toMatchObject({ label: 'person' })
})

test('without reviews of anything else nothing is learned; what cannot be told apart does not pass', async () => {
  await teach(30, 5)
  await learning.run()
  expect(names().list[0]).toMatchObject({
    state: 'collecting',
    message: '15 more reviews of anything else are needed.',
  })
  await review(30, { kind: 1 }, 'right', null)
  await learning.run()
  expect(names().list[0]).toMatchObject({
    state: 'failed',
    message: expect.stringMatching(/at most 5 %.* Correct more of them, of different days and places\.$/),
  })
  expect((await see()).label).toBe('horse')
})

test('another gateway uses the names, with features of the same detector alone; its own names come first', async () => {
  await teach(30, 30)
  await learning.run()
  const given = learning.names.give()!
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-names-'))
  const barn = learning
  said = []
  learning = open(folder)
  try {
    expect(learning.names.give()).toBeUndefined()
    expect(learning.names.use({ ...given, weights: given.weights.slice(0, 400) }, 'Barn')).toContain('not whole')
    expect(learning.names.use({ ...given, names: ['person'] }, 'Barn')).toContain('names no animals')
    expect(learning.names.use(given, 'Barn')).toBeUndefined()
    expect(names().versions).toMatchObject([{ state: 'active', from: 'Barn', names: ['boar'] }])
    const boar = await see()
    expect(boar).toMatchObject({ label: 'boar', verdicts: [{ by: 'version 1 of Barn' }] })
    expect((await see({ model: 'b'.repeat(64) })).label).toBe('horse')
    expect(learning.names.use({ ...given, model: 'c'.repeat(64) }, 'Barn')).toContain('another one')
    expect(learning.names.undo(1, 'Rosa')).toBe(true)
    expect((await see()).label).toBe('horse')
  } finally {
    await learning.stop()
    rmSync(folder, { recursive: true, force: true })
    learning = barn
  }
})
