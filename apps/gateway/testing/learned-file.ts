/** A file of learning as a gateway has it after some weeks, for tests that show it. */
import { join } from 'node:path'
import { createRgbImage, VERIFIER_FEATURES } from '@hedgerow/vision'
import { pino } from 'pino'
import { openRecord, RECORD_FILE } from '../src/detections/record.ts'
import { recordSettings } from '../src/detections/schema.ts'
import { createProposals } from '../src/learning/proposals.ts'
import { LEARNING_FILE, openLearningStore } from '../src/learning/store.ts'

const DAY_MS = 86_400_000
const NIGHTS = 20
const GATEWAY = 'a-gateway'

/** Two versions for deer on this camera, with reviews before and after, and a proposed mask. */
export function writeLearned(dataDir: string, camera: string, now: number): void {
  const log = pino({ level: 'silent' })
  const store = openLearningStore(join(dataDir, LEARNING_FILE), log)
  const settings = () => recordSettings.parse({})
  const record = openRecord(join(dataDir, RECORD_FILE), { settings, log, clock: () => now })
  const crop = createRgbImage(64, 64)
  const facts = { camera, label: 'deer', score: 0.7, hour: 1, seconds: 4, travel: 1, box: undefined, crop }
  let seq = 0
  const see = (nightsAgo: number, verdict: 'right' | 'wrong' | undefined) => {
    const id = `${camera}-${seq++}`
    const at = now - nightsAgo * DAY_MS - 3_600_000
    store.addLook({ ...facts, id, at })
    if (verdict) record.reviews.put(GATEWAY, [{ seq, detection: id, verdict, label: null, at: now }])
    return id
  }
  const verifier = {
    weights: new Float32Array(VERIFIER_FEATURES),
    bias: 0,
    calibration: { slope: 1, offset: 0 },
    threshold: { logit: -10, bound: 0.04, needed: 99 },
  }
  const versions = [10, 4].map((nightsAgo) => ({ nightsAgo, verifier }))
  for (let nightsAgo = NIGHTS; nightsAgo >= 0; nightsAgo--) {
    const begun = versions.filter((version) => version.nightsAgo > nightsAgo).length
    for (const version of versions.filter((one) => one.nightsAgo === nightsAgo))
      store.begin(camera, 'deer', now - nightsAgo * DAY_MS, version.verifier)
    for (let i = 0; i < 3; i++) see(nightsAgo, 'right')
    for (let i = 0; i < [9, 4, 1][begun]!; i++) see(nightsAgo, 'wrong')
    if (begun > 0) for (let i = 0; i < 5; i++) store.setHeld(see(nightsAgo, undefined), begun)
  }
  store.addMiss(2, see(1, 'right'))
  const message =
    'Took over: of the newest reviews, 1 false alarm remains of 9, and nothing right is lost. At most 4 % of ' +
    'right detections are missed; 99 right reviews would show 1 %.'
  const drift = { expected: 0.82, observed: 0.79, reviews: 40 }
  store.putReports([{ camera, label: 'deer', body: JSON.stringify({ right: 64, wrong: 118, message, drift }) }])
  store.set('ended-at', String(now - DAY_MS / 4))
  createProposals(store, () => []).put(camera, [
    { label: 'deer', box: { x: 0.7, y: 0.1, width: 0.2, height: 0.25 }, times: 34, wrong: 12 },
  ])
  record.put({
    id: 'held-1',
    camera,
    label: 'deer',
    severity: 'detection',
    score: 0.71,
    startedAt: new Date(now - 60_000).toISOString(),
    suppressed: true,
  })
  store.close()
  record.close()
}

/** A name that passed, one that did not yet, one with too few corrections; and a name of another gateway. */
export function writeLearnedNames(dataDir: string, camera: string, now: number): void {
  const store = openLearningStore(join(dataDir, LEARNING_FILE), pino({ level: 'silent' }))
  const model = 'a'.repeat(64)
  const begin = (origin: string | null, given: Record<string, number>, nightsAgo: number) => {
    const classes = Object.keys(given).length + 1
    const classifier = { classes, features: 1, weights: new Float32Array(classes), biases: new Float32Array(classes) }
    const head = { names: Object.keys(given), thresholds: Object.values(given), cameras: [camera], classifier }
    store.names.begin({ at: now - nightsAgo * DAY_MS, origin, model, head, lessons: [] })
  }
  begin(null, { boar: 0.8, badger: 2 }, 3)
  begin('River gate', { hare: 0.7 }, 1)
  const counts = { boar: 34, badger: 23, 'red fox': 9 }
  const lessons = [
    { name: 'boar', corrections: 34, named: 33, wrong: 1, hasPassed: true },
    { name: 'badger', corrections: 23, named: 14, wrong: 5, hasPassed: false },
  ]
  const corrections = Object.entries(counts).map(([name, count]) => ({ name, corrections: count }))
  const night = { model, corrections: 66, counts: corrections, others: 182, lessons, unknown: ['Bella'], note: '' }
  store.set('names', JSON.stringify(night))
  store.close()
}
