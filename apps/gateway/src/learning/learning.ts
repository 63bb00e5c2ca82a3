/**
 * Learning from reviews (Platt 1999, Angelopoulos et al. 2022; packages/vision/src/learning): the first look at each
 * detection is stored, at night a verifier is trained on the reviews, and a better version takes over. It holds back
 * detections that look like false alarms: the hub gets them as suppressed, rules do not see them, and none is deleted.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Detection, GatewayLearning, Heartbeat, LearningUndo } from '@hedgerow/contract'
import { verifierFeatures, verify, type Polygon } from '@hedgerow/vision'
import { isWithin, type Place } from '../kernel/hours.ts'
import { createLooks, hourOf, type LooksOptions } from './looks.ts'
import { createNames, type Named, type Names } from './names.ts'
import { isUsable, type CameraNight, type StoredVerdict } from './night.ts'
import { countNights } from './nights.ts'
import type { NightResult, NightTask } from './night-worker.ts'
import { createProposals } from './proposals.ts'
import type { Sight } from '../sources/source.ts'
import { mayLearn, type LearningSettings } from './schema.ts'
import { keyOf, LEARNING_FILE, openLearningStore, type Version } from './store.ts'
import { camerasOf, describe, lessonReport, nightMessage } from './words.ts'

export type Judgement = Pick<Detection, 'suppressed'> & {
  verdict?: NonNullable<Detection['verdicts']>[number]
  /** The name that people of this site use. */
  named?: Named
}

export type Learning = {
  /**
   * Whether a version holds this detection back. A detection that was shown once stays shown, and so does one that a
   * person or a later stage confirmed. A held-back one is judged again with each picture, more strictly.
   */
  judge(
    detection: Detection,
    context: { before: Detection | undefined; sight: Sight | undefined },
  ): Judgement | Promise<Judgement>
  /** Call it when reviews changed: a held-back detection that was called right is shown, and counts as a miss. */
  onReviews(): Promise<void>
  /**
   * Learns now. At most one run at a time: a call during a run joins it. Rejects when learning failed. `isAsked`: a
   * person asks, which ends the pause of names after an undo.
   */
  run(isAsked?: boolean): Promise<void>
  /** As `run`, for a person. It goes on after the answer; the report has a failure. */
  begin(): void
  names: Omit<Names, 'name' | 'takeOver' | 'report'>
  /** Goes back to an earlier version, or to none. False when none is active, or the named one does not exist. */
  undo(wanted: LearningUndo, by: string): boolean
  /** Never proposes this mask again. False when there is no such proposal. */
  dismissMask(camera: string, id: string): boolean
  state(): NonNullable<Heartbeat['learning']>
  report(): GatewayLearning
  stop(): Promise<void>
}

export type LearningOptions = LooksOptions & {
  dataDir: string
  /** The masks of a camera in gateway.yaml. */
  masks(camera: string): readonly Polygon[]
  /** People's reviews, in the order in which they were made. */
  reviews(): readonly StoredVerdict[]
  /** Updates the record and the hub with a decision of this module. */
  update(id: string, change: Pick<Detection, 'suppressed' | 'doubtful'>): Promise<boolean>
}

const HOUR_MS = 3_600_000
const LOOK_EVERY_MS = 300_000
/** At least this long between two nights, by the wall clock. */
const NIGHT_APART_MS = 20 * HOUR_MS
/** On a busy device a thread of low priority gets little time. */
const RUN_MAX_MS = 3_000_000
const MEMORY_MAX_MB = 512
/** After a person undid a version, no other takes over on its own for a week. */
const PAUSE_MS = 7 * 24 * HOUR_MS
const HELD_BACK_REASON = 'It looks like what people called wrong on this camera.'
/**
 * Verifiers are trained on first looks, and the threshold holds for them. A later picture is larger and elsewhere, so
 * it shows a held-back detection only when that is more likely right than wrong.
 */
const LEAST_PROBABILITY_LATER = 0.5
/** One right review of a held-back detection may be a slip. */
const MISSES_ALLOWED = 1

export function createLearning(options: LearningOptions): Learning {
  const { log, clock, settings } = options
  const path = join(options.dataDir, LEARNING_FILE)
  const store = openLearningStore(path, log)
  const looks = createLooks(store, options)
  const proposals = createProposals(store, options.masks)
  const names = createNames(store, clock)
  let active = new Map<string, Version>()
  let running: Promise<void> | undefined
  let worker: Worker | undefined
  let failure: string | undefined
  let triedAt = -Infinity
  let isStopped = false
  const timer = setInterval(lookAtTheClock, LOOK_EVERY_MS)
  timer.unref()
  reload()

  function reload(): void {
    active = new Map(
      store
        .versions()
        .filter(isUsable)
        .map((version) => [keyOf(version), version]),
    )
  }

  /** The version that may hold this detection back. */
  function versionFor({ camera, label }: Detection): Version | undefined {
    if (!settings().enabled || !mayLearn(settings(), camera, label)) return undefined
    return active.get(keyOf({ camera, label }))
  }

  function judge(detection: Detection, known: Parameters<Learning['judge']>[1]): Judgement | Promise<Judgement> {
    if (!settings().enabled) return known.before?.suppressed ? { suppressed: false } : {}
    const held = judgeHeld(detection, known)
    const named = nameFor(detection, known)
    if (!named) return held
    return held instanceof Promise ? held.then((one) => ({ ...one, named })) : { ...held, named }
  }

  function nameFor(detection: Detection, known: Parameters<Learning['judge']>[1]): Named | undefined {
    const { before } = known
    const hour = hourOf(Date.parse(detection.startedAt), options.place())
    const named = names.name(detection, { ...known, hour })
    const label = named?.label ?? detection.label
    try {
      if ((before?.label ?? detection.label) !== label) store.names.setLabel(detection.id, named?.label)
    } catch (error) {
      log.error({ err: error, id: detection.id }, 'a given name could not be stored for learning')
    }
    return named
  }

  function judgeHeld(
    detection: Detection,
    { before, sight }: { before: Detection | undefined; sight: Sight | undefined },
  ): Judgement | Promise<Judgement> {
    const version = versionFor(detection)
    const isShown = before !== undefined && before.suppressed !== true
    const isNew = looks.isNew(detection, before)
    if (version && !isShown && !isConfirmed(detection)) return judgeBy(version, detection, { before, sight, isNew })
    if (isNew) looks.takeLater(detection, sight)
    return release(detection.id, before)
  }

  async function judgeBy(
    version: Version,
    detection: Detection,
    { before, sight, isNew }: { before: Detection | undefined; sight: Sight | undefined; isNew: boolean },
  ): Promise<Judgement> {
    const look = await looks.take(detection, sight)
    if (!look) return before?.suppressed ? { suppressed: true } : {}
    if (isNew) looks.keep(look)
    const { isHeldBack: isBelow, probability } = verify(version.verifier, verifierFeatures(look))
    const isHeldBack = isBelow || (before?.suppressed === true && probability < LEAST_PROBABILITY_LATER)
    const verdict = { stage: 'learned', by: `version ${version.number}`, score: round(probability) }
    if (!isHeldBack) return { ...release(detection.id, before), verdict: { ...verdict, outcome: 'unsure' } }
    store.setHeld(detection.id, version.number)
    return { suppressed: true, verdict: { ...verdict, outcome: 'rejected', reason: HELD_BACK_REASON } }
  }

  function release(id: string, before: Detection | undefined): Judgement {
    if (before?.suppressed !== true) return {}
    store.setHeld(id, undefined)
    return { suppressed: false }
  }

  async function onReviews(): Promise<void> {
    const right = new Set(
      options.reviews().flatMap(({ detection, verdict }) => (verdict === 'right' ? [detection] : [])),
    )
    for (const version of active.values()) {
      for (const id of store.missedBy(version.number).filter((one) => !right.has(one))) {
        store.setHeld(id, version.number)
        await options.update(id, { suppressed: true })
      }
      const missed = store.heldBy(version.number).filter((id) => right.has(id))
      for (const id of missed) {
        store.addMiss(version.number, id)
        await options.update(id, { suppressed: false })
      }
      if (missed.length === 0) continue
      const misses = store.missedBy(version.number).length
      log.warn({ ...describe(version), misses }, 'people called held-back detections right')
      const seen = store.idsSince(version.camera, version.label, version.at).filter((id) => right.has(id)).length
      if (misses > MISSES_ALLOWED + seen * version.verifier.threshold.bound)
        end({ camera: version.camera, label: version.label }, 'misses')
    }
  }

  function end(wanted: LearningUndo, by: string): boolean {
    const found = store.undo(wanted, clock(), by)
    if (!found) return false
    reload()
    log.warn({ ...describe(found.undone), by }, 'a version was undone')
    return true
  }

  function lookAtTheClock(): void {
    if (isStopped || running || performance.now() - triedAt < HOUR_MS) return
    const begunAt = store.get('begun-at')
    if (isDue(clock(), begunAt === undefined ? undefined : Number(begunAt), settings(), options.place()))
      void run().catch(() => {})
  }

  function run(isAsked = false): Promise<void> {
    running ??= learnNow(isAsked).finally(() => (running = undefined))
    return running
  }

  async function learnNow(isAsked: boolean): Promise<void> {
    triedAt = performance.now()
    try {
      // Written first, so that a night that ends the process is not repeated in a loop.
      store.set('begun-at', String(clock()))
      const { cameras, names: night } = await inThread({
        path,
        reviews: options.reviews(),
        settings: { alsoLearn: settings().alsoLearn },
        now: clock(),
      })
      names.takeOver(night, isAsked)
      await takeOver(cameras)
      failure = undefined
      store.set('ended-at', String(clock()))
    } catch (error) {
      if (isStopped) return
      failure = error instanceof Error ? error.message : String(error)
      log.error({ err: error }, 'learning failed; the versions stay as they are')
      throw error
    }
  }

  function inThread(task: NightTask): Promise<NightResult> {
    const { promise, resolve, reject } = Promise.withResolvers<NightResult>()
    const { NODE_COMPILE_CACHE } = process.env
    const thread = new Worker(new URL('./night-worker.ts', import.meta.url), {
      workerData: task,
      execArgv: [],
      // The thread gets none of the agent's settings. Without the cache, each night would compile its sources again.
      env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MAX_MB },
    })
    worker = thread
    const late = setTimeout(() => void thread.terminate(), RUN_MAX_MS)
    thread
      .once('message', resolve)
      .once('error', reject)
      .once('exit', () => reject(new Error('the thread ended without an answer')))
    return promise.finally(() => {
      clearTimeout(late)
      worker = undefined
      return thread.terminate()
    })
  }

  async function takeOver(nights: readonly CameraNight[]): Promise<void> {
    const reports = []
    for (const { camera, lessons, drift, doubtful, masks } of nights) {
      for (const { label, calibration } of drift) {
        const version = active.get(keyOf({ camera, label }))
        if (version && calibration) store.recalibrate(version.number, calibration)
      }
      for (const lesson of lessons) {
        const pausedUntil = pauseOf(camera, lesson.label)
        const isTaken = lesson.outcome === 'better' && lesson.candidate !== undefined && pausedUntil === undefined
        if (isTaken) {
          const version = store.begin(camera, lesson.label, clock(), lesson.candidate!)
          log.info({ ...describe(version), ...lesson.test }, 'a new version takes over')
        }
        reports.push(
          lessonReport(camera, lesson, { pausedUntil, drift: drift.find(({ label }) => label === lesson.label) }),
        )
      }
      proposals.put(camera, masks)
      for (const id of doubtful) {
        store.markAsked(id)
        await options.update(id, { doubtful: true })
      }
    }
    store.putReports(reports)
    reload()
  }

  function pauseOf(camera: string, label: string): number | undefined {
    const last = store
      .versions()
      .filter(
        (one) => one.camera === camera && one.label === label && one.state === 'undone' && one.endedBy !== 'misses',
      )
      .at(-1)
    const endedAt = last?.endedAt ?? null
    if (endedAt === null) return undefined
    const passed = clock() - endedAt
    return passed >= 0 && passed < PAUSE_MS ? endedAt + PAUSE_MS : undefined
  }

  function state(): NonNullable<Heartbeat['learning']> {
    const endedAt = store.get('ended-at')
    const lastRunAt = endedAt === undefined ? null : Number(endedAt)
    if (!settings().enabled) return { state: 'off', lastRunAt, message: 'Learning is switched off in gateway.yaml.' }
    if (running) return { state: 'running', lastRunAt, message: 'It learns now.' }
    if (failure !== undefined)
      return { state: 'failed', lastRunAt, message: `Learning failed: ${failure}`.slice(0, 500) }
    return { state: 'waiting', lastRunAt, message: nightMessage(store.reports(), active.size) }
  }

  return {
    judge,
    onReviews,
    run,
    begin: () => void run(true).catch(() => {}),
    undo: end,
    names,
    dismissMask: proposals.dismiss,
    state,
    report() {
      const { lastRunAt, ...rest } = state()
      const ended = lastRunAt === null ? null : new Date(lastRunAt).toISOString()
      const wanted = { store, reviews: options.reviews(), now: clock(), place: options.place() }
      const partsOf = (camera: string) => ({ nights: countNights(camera, wanted), masks: proposals.of(camera) })
      return { ...rest, lastRunAt: ended, cameras: camerasOf(store, partsOf), names: names.report() }
    },
    async stop() {
      isStopped = true
      looks.stop()
      clearInterval(timer)
      await worker?.terminate()
      await running?.catch(() => {})
      store.close()
    },
  }
}

/** Whether a night's run is due at `now`. After a leap of the clock in either direction, one more night is learned. */
export function isDue(
  now: number,
  begunAt: number | undefined,
  { enabled, hours }: Pick<LearningSettings, 'enabled' | 'hours'>,
  place: Place,
): boolean {
  if (!enabled || !isWithin(hours, now, place)) return false
  return begunAt === undefined || Math.abs(now - begunAt) >= NIGHT_APART_MS
}

/** Whether a person or a later stage confirmed the detection. */
function isConfirmed({ validated, verdicts }: Detection): boolean {
  return validated === true || verdicts?.at(-1)?.outcome === 'confirmed'
}

function round(probability: number): number {
  return Math.round(probability * 1_000) / 1_000
}
