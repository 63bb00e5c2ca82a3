/**
 * The second look at detections: one question at a time, the newest detections first when there are too many. The
 * verdict of a stage fires nothing by itself: rules use the detector's label and score, and may require a confirmation.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Detection, Verdict } from '@hedgerow/contract'
import { unsure } from '@hedgerow/second-look'
import type { Logger } from 'pino'
import type { AskHub } from '../hub/second-look.ts'
import { SECOND_LOOK, type SecondLookSettings } from './schema.ts'
import type { Stage, StageLook } from './stages.ts'

type File = { secondLook?: SecondLookSettings | undefined; site: { timeZone?: string | undefined } }

export type SecondLook = {
  /** Takes the stored state of a detection. It gets its second look once, and again with another label. */
  see(detection: Detection): void
  apply(file: File): void
  /** The way to the hub, once there is one. */
  useHub(askHub: AskHub): void
  problems(): string[]
  stop(): Promise<void>
}

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
  /** By detection; the newest at the end. */
  const waiting = new Map<string, Detection>()
  /** The label with which each detection got its second look. */
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
  }

  /** The stages take memory that a gateway without a second look does not need. */
  async function open(wanted: SecondLookSettings, timeZone: string | undefined): Promise<Stage> {
    const { openStage } = await import('./stages.ts')
    const opened = openStage(wanted, { dataDir, log, timeZone, askHub: () => askHub })
    if (wanted === settings) problemsOfStage = opened.problems
    return opened
  }

  async function pictureOf(detection: Detection): Promise<{ jpeg: Buffer; isWhole: boolean } | undefined> {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(SNAPSHOT_MS)])
    const whole = await snapshot(detection, timeout).catch(() => undefined)
    if (whole) return { jpeg: whole, isWhole: true }
    const jpeg = thumbnail(detection.id)
    return jpeg && { jpeg, isWhole: false }
  }

  async function ask(detection: Detection, asked: Stage): Promise<StageLook> {
    if (performance.now() < pausedUntil) return unsure(fault ?? 'The second look pauses.')
    const picture = await pictureOf(detection)
    if (!picture) return unsure('There is no picture.')
    const { box, ...rest } = detection
    const look = await asked.look(picture.isWhole && box ? { ...rest, box } : rest, picture.jpeg, signal)
    fault = look.fault
    if (look.retryAfterMs !== undefined) pausedUntil = performance.now() + look.retryAfterMs
    return look
  }

  async function lookAt(detection: Detection, asked: Stage): Promise<void> {
    const startedAt = performance.now()
    const look = await ask(detection, asked).catch((error: unknown): StageLook => {
      log.error({ err: error, id: detection.id }, 'a second look failed')
      return unsure('The second look failed.')
    })
    if (signal.aborted) return
    const { fault: _fault, retryAfterMs: _pause, ...said } = look
    const ms = Math.round(performance.now() - startedAt)
    const verdict: Verdict = { stage: SECOND_LOOK, by: asked.by, ...said, ms }
    await onVerdict(detection.id, detection.label, verdict)
  }

  async function work(): Promise<void> {
    while (!signal.aborted) {
      const newest = [...waiting.values()].at(-1)
      if (!newest || !stage) break
      waiting.delete(newest.id)
      await lookAt(newest, await stage).catch((error: unknown) =>
        log.error({ err: error, id: newest.id }, 'a second look could not be stored'),
      )
      await delay(0)
    }
    working = undefined
  }

  apply(options.file)
  return {
    see(detection) {
      const { id, label } = detection
      if (!settings || !stage || signal.aborted) return
      if (!settings.labels.some((each) => each.toLowerCase() === label.toLowerCase())) {
        waiting.delete(id)
        return
      }
      const isBefore = detection.verdicts?.some((verdict) => verdict.stage === SECOND_LOOK) ?? false
      if (isBefore || looked.get(id) === label || thumbnail(id) === undefined) return
      looked.set(id, label)
      const [oldest] = looked.keys()
      if (looked.size > REMEMBERED_MAX) looked.delete(oldest!)
      waiting.set(id, detection)
      if (waiting.size > WAITING_MAX) {
        const [dropped] = waiting.values()
        waiting.delete(dropped!.id)
        const verdict: Verdict = { stage: SECOND_LOOK, by: 'gateway', ...unsure('Too many waited for a second look.') }
        void onVerdict(dropped!.id, dropped!.label, verdict).catch((error: unknown) =>
          log.error({ err: error, id: dropped!.id }, 'a second look could not be stored'),
        )
      }
      working ??= work()
    },
    apply,
    useHub: (ask) => void (askHub = ask),
    problems: () => [...problemsOfStage(), ...(fault === undefined ? [] : [`The second look does not work: ${fault}`])],
    async stop() {
      stopping.abort()
      await stage?.then((open) => open.stop())
      await working
      await closing
    },
  }
}
