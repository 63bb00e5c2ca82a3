import { openCamera } from '../../cameras/camera.ts'
import type { CameraSettings } from '../../cameras/schema.ts'
import type { Source, SourceContext } from '../source.ts'
import type { EyeSettings } from './schema.ts'
import { createWatcher, DEMONSTRATION } from './watcher.ts'

/** What the eye needs of gateway.yaml: its own part, and the cameras that it names. */
export type EyeParts = { eye: EyeSettings; cameras: Readonly<Record<string, CameraSettings>> }

/** The device's own eye: for sites without Frigate, and to try the whole way without a model. */
export function startEye({ eye, cameras }: EyeParts, context: SourceContext): Source {
  const { log } = context
  const watched = Object.entries(cameras).map(([name, settings]) => {
    const watcher = createWatcher(name, settings, eye, context, log)
    const camera = openCamera({ name, settings, log, onFrame: watcher.onFrame })
    return { camera, watcher }
  })
  return {
    state() {
      const looks = watched.map(({ watcher }) => watcher.lookMs())
      const inferenceMs = Math.round((looks.reduce((a, b) => a + b, 0) / looks.length) * 10) / 10
      return {
        cameras: watched.map(({ camera }) => camera.state()),
        detectors: [{ name: DEMONSTRATION, inferenceMs }],
        problems: watched.flatMap(({ camera }) => camera.problems()),
      }
    },
    pictures: {
      latest: async (name) => watched.find(({ camera }) => camera.name === name)?.camera.latest(),
      snapshot: async ({ id }) => {
        for (const { watcher } of watched) {
          const jpeg = watcher.picture(id)
          if (jpeg) return jpeg
        }
        return undefined
      },
    },
    async stop() {
      await Promise.all(watched.map(({ camera }) => camera.stop()))
      for (const { watcher } of watched) await watcher.stop()
    },
  }
}
