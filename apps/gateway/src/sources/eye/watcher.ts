import type { Logger } from 'pino'
import {
  createMotionDetector,
  lookAt,
  Tracker,
  type MotionDetector,
  type Sighting,
  type Size,
  type Track,
} from '@hedgerow/vision'
import type { Frame } from '../../cameras/camera.ts'
import type { CameraSettings } from '../../cameras/schema.ts'
import type { CameraRecorder } from '../../recording/recorder.ts'
import type { SourceContext } from '../source.ts'
import { createDetections } from './detections.ts'
import type { EyeSettings } from './schema.ts'

export const DEMONSTRATION = 'demonstration eye'

/** At a few pictures a second, an animal moves by its own length from one to the next. */
const TRACKING = { confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 }
/** A weaker look continues a track and never begins one. */
const HIGH_SHARE = 0.8

/** Looks at the pictures of one camera: motion, what it is, tracks, detections. */
export function createWatcher(
  name: string,
  camera: CameraSettings,
  settings: EyeSettings,
  { report, glimpse, clock }: Pick<SourceContext, 'report' | 'glimpse' | 'clock'>,
  log: Logger,
  recorder: CameraRecorder,
) {
  const { minimumScore, labels } = settings
  const tracker = new Tracker({ ...TRACKING, newScore: minimumScore, highScore: minimumScore * HIGH_SHARE })
  const detections = createDetections({
    camera: name,
    zones: camera.zones,
    by: DEMONSTRATION,
    toUnixMs: (atMs) => clock() - (performance.now() - atMs),
    report,
    recorder,
  })
  let motion: MotionDetector | undefined
  let size: Size | undefined
  /** Of the last looks, in milliseconds. */
  let lookMs = 0

  async function end(tracks: readonly Track[]): Promise<void> {
    for (const track of tracks) await detections.end(track).catch(onFailure)
  }

  function onFailure(error: unknown): void {
    log.error({ err: error, camera: name }, 'a detection could not be kept')
  }

  return {
    async onFrame(frame: Frame): Promise<void> {
      const { luma, atMs } = frame
      if (frame.jpeg) recorder.addPicture({ jpeg: frame.jpeg, at: atMs })
      if (!motion || size?.width !== luma.width || size.height !== luma.height) {
        size = { width: luma.width, height: luma.height }
        motion = createMotionDetector({ size, masks: camera.masks })
        await end(tracker.end())
      }
      const startedAt = performance.now()
      const sightings: Sighting[] = []
      for (const { box } of motion.detect(luma, atMs).regions) {
        const look = lookAt(luma, box)
        if (look.label === 'nothing') continue
        // A person keeps deterrents off before it is sure that it is one.
        glimpse(name, look.label)
        sightings.push({ box, ...look })
      }
      const { seen, ended } = tracker.update(sightings, atMs)
      lookMs += (performance.now() - startedAt - lookMs) / 10
      for (const track of seen)
        if (!labels || labels.includes(track.label)) await detections.see(track, frame).catch(onFailure)
      await end(ended)
    },
    lookMs: () => lookMs,
    picture: detections.picture,
    /** Ends what is still seen. */
    stop: () => end(tracker.end()),
  }
}
