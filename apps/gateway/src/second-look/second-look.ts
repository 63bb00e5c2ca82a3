/**
 * The second look at detections: one question at a time, the newest detections first. While a stage pauses, detections
 * wait for as long as its answer would be of use. The verdict of a stage fires nothing by itself: rules use the
 * detector's label and score, and may require a confirmation.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Detection, Verdict } from '@hedgerow/contract'
import { unsure } from '@hedgerow/second-look'
import type { Logger } from 'pino'
import type { AskHub } from '../hub/second-look.ts'
import { isSameName } from '../kernel/same-name.ts'
import { SECOND_LOOK, type SecondLookSettings } from './schema.ts'
import type { Stage, StageLook } from './stages.ts'

type File = { secondLook?: SecondLookSettings | undefined; site: { timeZone?: string | undefined } }

export type SecondLook = {
  /** Takes the stored state of a detection. It gets one second look, and another one when its label changes. */
  see(detection: Detection): void
  apply(file: File): void
  /** The way to the hub, once there is one. */
  useHub(askHub: AskHub): void
  problems(): string[]
  stop(): Promise<void>
}

/** `since`: when it came, by a clock that never goes back. */
type Waiting = { detection: Detection; since: number }

export type SecondLookOptions = {
  file: File
  dataDir: string
  /** The whole picture to which the detection's box refers. */
  snapshot(detection: Detection, signal: AbortSignal): Promise<Buffer | undefined>
  /** The picture that came with the detection. */
  thumbnail(detectionId: string): Buffer | undefined
  /** Stores the verdict; `label` is the label that it judges. */
  onVerdict(detectionId: string, label: string, verdict: Verdict): Promise<void>
  log: Logger
}

const WAITING_MAX = 16
/** After this time people have looked for themselves, and rules no longer fire for the detection. */
const OF_USE_MS = 15 * 60_000
const REMEMBERED_MAX = 10_000
const SNAPSHOT_MS = 10_000

export function createSecondLook(options: SecondLookOptions): SecondLook {
  const { dataDir, snapshot, thumbnail, onVerdict, log } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let settings: SecondLookSettings | undefined
  let stage: Promise<Stage> | undefined
  let problemsOfStage: () => string[] = () => []
  let askHub: AskHub | undefined
  let fault: string | undefined
  let pausedUntil = 0
  let pauseTimer: NodeJS.Timeout | undefined
  /** By detection. */
  const waiting = new Map<string, Waiting>()
  /** The label with which each detection got its second look, or waits for it. */
  const looked = new Map<string, string>()
  let working: Promise<void> | undefined
  let closing: Promise<unknown> = Promise.resolve()

  function apply(file: File): void {
    if (isDeepStrictEqual(file.secondLook, settings)) return
    closing = Promise.all([closing, stage?.then((before) => before.stop())])
    settings = file.secondLook
    fault = undefined
    pausedUntil = 0
    problemsOfStage = () => []
    stage = settings && open(settings, file.site.timeZone)
    for (const { detection } of waiting.values()) if (!isWanted(detection)) forget(detection)
    begin()
  }

  /** Loads the stages only now: a gateway without a second look saves their memory. */
  async function open(wanted: SecondLookSettings, timeZone: string | undefined): Promise<Stage> {
    const { openStage } = await import('./stages.ts')
    const opened = openStage(wanted, { dataDir, log, timeZone, askHub: () => askHub })
    if (wanted === settings) problemsOfStage = opened.problems
    return opened
  }

  function isWanted({ label }: Detection): boolean {
    return settings?.labels.some((each) => isSameName(each, label)) ?? false
  }

  function forget({ id }: Detection): void {
    waiting.delete(id)
    looked.delete(id)
  }

  async function pictureOf(detection: Detection): Promise<{ jpeg: Buffer; isWhole: boolean } | undefined> {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(SNAPSHOT_MS)])
    const whole = await snapshot(detection, timeout).catch(() => undefined)
    if (whole) return { jpeg: whole, isWhole: true }
    const jpeg = thumbnail(detection.id)
    return jpeg && { jpeg, isWhole: false }
  }

  async function lookWith(detection: Detection, nextStage: Stage): Promise<StageLook> {
    const picture = await pictureOf(detection)
    if (!picture) return unsure('There is no picture.')
    const { box, ...rest } = detection
    const previousSettings = settings
    const look = await nextStage.look(picture.isWhole && box ? { ...rest, box } : rest, picture.jpeg, signal)
    if (previousSettings !== settings) return look
    fault = look.fault
    if (look.retryAfterMs !== undefined) pausedUntil = performance.now() + look.retryAfterMs
    return look
  }

  async function lookAt(entry: Waiting, nextStage: Stage): Promise<void> {
    const { detection } = entry
    const startedAt = performance.now()
    const look = await lookWith(detection, nextStage).catch((error: unknown): StageLook => {
      log.error({ err: error, id: detection.id }, 'a second look failed')
      return unsure('The second look failed.')
    })
    if (signal.aborted) return
    const { fault: _fault, retryAfterMs, ...rest } = look
    if (retryAfterMs !== undefined && isOfUseAfterPause(entry)) {
      // The detection may have another label by now, and wait for its second look with that one.
      if (looked.get(detection.id) === detection.label) wait(entry)
      return
    }
    const ms = Math.round(performance.now() - startedAt)
    await onVerdict(detection.id, detection.label, { stage: SECOND_LOOK, by: nextStage.by, ...rest, ms })
  }

  const isOfUseAfterPause = ({ since }: Waiting): boolean => since + OF_USE_MS > pausedUntil

  /** Stores the verdict `unsure`, with the reason as a sentence. */
  function giveUp({ detection }: Waiting, reason: string): void {
    const { id, label } = detection
    waiting.delete(id)
    const verdict: Verdict = { stage: SECOND_LOOK, by: 'gateway', ...unsure(reason) }
    void onVerdict(id, label, verdict).catch((error: unknown) =>
      log.error({ err: error, id }, 'a second look could not be stored'),
    )
  }

  const newestFirst = (): Waiting[] => [...waiting.values()].toSorted((a, b) => b.since - a.since)

  function wait(entry: Waiting): void {
    waiting.set(entry.detection.id, entry)
    const oldest = newestFirst().at(-1)
    if (oldest && waiting.size > WAITING_MAX) giveUp(oldest, 'Too many waited for a second look.')
  }

  /** Begins to look unless that has begun; during a pause, begins when it is over. */
  function begin(): void {
    clearTimeout(pauseTimer)
    if (signal.aborted || working || !stage) return
    const pauseMs = pausedUntil - performance.now()
    if (pauseMs > 0)
      for (const entry of waiting.values())
        if (!isOfUseAfterPause(entry)) giveUp(entry, fault ?? 'The second look pauses.')
    if (waiting.size === 0) return
    if (pauseMs > 0) pauseTimer = setTimeout(begin, pauseMs).unref()
    else working = work()
  }

  async function work(): Promise<void> {
    while (!signal.aborted && performance.now() >= pausedUntil) {
      const [newest] = newestFirst()
      if (!newest || !stage) break
      const { id } = newest.detection
      waiting.delete(id)
      await lookAt(newest, await stage).catch((error: unknown) =>
        log.error({ err: error, id }, 'a second look could not be stored'),
      )
      await delay(0)
    }
    working = undefined
    begin()
  }

  apply(options.file)
  return {
    see(detection) {
      const { id, label } = detection
      if (!settings || signal.aborted) return
      if (!isWanted(detection)) {
        forget(detection)
        return
      }
      const before = waiting.get(id)
      if (before?.detection.label === label) {
        // Its box belongs to its newest picture.
        before.detection = detection
        return
      }
      const isBefore = detection.verdicts?.some((verdict) => verdict.stage === SECOND_LOOK) ?? false
      if (isBefore || looked.get(id) === label || thumbnail(id) === undefined) return
      looked.set(id, label)
      const [oldest] = looked.keys()
      if (looked.size > REMEMBERED_MAX) looked.delete(oldest!)
      wait({ detection, since: performance.now() })
      begin()
    },
    apply,
    useHub: (asker) => void (askHub = asker),
    problems: () => [...problemsOfStage(), ...(fault === undefined ? [] : [`The second look does not work: ${fault}`])],
    async stop() {
      stopping.abort()
      clearTimeout(pauseTimer)
      await stage?.then((open) => open.stop())
      await working
      await closing
    },
  }
}
