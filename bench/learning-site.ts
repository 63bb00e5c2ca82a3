/**
 * One rendered site for `npm run bench learning`, in a thread of its own: what moves there at night, a person who marks
 * it, and the product's own learning.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { Detection } from '@hedgerow/contract'
import {
  areaOf,
  clipToPicture,
  createMotionDetector,
  cropOf,
  lookAt,
  lumaOf,
  overlapOf,
  Tracker,
  type RgbImage,
} from '@hedgerow/vision'
import { createRandom, createRenderer, walker, type Random, type Scene } from '@hedgerow/vision/rendered'
import { createLearning } from '../apps/gateway/src/learning/learning.ts'
import { learningSettings } from '../apps/gateway/src/learning/schema.ts'
import type { StoredVerdict } from '../apps/gateway/src/learning/night.ts'

const SIZE = { width: 320, height: 180 }
const FRAME_MS = 200
/** The eye has to learn the background before something moves. */
const EMPTY_MS = 2_000
const EVENT_MS = 9_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MARKS_A_DAY = 20
const SLIPS = 0.03
export const BEGIN = Date.parse('2026-05-01T00:00:00Z')
export const CAMERA = 'orchard'

const nothing = () => {}
/** Nobody reads this log. */
export const log = { debug: nothing, info: nothing, warn: nothing, error: nothing } as never

export type Kind = 'deer' | 'boar' | 'fox' | 'person' | 'cat' | 'branch' | 'flag' | 'headlights' | 'rain'
const WANTED: readonly string[] = ['deer', 'boar', 'fox', 'person']

/** `rates`: how many of each come a day, on average. */
export type Site = { name: string; seed: number; rates: Partial<Record<Kind, number>>; days: number }
/** What happened in each night, and what the gateway noted in the morning. */
export type Simulated = { days: Day[]; notes: string[] }
export type Day = {
  falseAlarms: number
  right: number
  lost: number
  heldBack: number
  persons: number
  personsLost: number
}

type Event = { kind: Kind; at: number; seed: number }
/** What the detector reported in an event, and whether somebody was there. */
type Sighted = { isSomebody: boolean; looks: { crop: RgbImage; detection: Detection; travel: number }[] }

async function simulate(site: Site): Promise<Simulated> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hedgerow-bench-learning-'))
  // The weather and the reviewer have generators of their own, so that the same visits come whatever is marked and
  // learned.
  const weather = createRandom(site.seed + 7)
  const reviewer = createReviewer(createRandom(site.seed + 11))
  const reported = new Map<string, Detection>()
  let now = BEGIN
  const days: Day[] = []
  const notes: string[] = []
  const learning = createLearning({
    dataDir,
    settings: () => learningSettings.parse({}),
    place: () => ({ timeZone: 'UTC' }),
    masks: () => [],
    reviews: () => reviewer.verdicts,
    picture: async () => undefined,
    async update(id, change) {
      const found = reported.get(id)
      if (found) reported.set(id, { ...found, ...change })
      if (change.doubtful) reviewer.repeatQuestion(id)
      return found !== undefined
    },
    log,
    clock: () => now,
  })

  /** Counts as people see it: one event is one incident, which is held back only when all of it is. */
  function count(day: Day, { kind, at }: Event, sighted: readonly Sighted[]): void {
    const ids = sighted.map(({ looks }) => looks[0]!.detection.id)
    const isShown = (id: string) => reported.get(id)?.suppressed !== true
    const isWanted = WANTED.includes(kind) && sighted.some(({ isSomebody }) => isSomebody)
    const isHidden = isWanted
      ? !sighted.some(({ isSomebody, looks }) => isSomebody && isShown(looks[0]!.detection.id))
      : !ids.some(isShown)
    if (isWanted) day.right += 1
    if (isWanted && isHidden) day.lost += 1
    if (isWanted && kind === 'person') day.persons += 1
    if (isWanted && kind === 'person' && isHidden) day.personsLost += 1
    if (!isWanted && isHidden) day.heldBack += 1
    if (!isWanted && !isHidden) day.falseAlarms += 1
    reviewer.see({ ids: ids.filter(isShown), isWanted, at })
  }

  try {
    for (let index = 0; index < site.days; index++) {
      const day: Day = { falseAlarms: 0, right: 0, lost: 0, heldBack: 0, persons: 0, personsLost: 0 }
      days.push(day)
      const events = eventsOf(site.rates, weather, index)
      for (const event of events) {
        const sighted = watch(site.seed, event)
        if (sighted.length === 0) continue
        for (const { detection, crop, travel } of sighted.flatMap(({ looks }) => looks)) {
          now = Date.parse(detection.startedAt) + 1_000
          const before = reported.get(detection.id)
          const { suppressed } = await learning.judge(detection, { before, sight: { crop, travel } })
          reported.set(detection.id, { ...before, ...detection, ...(suppressed !== undefined && { suppressed }) })
        }
        count(day, event, sighted)
      }
      reviewer.markToday()
      await learning.onReviews()
      now = BEGIN + (index + 1) * DAY_MS + 2 * HOUR_MS
      await learning.run()
      for (const { label, message } of learning.report().cameras[0]?.labels ?? [])
        notes.push(`${site.name} ${site.seed}, night ${index + 1}, ${label}: ${message}`)
    }
    return { days, notes }
  } finally {
    await learning.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Animals come at dusk, at night and at dawn, cars and rain at night too; cats, persons and the wind at any hour. */
function eventsOf(rates: Partial<Record<Kind, number>>, random: Random, day: number): Event[] {
  const events: Event[] = []
  for (const [kind, rate] of Object.entries(rates) as [Kind, number][]) {
    // Wind and rain come on some days only.
    const weather = kind === 'branch' || kind === 'flag' || kind === 'rain' ? random.between(0.4, 1.6) : 1
    let count = Math.floor(rate * weather)
    if (random.next() < rate * weather - count) count += 1
    for (let i = 0; i < count; i++) {
      const isNocturnal = ['deer', 'boar', 'fox', 'headlights'].includes(kind)
      const hour = isNocturnal ? random.between(19, 31) % 24 : random.between(0, 24)
      events.push({ kind, at: BEGIN + day * DAY_MS + hour * HOUR_MS, seed: Math.floor(random.between(1, 2 ** 30)) })
    }
  }
  return events.toSorted((a, b) => a.at - b.at)
}

function sceneOf(siteSeed: number, { kind, at, seed }: Event): Scene {
  const random = createRandom(seed)
  const hour = ((at - BEGIN) % DAY_MS) / HOUR_MS
  const isWalker = ['deer', 'boar', 'fox', 'person', 'cat'].includes(kind)
  const begin = startOf(seed)
  const [startMs, endMs] = [begin + EMPTY_MS, begin + EMPTY_MS + random.between(6_000, 8_000)]
  return {
    name: kind,
    seed: siteSeed,
    daylight: hour > 6 && hour < 20 ? 'day' : 'night',
    durationMs: EMPTY_MS + EVENT_MS,
    ...(kind === 'branch' && { branch: random.between(0.012, 0.03) }),
    ...(kind === 'flag' && { flag: random.between(0.5, 1.1) }),
    ...(kind === 'rain' && { rain: Math.round(random.between(120, 400)) }),
    ...(kind === 'headlights' && { headlightsMs: [startMs + random.between(0, 2_000)] }),
    actors: isWalker
      ? [
          walker(kind as 'deer' | 'boar' | 'fox' | 'person' | 'cat', {
            seed,
            startMs,
            endMs,
            y: random.between(0.62, 0.92),
            toLeft: random.next() < 0.5,
          }),
        ]
      : [],
  }
}

/** Wind, noise and steps of two events are never the same. */
const startOf = (seed: number) => (seed % 50_000) * FRAME_MS

function watch(siteSeed: number, event: Event): Sighted[] {
  const scene = sceneOf(siteSeed, event)
  const renderer = createRenderer(scene, SIZE.width, SIZE.height)
  const motion = createMotionDetector({ size: SIZE })
  const tracker = new Tracker({ confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 })
  const random = createRandom(event.seed + 3)
  const found = new Map<number, Sighted & { best: number }>()
  const begin = startOf(event.seed)
  for (let at = 0; at < scene.durationMs; at += FRAME_MS) {
    const { image, truth } = renderer.render(begin + at)
    const luma = lumaOf(image)
    const { regions } = motion.detect(luma, at)
    const { seen } = tracker.update(
      regions.map(({ box }) => ({ box, label: labelOf(lookAt(luma, box)), score: 1 })),
      at,
    )
    for (const { id, label, sighting, travel, firstSeenAt } of seen) {
      const box = clipToPicture(sighting.box)
      if (areaOf(box) === 0) continue
      const existing = found.get(id)
      const isSomebody = truth.some((there) => overlapOf(there.box, box) > 0.1)
      const detection: Detection = {
        id: existing?.looks[0]!.detection.id ?? `${siteSeed} ${event.at} ${id}`,
        camera: CAMERA,
        label,
        severity: 'alert',
        score: existing?.looks[0]!.detection.score ?? random.between(0.6, 0.95),
        startedAt: new Date(event.at + firstSeenAt).toISOString(),
        box,
      }
      const look = { crop: cropOf(image, box), detection, travel }
      if (!existing) found.set(id, { isSomebody, looks: [look], best: areaOf(box) })
      else if (areaOf(box) > existing.best * 1.3) {
        // The device sends a better picture once more, at the end.
        existing.best = areaOf(box)
        existing.looks[1] = look
      }
    }
  }
  return [...found.values()]
}

function labelOf({ label, score }: { label: string; score: number }): string {
  return label === 'person' && score >= 0.6 ? 'person' : 'animal'
}

/** Marks what is shown, but first what the product asks about again. One mark says what an event is, for all of it. */
function createReviewer(random: Random) {
  type Shown = { ids: string[]; isWanted: boolean; at: number }
  const shown = new Map<string, Shown>()
  let today: Shown[] = []
  let questions: Shown[] = []
  const verdicts: StoredVerdict[] = []

  function mark({ ids, isWanted }: Shown): void {
    const isRight = random.next() < SLIPS ? !isWanted : isWanted
    for (const id of ids) {
      const before = verdicts.findIndex(({ detection }) => detection === id)
      if (before >= 0) verdicts.splice(before, 1)
      verdicts.push({ detection: id, verdict: isRight ? 'right' : 'wrong', label: null })
    }
  }

  return {
    verdicts,
    see(one: Shown): void {
      if (one.ids.length === 0) return
      for (const id of one.ids) shown.set(id, one)
      today.push(one)
    },
    repeatQuestion(id: string): void {
      const found = shown.get(id)
      if (found && !questions.includes(found)) questions.push(found)
    },
    /** In random order: a person does not look at everything, and not at what is held back. */
    markToday(): void {
      const order = today.map((one) => ({ one, key: random.next() })).toSorted((a, b) => a.key - b.key)
      for (const one of [...questions, ...order.map(({ one: each }) => each)].slice(0, MARKS_A_DAY)) mark(one)
      today = []
      questions = []
    },
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(await simulate(workerData as Site))
