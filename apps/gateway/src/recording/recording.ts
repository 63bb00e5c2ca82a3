import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { FFMPEG_IS_MISSING } from './clip-writer.ts'
import { openRecordingFolder } from './folder.ts'
import { clipName, createCameraRecorder, pictureName, type CameraRecorder } from './recorder.ts'
import type { RecordingSettings } from './schema.ts'

/** The eye's recordings: pictures and clips of detections, in one bounded folder. */
export type Recording = {
  recorderOf(camera: string, framesPerSecond: number): CameraRecorder
  /** Paths of whole files. */
  pictureOf(detectionId: string): string | undefined
  clipOf(detectionId: string): string | undefined
  /** Whether its clip is not whole yet. */
  isFilming(detectionId: string): boolean
  /** Sentences for people. */
  problems(): string[]
  stop(): Promise<void>
}

export type RecordingOptions = {
  dataDir: string
  settings: RecordingSettings
  /** How many cameras share the memory for the seconds before. */
  cameras: number
  isWrong(detectionId: string): boolean
  /** Milliseconds since 1970. */
  clock: () => number
  log: Logger
}

const MEMORY_BYTES = 128 * 1024 * 1024
const CAMERA_MEMORY_BYTES_MAX = 16 * 1024 * 1024

export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const { dataDir, settings, isWrong, clock, log } = options
  const { days, megabytes } = settings
  const folder = await openRecordingFolder({
    path: join(dataDir, 'recordings'),
    days,
    megabytes,
    isWrong,
    clock,
    log,
  })
  const hasFfmpeg = settings.clips && (await isFfmpegInstalled())
  const usable = { ...settings, clips: hasFfmpeg }
  const lacking = settings.clips && !hasFfmpeg ? [`There are no clips: ${FFMPEG_IS_MISSING().message}.`] : []
  const memoryBytes = Math.min(CAMERA_MEMORY_BYTES_MAX, MEMORY_BYTES / options.cameras)
  const recorders: CameraRecorder[] = []
  return {
    recorderOf(camera, framesPerSecond) {
      const recorder = createCameraRecorder({
        camera,
        framesPerSecond,
        settings: usable,
        folder,
        clock: () => performance.now(),
        log,
        memoryBytes,
      })
      recorders.push(recorder)
      return recorder
    },
    pictureOf: (id) => folder.pathOf(pictureName(id)),
    clipOf: (id) => folder.pathOf(clipName(id)),
    isFilming: (id) => recorders.some((recorder) => recorder.isFilming(id)),
    problems: () => [...lacking, ...folder.problems(), ...recorders.flatMap((recorder) => recorder.problems())],
    async stop() {
      await Promise.all(recorders.map((recorder) => recorder.stop()))
      await folder.stop()
    },
  }
}

async function isFfmpegInstalled(): Promise<boolean> {
  try {
    const [code] = await once(spawn('ffmpeg', ['-version'], { stdio: 'ignore' }), 'close')
    return code === 0
  } catch {
    return false
  }
}
