import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createRgbImage, CROP_PIXELS } from '@hedgerow/vision'
import { createRandom } from '@hedgerow/vision/rendered'
import { createLearning } from '../apps/gateway/src/learning/learning.ts'
import { learningSettings } from '../apps/gateway/src/learning/schema.ts'
import type { StoredVerdict } from '../apps/gateway/src/learning/night.ts'
import { LEARNING_FILE, openLearningStore } from '../apps/gateway/src/learning/store.ts'
import { BEGIN, CAMERA, log, type Day, type Simulated, type Site } from './learning-site.ts'
import { benchNames } from './learning-names.ts'
import { report, reportGoals } from './report.ts'

const DAYS = 14
const CROPS = 5_000
/** The number that a night uses; the others are held back and unreviewed. */
const REVIEWED = 4_000

/** How many of each kind come in a day, on average, at three places. */
const PLACES: Record<string, Site['rates']> = {
  orchard: { deer: 3, boar: 2, fox: 2, person: 2, branch: 9, rain: 2, cat: 2 },
  road: { deer: 3, boar: 2, fox: 2, person: 2, headlights: 8, flag: 3, cat: 2 },
  yard: { deer: 2, boar: 2, fox: 3, person: 3, flag: 7, branch: 3, cat: 4 },
}

/**
 * `npm run bench learning [SEED…]`: two weeks at rendered sites, three for each seed, with a person at each who marks
 * at most 20 things a day and errs in 3 % of them; then the time and memory of one night with 5,000 crops. The learning
 * is the product's own. The detector is not: it calls whatever moves an animal, or a person where the demonstration eye
 * sees one, with a meaningless score, as cheap motion alarms do.
 */
export async function benchLearning(arguments_: string[]): Promise<void> {
  if (arguments_.includes('--names')) return benchNames()
  const seeds = arguments_.length === 0 ? [1, 2] : arguments_.map(Number)
  const sites = seeds.flatMap((seed) =>
    Object.entries(PLACES).map(([name, rates], index) => ({
      name,
      rates,
      days: DAYS,
      seed: seed * 1_000 + index * 101,
    })),
  )
  const simulated = await simulateAll(sites)
  const days = Array.from({ length: DAYS }, (_, index) => sumOf(simulated.map(({ days: each }) => each[index]!)))
  const first = days[0]!.falseAlarms
  const rows = days.map((day, index): [string, Record<string, string | number>] => [
    `night ${index + 1}`,
    {
      'false alarms': day.falseAlarms,
      fewer: `${Math.round((1 - day.falseAlarms / first) * 100)} %`,
      'held back': day.heldBack,
      right: day.right,
      'right lost': day.lost,
      persons: day.persons,
    },
  ])
  report('learning, rendered sites together', Object.fromEntries(rows))
  const sum = (key: keyof Day) => days.reduce((total, day) => total + day[key], 0)
  const eighth = 1 - days[7]!.falseAlarms / first
  const lost = sum('lost') / sum('right')
  reportGoals('learning', {
    'fewer false alarms on night 8, %': eighth * 100,
    'right detections lost, %': lost * 100,
    'persons lost': sum('personsLost'),
  })
  report('learning, one night with 5,000 crops', { night: await measureNight() })
}

/** Runs as many at a time as there are processors. */
async function simulateAll(sites: readonly Site[]): Promise<Simulated[]> {
  const waiting = [...sites.entries()]
  const found: Simulated[] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, site] = next
      found[index] = await inThread(site)
      console.log(`${found[index].notes.join('\n')}\n`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return found
}

function inThread(site: Site): Promise<Simulated> {
  const { promise, resolve, reject } = Promise.withResolvers<Simulated>()
  const thread = new Worker(new URL('./learning-site.ts', import.meta.url), { workerData: site })
  thread.once('message', resolve).once('error', reject)
  return promise
}

function sumOf(days: readonly Day[]): Day {
  const [first, ...rest] = days
  const sum = { ...first! }
  for (const day of rest) for (const key of Object.keys(sum) as (keyof Day)[]) sum[key] += day[key]
  return sum
}

function coreSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000_000
}

/** Time and memory of the thread, without what this process used before. */
async function measureNight(): Promise<Record<string, number | string>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hedgerow-bench-learning-'))
  const random = createRandom(5)
  const verdicts: StoredVerdict[] = []
  const store = openLearningStore(join(dataDir, LEARNING_FILE), log)
  for (let i = 0; i < CROPS; i++) {
    const isRight = i % 2 === 0
    const crop = createRgbImage(CROP_PIXELS, CROP_PIXELS)
    for (let at = 0; at < crop.data.length; at++)
      crop.data[at] = random.between(0, 120) + (isRight && at % 192 < 96 ? 60 : 0)
    const facts = { camera: CAMERA, label: 'animal', score: 0.7, hour: 3, seconds: 1, travel: 0, box: undefined }
    store.addLook({ ...facts, id: `c${i}`, at: BEGIN - i * 60_000, crop })
    if (i < REVIEWED) verdicts.push({ detection: `c${i}`, verdict: isRight ? 'right' : 'wrong', label: null })
    else store.setHeld(`c${i}`, 1)
  }
  store.close()
  const learning = createLearning({
    dataDir,
    settings: () => learningSettings.parse({}),
    place: () => ({ timeZone: 'UTC' }),
    masks: () => [],
    reviews: () => verdicts,
    picture: async () => undefined,
    update: async () => true,
    log,
    clock: () => BEGIN,
  })
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  const cpuBefore = process.cpuUsage()
  try {
    await learning.run()
    return {
      'seconds of one core': Math.round(coreSeconds(cpuBefore) * 10) / 10,
      megabytes: Math.round((most - before) / 1_000_000),
    }
  } finally {
    clearInterval(timer)
    await learning.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
