import type { Logger } from 'pino'
import {
  clipToPicture,
  createMotionDetector,
  overlapOf,
  Tracker,
  type MotionDetector,
  type Region,
  type Size,
  type Track,
} from '@hedgerow/vision'
import type { Frame } from '../../cameras/camera.ts'
import type { CameraSettings } from '../../cameras/schema.ts'
import type { CameraRecorder } from '../../recording/recorder.ts'
import type { LiveBox, SourceContext } from '../source.ts'
import { createCandidateWatch } from './candidates.ts'
import { createDetections } from './detections.ts'
import { createGlimpses } from './glimpses.ts'
import { createMovement } from './movement.ts'
import type { CameraOverlays } from './overlays.ts'
import { createPace, type Aim } from './pace.ts'
import type { Looked, Recogniser } from './recogniser.ts'
import type { EyeSettings } from './schema.ts'
import { TRACKING } from './tracking.ts'
import { createUsualSizes } from './usual-sizes.ts'
import { createWanted } from './wanted.ts'

/**
 * An object that has not moved for this long, such as a parked car, counts as part of the scene until it moves again.
 */
const STILL_MS = 30_000
/** An object is followed between two pictures without movement until it has not moved for so long. */
const FOLLOWED_MS = 10_000
/** Tracks end with their pictures: after a gap of so long, or so many pictures, another object may be there. */
const GAP_MS = 2_000
const GAP_PICTURES = 2.5
/** When most of the picture changes at once, it is the light, or an animal before the lens: a model looks. */
const EVERYTHING: Region = { box: { x: 0, y: 0, width: 1, height: 1 }, blocks: 0, stirred: 1, strength: 1 }
const NEW_SCENE_MS = 5_000
/** A track that did not move for so long rests. */
const RESTS_AFTER_MS = 3_000
const SAME_PLACE = 0.5
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
  {
    recogniser,
    recorder,
    overlays,
  }: { recogniser: Recogniser; recorder: CameraRecorder; overlays?: CameraOverlays | undefined },
) {
  const toUnixMs = (atMs: number) => clock() - (performance.now() - atMs)
  const pictureMs = 1_000 / camera.framesPerSecond
  const wanted = createWanted(camera, settings, () => recogniser.scores?.())
  const tracker = new Tracker(TRACKING)
  const movement = createMovement()
  const pace = createPace()
  const usualSizes = createUsualSizes()
  const glimpses = createGlimpses(pictureMs, (label) => glimpse(name, label))
  const detections = createDetections({
    camera: name,
    zones: camera.zones,
    by: recogniser.by,
    toUnixMs,
    report,
    recorder,
  })
  const noteTrack = createCandidateWatch((candidate, beganAtMs) => {
    if (wanted.label(candidate.label)) noteCandidate(name, { ...candidate, at: Math.round(toUnixMs(beganAtMs)) })
  })
  let motion: MotionDetector | undefined
  let size: Size | undefined
  /** The mean time of the last looks, in milliseconds. */
  let lookMs = 0
  let pictureAt = -Infinity
  let newSceneAt = -Infinity
  let live: { atMs: number; boxes: LiveBox[] } = { atMs: -Infinity, boxes: [] }
  /** The tracks that moved: when they last did, and where they were seen last. */
  const moved = new Map<number, { atMs: number; track: Track }>()
  /** Processes one picture after the other. */
  let turn: Promise<void> = Promise.resolve()
  let isOver = false

  async function end(tracks: readonly Track[]): Promise<void> {
    for (const track of tracks) {
      if (moved.delete(track.id)) noteTrack(track)
      movement.forget(track.id)
      await detections.end(track).catch(onFailure)
    }
  }

  const endAll = () => end(tracker.end())

  function onFailure(error: unknown): void {
    log.error({ err: error, camera: name }, 'a detection could not be stored')
  }

  function aimOf(regions: readonly Region[], now: number): Aim | undefined {
    const usualSide = usualSizes.side
    if (!recogniser.seesStill)
      return { boxes: regions.map(({ box }) => box), isWhole: false, isUnknown: true, usualSide }
    const followed = [...moved.values()].filter(({ atMs }) => now - atMs < FOLLOWED_MS).map(({ track }) => track.box)
    const aim = pace.aim({ regions, followed, unsure: glimpses.isUnsure() ? glimpses.boxes() : [] }, now)
    return aim && { ...aim, usualSide }
  }

  async function follow(frame: Frame, regions: readonly Region[], { sightings, parts }: Looked): Promise<void> {
    if (isOver) return
    const { atMs, luma } = frame
    const tracked = sightings.filter((sighting) => wanted.sighting(sighting, luma))
    const { seen, ended } = tracker.update(tracked, atMs, parts)
    live = { atMs, boxes: seen.slice(0, BOXES_MAX).map(liveBoxOf) }
    const resting: Track[] = []
    for (const track of seen) {
      if (movement.hasMoved(track, regions, luma, atMs)) {
        moved.set(track.id, { atMs, track })
        if (recogniser.seesStill) overlays?.meet(clipToPicture(track.box))
      }
      const previous = moved.get(track.id)
      if (!previous) {
        if (atMs - track.firstSeenAt > RESTS_AFTER_MS) resting.push(track)
        continue
      }
      previous.track = track
      if (wanted.track(track)) usualSizes.learn(track.box, luma)
      if (atMs - previous.atMs > STILL_MS) await end([track])
      else if (wanted.label(track.label) && wanted.track(track)) await detections.see(track, frame).catch(onFailure)
    }
    const isResting = ({ box }: { box: Track['box'] }) => resting.some((one) => overlapOf(one.box, box) > SAME_PLACE)
    const fresh = tracked.filter((sighting) => !isResting(sighting))
    pace.found(Math.max(0, ...fresh.map(({ score }) => score)), atMs)
    await end(ended)
  }

  return {
    /** Resolves when the picture was processed or dropped. */
    async onFrame(frame: Frame): Promise<void> {
      const { luma, atMs } = frame
      if (frame.jpeg) recorder.addPicture({ jpeg: frame.jpeg, at: atMs })
      const isOther = !motion || size?.width !== luma.width || size.height !== luma.height
      if (isOther) {
        size = { width: luma.width, height: luma.height }
        motion = createMotionDetector({ size, masks: camera.masks })
      }
      if (isOther || atMs - pictureAt > Math.max(GAP_MS, GAP_PICTURES * pictureMs)) await (turn = turn.then(endAll))
      pictureAt = atMs
      const startedAt = performance.now()
      const { regions: found, state } = motion!.detect(luma, atMs)
      if (state === 'new-scene') newSceneAt = atMs
      const isNewScene = recogniser.seesStill && state !== 'steady' && atMs - newSceneAt < NEW_SCENE_MS
      const regions = isNewScene ? [EVERYTHING] : found
      overlays?.see(luma, atMs)
      const woken = overlays ? regions.filter(({ box }) => !overlays.covers(box)) : regions
      const aim = aimOf(woken, atMs)
      if (!aim) return
      const looked = await recogniser.look(name, frame, aim)
      if (!looked) return
      lookMs += (performance.now() - startedAt - lookMs) / 10
      // A possible person keeps deterrents off before the track is confirmed.
      glimpses.see(looked.all, atMs)
      await (turn = turn.then(() => follow(frame, regions, looked)))
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
