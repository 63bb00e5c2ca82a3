import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { openCamera } from '../../cameras/camera.ts'
import { openView } from '../../cameras/views.ts'
import { drawBox } from '../../cameras/draw-box.ts'
import type { CameraSettings } from '../../cameras/schema.ts'
import { openModel } from '../../models/model.ts'
import { modelsFolder } from '../../models/store.ts'
import { openRecording } from '../../recording/recording.ts'
import { openClipFile } from '../clip-file.ts'
import { ClipNotFinished, type Source, type SourceContext } from '../source.ts'
import { openOverlays } from './overlays.ts'
import { demonstrationEye, LEAST_SCORE, modelRecogniser, motionEye } from './recogniser.ts'
import { DEMONSTRATION, NO_MODEL, type EyeSettings } from './schema.ts'
import { createWatcher } from './watcher.ts'

/** The parts of gateway.yaml that the eye needs: its own, and the cameras that it names. */
export type EyeParts = {
  eye: EyeSettings
  cameras: Readonly<Record<string, CameraSettings>>
  timeZone?: string | undefined
}

/**
 * Starts the eye, which finds objects in the pictures of the device's cameras, for sites without Frigate. Without a
 * model it reports that something moves, and not what.
 */
export async function startEye({ eye, cameras, timeZone }: EyeParts, context: SourceContext): Promise<Source> {
  const { log, dataDir } = context
  // Ends V8's efficiency mode, in which the agent starts to save memory: motion detection is slow in it.
  setFlagsFromString('--no-efficiency-mode')
  const recording = await openRecording({
    ...context,
    settings: eye.recording,
    cameras: Object.keys(cameras).length,
  })
  const addresses = Object.entries(cameras).map(([name, { url }]) => [name, url] as const)
  const overlays = await openOverlays(Object.fromEntries(addresses), context)
  const model =
    eye.model === NO_MODEL || eye.model === DEMONSTRATION
      ? undefined
      : openModel({
          folder: modelsFolder(dataDir),
          name: eye.model,
          threads: eye.threads ?? availableParallelism(),
          executionProviders: eye.executionProviders,
          leastScore: LEAST_SCORE,
          log,
        })
  const ofCamera = (settings?: CameraSettings) => ({
    masks: settings?.masks ?? [],
    regions: settings?.regions ?? eye.regions,
  })
  const builtIn = eye.model === DEMONSTRATION ? demonstrationEye : motionEye
  const recogniser = model ? modelRecogniser(model, (name) => ofCamera(cameras[name])) : builtIn
  const opened = Object.entries(cameras).map(async ([name, settings]) => {
    const view = await openView({ name, address: settings.url }, context)
    const recorder = recording.recorderOf(name, settings.framesPerSecond)
    const written = overlays.of(name)
    const watcher = createWatcher(name, settings, eye, context, log, { recogniser, recorder, overlays: written })
    // While a model processes one picture, the camera continues and its newest picture waits.
    const onFrame: typeof watcher.onFrame = model
      ? async (frame) => {
          watcher.onFrame(frame).catch((error: unknown) => log.error({ err: error, camera: name }, 'a look failed'))
        }
      : watcher.onFrame
    const camera = openCamera({ name, settings, timeZone, log, view, onFrame, onStream: recorder.addStream })
    return { camera, watcher, view, written }
  })
  const watched = await Promise.all(opened)

  function inferenceMs(): number {
    if (model) return model.inferenceMs()
    const looks = watched.map(({ watcher }) => watcher.lookMs())
    return Math.round((looks.reduce((a, b) => a + b, 0) / looks.length) * 10) / 10
  }

  /** With what computes, where that is not the processor. */
  function detectorName(): string {
    const provider = model?.executionProvider() ?? 'cpu'
    return provider === 'cpu' ? recogniser.by : `${recogniser.by} on ${provider}`
  }

  function liveSnapshot(id: string): Buffer | undefined {
    for (const { watcher } of watched) {
      const jpeg = watcher.picture(id)
      if (jpeg) return jpeg
    }
    return undefined
  }

  const watchedAs = (name: string) => watched.find(({ camera }) => camera.name === name)

  return {
    state() {
      const states = watched.map(({ camera }) => camera.state())
      // While no camera gives a new picture, nothing is watched.
      const isWatching = states.some(({ state }) => state === 'online')
      return {
        cameras: states,
        detectors: isWatching ? [{ name: detectorName(), inferenceMs: inferenceMs() }] : [],
        problems: [
          ...(model?.problems() ?? []),
          ...watched.flatMap(({ camera }) => camera.problems()),
          ...recording.problems(),
        ],
      }
    },
    pictures: {
      latest: async (name) => watchedAs(name)?.camera.latest(),
      async snapshot({ id, box }, { boxed }) {
        const path = recording.pictureOf(id)
        const jpeg = liveSnapshot(id) ?? (path === undefined ? undefined : await readFile(path))
        return jpeg && boxed && box ? drawBox(jpeg, box) : jpeg
      },
      async clip({ id }, { range }) {
        const path = recording.clipOf(id)
        if (path === undefined && recording.isFilming(id)) throw new ClipNotFinished()
        return path === undefined ? undefined : openClipFile(path, range)
      },
    },
    watch: () =>
      new Map(
        watched.map(({ camera }) => {
          if (recogniser.seesPersons() === false) return [camera.name, 'unable']
          return [camera.name, recogniser.seesPersons() && camera.state().state === 'online' ? 'looking' : 'dark']
        }),
      ),
    boxes: (name) => watchedAs(name)?.watcher.boxes(),
    overlaysOf: (name) => watchedAs(name)?.written,
    viewOf: (name) => watchedAs(name)?.view,
    problemsOf: (name) => watchedAs(name)?.camera.problems(),
    async stop() {
      await Promise.all(watched.map(({ camera }) => camera.stop()))
      await Promise.all(watched.map(({ view }) => view.stop()))
      await model?.stop()
      for (const { watcher } of watched) await watcher.stop()
      await overlays.stop()
      await recording.stop()
    },
  }
}
