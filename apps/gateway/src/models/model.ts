/**
 * One model for all cameras: runs in a thread of its own, and cameras take turns. Only the newest picture of each
 * camera waits; a model that is too slow drops pictures and reports it.
 */
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { RgbImage, Sighting } from '@hedgerow/vision'
import { isAnimalLabel } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { isMissing } from '../kernel/durable-file.ts'
import { createBackoff, createPause } from '../kernel/backoff.ts'
import { KNOWN_MODELS } from './known-models.ts'
import { labelsOf } from './labels.ts'
import type { ModelManifest } from './manifest.ts'
import { inWords, ModelError } from './model-error.ts'
import type { ExecutionProvider } from './schema.ts'
import type { FeaturedCandidate, Session, SessionOptions } from './session.ts'
import { manifestPath, readBytes, readManifest } from './store.ts'
import { Turns } from './turns.ts'
import { CLOSE, type FromModelWorker, type ModelWorkerData, type ToModelWorker } from './worker-messages.ts'

export type Seen = Sighting

export type Model = {
  readonly name: string
  /**
   * The objects in each picture, the highest score first, boxes in shares of it: the parts of one picture of a camera.
   * Undefined when the model did not see them: newer ones came, or the model can't be used; then `problems` says why.
   */
  look(camera: string, pictures: readonly RgbImage[]): Promise<Seen[][] | undefined>
  /** The mean time for one of the last pictures, in milliseconds. */
  inferenceMs(): number
  /** Undefined while it can't be used. */
  executionProvider(): ExecutionProvider | undefined
  /** What it can name; undefined while it can't be used. */
  labels(): readonly string[] | undefined
  /** The lowest score of a detection by label, where it was measured. */
  scores(): Readonly<Record<string, number>> | undefined
  problems(): string[]
  stop(): Promise<void>
}

export type ModelOptions = {
  /** Where the device's models are (`store.ts`). */
  folder: string
  name: string
  /** Processor threads for one picture. */
  threads: number
  /** The first one that opens the model is used; the processor when left out. */
  executionProviders?: SessionOptions['executionProviders']
  /** Objects with a lower score are left out. */
  leastScore: number
  log: Pick<Logger, 'info' | 'error'>
  /** Milliseconds of a clock that never goes back; the process's own when left out. */
  clock?: () => number
}

type Waiting = { pictures: readonly RgbImage[]; done(seen: Seen[][] | undefined): void }
type OpenWorker = Pick<Session, 'takesSeveral' | 'executionProvider' | 'refusals'> & {
  worker: Worker
  labels: readonly (string | null)[]
  sha256: string
  scores: ModelManifest['scores']
}

/** The most cameras whose pictures go through a model at once, if it can. */
const BATCH_MAX = 4
const LOOK_AGAIN_MS = 2_000
const RATE_MS = 10_000
/** When more than this share of the pictures is dropped, a model is too slow. */
const DROPPED = 0.3
const REOPEN = { firstMs: 1_000, maxMs: 60_000 }

export function openModel(options: ModelOptions): Model {
  const { folder, name, threads, leastScore, executionProviders, log, clock = () => performance.now() } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const { pause, wake } = createPause(signal)
  const backoff = createBackoff(REOPEN)
  const turns = new Turns<Waiting>()
  let open: OpenWorker | undefined
  let underway: Waiting[] = []
  let failure: ModelError | undefined
  let inferenceMs = 0
  let looked: number[] = []
  let dropped: number[] = []

  const recent = (moments: number[], now: number) => moments.filter((at) => now - at < RATE_MS)

  function lookAtNext(): void {
    if (!open || underway.length > 0) return
    underway = turns.take(open.takesSeveral ? BATCH_MAX : 1)
    if (underway.length === 0) return
    // One at a time: the thread has at most one message before it.
    const pictures = underway.flatMap((one) =>
      one.pictures.map(({ width, height, stride, data }) => ({ width, height, stride, data })),
    )
    send(open.worker, pictures)
  }

  function answerUnderway(found: FeaturedCandidate[][] | undefined): void {
    const answered = underway
    underway = []
    let from = 0
    for (const { pictures, done } of answered) {
      const mine = found?.slice(from, (from += pictures.length))
      done(mine?.map((candidates) => candidates.flatMap((candidate) => (open ? named(candidate, open) : []))))
    }
  }

  function dropWaiting(): void {
    for (const { done: resolve } of turns.take(Infinity)) resolve(undefined)
  }

  function onMessage(message: FromModelWorker): void {
    if (message.kind === 'found') {
      failure = undefined
      inferenceMs += (message.ms - inferenceMs) / (inferenceMs === 0 ? 1 : 10)
      const now = clock()
      looked = [...recent(looked, now), ...underway.map(() => now)]
      answerUnderway(message.found)
    } else if (message.kind === 'failed') {
      failure = new ModelError(message.code, message.message)
      answerUnderway(undefined)
    }
    lookAtNext()
  }

  /** Resolves with the thread once its model is open; rejects with ModelError. */
  async function start(): Promise<OpenWorker> {
    const manifest = await readManifest(folder, name)
    const bytes = await readBytes(folder, manifest)
    const labels = labelsOf(manifest.labels)
    const data: ModelWorkerData = { bytes, manifest, classes: labels.length, threads, executionProviders, leastScore }
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: data })
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    try {
      // An error before the first message rejects it too.
      const [first] = (await once(worker, 'message', { signal })) as [Exclude<FromModelWorker, { kind: 'found' }>]
      if (first.kind !== 'ready') throw new ModelError(first.code, first.message)
      const scores = manifest.scores ?? KNOWN_MODELS.find(({ sha256 }) => sha256 === manifest.sha256)?.scores
      return { ...first, worker, labels, scores, sha256: manifest.sha256 }
    } catch (error) {
      // Terminating a thread while it loads the runtime or a model would abort the whole process.
      worker.on('error', () => {})
      send(worker, CLOSE)
      await ended
      throw error
    }
  }

  /** Runs from opening the model to its end: it failed, was replaced, or the device stops. */
  async function runOnce(): Promise<void> {
    const mark = await markOf(manifestPath(folder, name))
    try {
      open = await start()
      const { worker } = open
      const { executionProvider, refusals } = open
      log.info({ model: name, executionProvider, refusals }, 'the model looks')
      failure = undefined
      const ended = new AbortController()
      worker.on('message', onMessage)
      worker.once('error', (error: Error) => {
        failure = new ModelError('model_failed', `The model ${name} failed: ${error.message.slice(0, 120)}`)
      })
      const exit = once(worker, 'exit').then(() => {
        ended.abort()
        wake()
      })
      lookAtNext()
      while (!signal.aborted && !ended.signal.aborted && (await markOf(manifestPath(folder, name))) === mark)
        await pause(LOOK_AGAIN_MS)
      open = undefined
      if (!ended.signal.aborted) send(worker, CLOSE)
      await exit
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ModelError) failure = error
      else failure = new ModelError('model_failed', `The model ${name} failed: ${String(error).slice(0, 120)}`)
      log.error({ model: name, code: failure.code, err: error }, 'the model can not be used')
      dropWaiting()
      while (!signal.aborted && isLasting(failure) && (await markOf(manifestPath(folder, name))) === mark)
        await pause(LOOK_AGAIN_MS)
    } finally {
      open = undefined
      answerUnderway(undefined)
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await runOnce()
      if (failure) await pause(backoff.next())
    }
  }

  const done = run()

  return {
    name,
    look(camera, pictures) {
      if (!open && failure) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<Seen[][] | undefined>()
      const replaced = turns.put(camera, { pictures, done: resolve })
      if (replaced) {
        const now = clock()
        dropped = [...recent(dropped, now), now]
        replaced.done(undefined)
      }
      lookAtNext()
      return promise
    },
    labels: () => (failure ? undefined : open?.labels.filter((label) => label !== null)),
    scores: () => open?.scores,
    executionProvider: () => open?.executionProvider,
    inferenceMs: () => Math.round(inferenceMs * 10) / 10,
    problems() {
      if (failure) return [inWords(failure)]
      const now = clock()
      const [taken, missed] = [recent(looked, now).length, recent(dropped, now).length]
      if (missed <= DROPPED * (taken + missed)) return []
      const share = `${taken} of ${taken + missed} pictures`
      return [`The model ${name} is too slow for its cameras: it looked at ${share} in the last 10 s.`]
    },
    async stop() {
      stopping.abort()
      await done
      dropWaiting()
    },
  }
}

function send(worker: Worker, message: ToModelWorker): void {
  worker.postMessage(message)
}

/** Names are learned for animals alone. */
function named({ box, classIndex, score, features }: FeaturedCandidate, { labels, sha256 }: OpenWorker): Seen[] {
  const label = labels[classIndex]
  if (!label) return []
  if (!features || !isAnimalLabel(label)) return [{ box, label, score }]
  return [{ box, label, score, features: { model: sha256, values: features } }]
}

/** Opening it again is useless until somebody adds it again. */
function isLasting({ code }: ModelError): boolean {
  return code !== 'model_failed' && code !== 'provider_missing'
}

/** Changes when the file does. */
async function markOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch (error) {
    if (isMissing(error)) return 'none'
    throw error
  }
}
