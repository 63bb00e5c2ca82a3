import { readFile } from 'node:fs/promises'
import { openCamera } from '../../cameras/camera.ts'
import { drawBox } from '../../cameras/draw-box.ts'
import type { CameraSettings } from '../../cameras/schema.ts'
import { openRecording } from '../../recording/recording.ts'
import { openClipFile } from '../clip-file.ts'
import type { Source, SourceContext } from '../source.ts'
import type { EyeSettings } from './schema.ts'
import { createWatcher, DEMONSTRATION } from './watcher.ts'

/** What the eye needs of gateway.yaml: its own part, and the cameras that it names. */
export type EyeParts = { eye: EyeSettings; cameras: Readonly<Record<string, CameraSettings>> }

/** The device's own eye: for sites without Frigate, and to try the whole way without a model. */
export async function startEye({ eye, cameras }: EyeParts, context: SourceContext): Promise<Source> {
  const { log } = context
  const recording = await openRecording({
    ...context,
    settings: eye.recording,
    cameras: Object.keys(cameras).length,
  })
  const watched = Object.entries(cameras).map(([name, settings]) => {
    const recorder = recording.recorderOf(name, settings.framesPerSecond)
    const watcher = createWatcher(name, settings, eye, context, log, recorder)
    const camera = openCamera({ name, settings, log, onFrame: watcher.onFrame, onStream: recorder.addStream })
    return { camera, watcher }
  })

  function liveSnapshot(id: string): Buffer | undefined {
    for (const { watcher } of watched) {
      const jpeg = watcher.picture(id)
      if (jpeg) return jpeg
    }
    return undefined
  }

  return {
    state() {
      const looks = watched.map(({ watcher }) => watcher.lookMs())
      const inferenceMs = Math.round((looks.reduce((a, b) => a + b, 0) / looks.length) * 10) / 10
      return {
        cameras: watched.map(({ camera }) => camera.state()),
        detectors: [{ name: DEMONSTRATION, inferenceMs }],
        problems: [...watched.flatMap(({ camera }) => camera.problems()), ...recording.problems()],
      }
    },
    pictures: {
      latest: async (name) => watched.find(({ camera }) => camera.name === name)?.camera.latest(),
      async snapshot({ id, box }, { boxed }) {
        const path = recording.pictureOf(id)
        const jpeg = liveSnapshot(id) ?? (path === undefined ? undefined : await readFile(path))
        return jpeg && boxed && box ? drawBox(jpeg, box) : jpeg
      },
      async clip({ id }, { range }) {
        const path = recording.clipOf(id)
        return path === undefined ? undefined : openClipFile(path, range)
      },
    },
    async stop() {
      await Promise.all(watched.map(({ camera }) => camera.stop()))
      for (const { watcher } of watched) await watcher.stop()
      await recording.stop()
    },
  }
}
