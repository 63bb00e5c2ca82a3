/** Shows a film to the eye as a camera would, at the pace of the machine: its own watcher, model and settings. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { lumaOf, resampleRgb, type RgbImage } from '@hedgerow/vision'
import { lookedAtSize } from '../apps/gateway/src/cameras/decode.ts'
import { createPixelMapReader } from '../apps/gateway/src/cameras/pixel-map.ts'
import { camerasSettings } from '../apps/gateway/src/cameras/schema.ts'
import type { Model } from '../apps/gateway/src/models/model.ts'
import { openRecording } from '../apps/gateway/src/recording/recording.ts'
import { modelRecogniser } from '../apps/gateway/src/sources/eye/recogniser.ts'
import { eyeSettings } from '../apps/gateway/src/sources/eye/schema.ts'
import { createWatcher } from '../apps/gateway/src/sources/eye/watcher.ts'

export const PICTURES_A_SECOND = 5

export type Watched = {
  /** The last report of each detection. */
  detections: Detection[]
  /** When a person was glimpsed, in seconds of the film. */
  persons: number[]
  pictures: number
  /** Pictures in which the model looked at anything, and how often it ran. */
  looks: number
  runs: number
}

const silent = { info() {}, warn() {}, error() {}, debug() {} }

export async function watchFilm(
  model: Model,
  pictures: AsyncIterable<RgbImage> | Iterable<RgbImage>,
  settings: { camera?: object; eye?: object } = {},
): Promise<Watched> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-bench-eye-'))
  const url = 'http://127.0.0.1/'
  const camera = { ...camerasSettings.parse({ bench: { url, ...settings.camera } })['bench']!, url }
  const eye = eyeSettings.parse({ cameras: ['bench'], model: 'bench', recording: { clips: false }, ...settings.eye })
  const byId = new Map<string, Detection>()
  const watched: Watched = { detections: [], persons: [], pictures: 0, looks: 0, runs: 0 }
  const log = silent as never
  const common = { log, clock: Date.now, isWrong: () => false }
  const recording = await openRecording({ ...common, dataDir: folder, settings: eye.recording, cameras: 1 })
  const beganAt = performance.now()
  let atMs = beganAt
  const counted: Model = {
    ...model,
    look(name, parts) {
      watched.looks++
      watched.runs += parts.length
      return model.look(name, parts)
    },
  }
  const watcher = createWatcher(
    'bench',
    camera,
    eye,
    {
      clock: Date.now,
      report: async (reports) => {
        for (const one of reports) byId.set(one.id, one)
      },
      noteCandidate() {},
      glimpse(_camera, label) {
        if (label === 'person') watched.persons.push((atMs - beganAt) / 1_000)
      },
    },
    log,
    {
      recogniser: modelRecogniser(counted, () => ({ masks: camera.masks, regions: camera.regions ?? eye.regions })),
      recorder: recording.recorderOf('bench', PICTURES_A_SECOND),
    },
  )
  try {
    for await (const own of pictures) {
      const { width, height } = lookedAtSize(own)
      const isLarge = width < own.width
      const image = isLarge
        ? resampleRgb(own, { x: 0, y: 0, width: own.width, height: own.height }, width, height)
        : own
      await watcher.onFrame({ image, luma: lumaOf(image), atMs, ...(isLarge && { own: async () => own }) })
      atMs += 1_000 / PICTURES_A_SECOND
      watched.pictures++
    }
    await watcher.stop()
    return { ...watched, detections: [...byId.values()] }
  } finally {
    await recording.stop()
    await rm(folder, { recursive: true })
  }
}

/** The pictures that FFmpeg makes of its input; `filter` is one of its filter graphs. */
export async function* film(input: readonly string[], filter: string, seconds?: number): AsyncGenerator<RgbImage> {
  const rate = `fps=${PICTURES_A_SECOND}`
  const out = ['-f', 'image2pipe', '-c:v', 'ppm', '-pix_fmt', 'rgb24', 'pipe:1']
  const length = seconds === undefined ? [] : ['-t', String(seconds)]
  const graph = ['-filter_complex', `${filter},${rate}`, ...length]
  const child = spawn('ffmpeg', ['-v', 'error', '-nostdin', ...input, ...graph, ...out], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const picturesOf = createPixelMapReader()
  for await (const bytes of child.stdout) yield* picturesOf(bytes as Buffer)
}
