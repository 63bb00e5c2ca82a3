import type { Logger } from 'pino'
import {
  areaOf,
  clipToPicture,
  createMotionDetector,
  intersectionOf,
  Tracker,
  type MotionDetector,
  type Region,
  type Sighting,
  type Size,
  type Track,
} from '@hedgerow/vision'
import type { Frame } from '../../cameras/camera.ts'
import type { CameraSettings } from '../../cameras/schema.ts'
import { isSameName } from '../../kernel/same-name.ts'
import type { CameraRecorder } from '../../recording/recorder.ts'
import type { LiveBox, SourceContext } from '../source.ts'
import { createCandidateWatch } from './candidates.ts'
import { createDetections } from './detections.ts'
import type { Recogniser } from './recogniser.ts'
import type { EyeSettings } from './schema.ts'
import { HIGH_SHARE, TRACKING } from './tracking.ts'

/**
 * How often a picture without movement is looked at: while a track is followed, and otherwise to find objects that
 * stand still.
 */
const FOLLOW_EVERY_MS = 500
const LOOK_AROUND_EVERY_MS = 5_000
/** An object moves when this share of its box is in a moving region. */
const MOVING_SHARE = 0.05
/**
 * An object that has not moved for this long, such as a parked car, counts as part of the scene until it moves again.
 */
const STILL_MS = 30_000
/** Boxes of older looks are not shown. */
const BOXES_MS = 2_000
const BOXES_MAX = 32

/** Processes the pictures of one camera: motion, recognition, tracks, detections. */
export function createWatcher(
  name: string,
  camera: CameraSettings,
  settings: EyeSettings,
  { report, glimpse, noteCandidate, clock }: Pick<SourceContext, 'report' | 'glimpse' | 'noteCandidate' | 'clock'>,
  log: Logger,
  { recogniser, recorder }: { recogniser: Recogniser; recorder: CameraRecorder },
) {
  const isWanted = (label: string) => settings.labels?.some((each) => isSameName(each, label)) ?? true
  const minimumScore = camera.minimumScore ?? settings.minimumScore
  const toUnixMs = (atMs: number) => clock() - (performance.now() - atMs)
  const tracker = new Tracker({ ...TRACKING, newScore: minimumScore, highScore: minimumScore * HIGH_SHARE })
  const detections = createDetections({
    camera: name,
    zones: camera.zones,
    by: recogniser.by,
    toUnixMs,
    report,
    recorder,
  })
  const candidates = createCandidateWatch((candidate, beganAtMs) => {
    if (isWanted(candidate.label)) noteCandidate(name, { ...candidate, at: Math.round(toUnixMs(beganAtMs)) })
  })
  let motion: MotionDetector | undefined
  let size: Size | undefined
  /** The mean time of the last looks, in milliseconds. */
  let lookMs = 0
  let lookedAt = -Infinity
  let live: { atMs: number; boxes: LiveBox[] } = { atMs: -Infinity, boxes: [] }
  /** When each track last moved. */
  const movedAt = new Map<number, number>()
  /** Processes one picture after the other. */
  let turn: Promise<void> = Promise.resolve()
  let isOver = false

  async function end(tracks: readonly Track[]): Promise<void> {
    for (const track of tracks) {
      movedAt.delete(track.id)
      await detections.end(track).catch(onFailure)
    }
  }

  function endAll(): Promise<void> {
    candidates.end()
    return end(tracker.end())
  }

  function onFailure(error: unknown): void {
    log.error({ err: error, camera: name }, 'a detection could not be stored')
  }

  function isWorthALook(regions: readonly Region[], now: number): boolean {
    if (!recogniser.seesStill || regions.length > 0) return true
    return now - lookedAt >= (movedAt.size > 0 ? FOLLOW_EVERY_MS : LOOK_AROUND_EVERY_MS)
  }

  async function follow(frame: Frame, regions: readonly Region[], sightings: Sighting[]): Promise<void> {
    if (isOver) return
    const { atMs } = frame
    const isMoving = ({ box }: Sighting) =>
      regions.some((region) => intersectionOf(region.box, box) > MOVING_SHARE * areaOf(box))
    const { seen, ended } = tracker.update(sightings, atMs)
    candidates.see(sightings, isMoving, atMs)
    live = { atMs, boxes: seen.slice(0, BOXES_MAX).map(liveBoxOf) }
    for (const track of seen) {
      if (isMoving(track.sighting)) movedAt.set(track.id, atMs)
      const lastMovedAt = movedAt.get(track.id)
      if (lastMovedAt === undefined) continue
      if (atMs - lastMovedAt > STILL_MS) await end([track])
      else if (isWanted(track.label)) await detections.see(track, frame).catch(onFailure)
    }
    await end(ended)
  }

  return {
    /** Resolves when the picture was processed or dropped. */
    async onFrame(frame: Frame): Promise<void> {
      const { luma, atMs } = frame
      if (frame.jpeg) recorder.addPicture({ jpeg: frame.jpeg, at: atMs })
      if (!motion || size?.width !== luma.width || size.height !== luma.height) {
        size = { width: luma.width, height: luma.height }
        motion = createMotionDetector({ size, masks: camera.masks })
        await (turn = turn.then(endAll))
      }
      const startedAt = performance.now()
      const { regions } = motion.detect(luma, atMs)
      if (!isWorthALook(regions, atMs)) return
      lookedAt = atMs
      const sightings = await recogniser.look(name, frame, regions)
      if (!sightings) return
      lookMs += (performance.now() - startedAt - lookMs) / 10
      // A possible person keeps deterrents off before the track is confirmed.
      for (const { label, score } of sightings) if (score >= recogniser.glimpseScore) glimpse(name, label)
      await (turn = turn.then(() => follow(frame, regions, sightings)))
    },
    lookMs: () => lookMs,
    /** `now` by the clock of the pictures. */
    boxes: (now = performance.now()) => (now - live.atMs > BOXES_MS ? [] : live.boxes),
    picture: detections.picture,
    /** Ends all tracks. */
    stop() {
      turn = turn.then(endAll)
      isOver = true
      return turn
    },
  }
}

function liveBoxOf({ label, sighting: { box, score } }: Track): LiveBox {
  return { label, score, box: clipToPicture(box) }
}
