import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { walker, type Scene } from '@hedgerow/vision/rendered'
import { startRenderedCamera } from '../apps/gateway/testing/rendered-camera.ts'
import type { Arrival } from './demo-arrivals.ts'
import { DETECTOR } from './demo-detector.ts'
import type { Place } from './demo-places.ts'
import type { Switches } from './demo-switches.ts'

/**
 * Small and slow, so that a machine with two cores hardly notices five cameras; the demonstration eye needs no more.
 */
const PICTURES = { width: 480, height: 270, framesPerSecond: 3 }
/** Each scene repeats after a minute. Its objects and events were checked with the eye at this rate. */
const durationMs = 60_000

/** What the cameras see is made up, and nothing else of the demo. These are for the demonstration eye. */
const scenes = {
  orchard: { name: 'a boar at night', seed: 11, daylight: 'night', durationMs, actors: [walker('boar', { seed: 21 })] },
  meadow: {
    name: 'a deer by day',
    seed: 12,
    daylight: 'day',
    durationMs,
    actors: [walker('deer', { seed: 22, toLeft: true, startMs: 22_000, endMs: 32_000 })],
  },
  yard: {
    name: 'a person by day',
    seed: 15,
    daylight: 'day',
    durationMs,
    actors: [walker('person', { seed: 25, toLeft: true, y: 0.85, startMs: 40_000, endMs: 50_000 })],
  },
  'lay-by': {
    name: 'headlights at night, and nobody',
    seed: 32,
    daylight: 'night',
    durationMs,
    headlightsMs: [12_000, 34_000, 51_000],
    actors: [],
  },
  footbridge: {
    name: 'a branch in the wind, and a fox',
    seed: 18,
    daylight: 'day',
    durationMs,
    branch: 0.012,
    actors: [walker('fox', { seed: 30, y: 0.85, startMs: 48_000, endMs: 58_000 })],
  },
} as const satisfies Record<string, Scene>

/** What a detector sees. */
const places: Record<keyof typeof scenes, Place> = {
  orchard: {
    seed: 18,
    durationMs,
    isInfrared: true,
    mist: 0,
    walks: [{ walker: 'cow', from: [-0.2, 0.82], to: [1.2, 0.88], startMs: 6_000, endMs: 19_000, height: 0.72 }],
  },
  meadow: {
    seed: 12,
    durationMs,
    mist: 0.05,
    walks: [{ walker: 'horse', from: [1.2, 0.82], to: [-0.2, 0.86], startMs: 22_000, endMs: 35_000, height: 0.6 }],
  },
  yard: {
    seed: 15,
    durationMs,
    mist: 0.03,
    walks: [{ walker: 'person', from: [1.1, 0.86], to: [-0.1, 0.9], startMs: 38_000, endMs: 50_000, height: 0.78 }],
  },
  'lay-by': { seed: 32, durationMs, isInfrared: true, rain: 60, mist: 0, walks: [] },
  footbridge: {
    seed: 18,
    durationMs,
    rain: 40,
    mist: 0.25,
    walks: [{ walker: 'sheep', from: [-0.2, 0.86], to: [1.2, 0.84], startMs: 45_000, endMs: 58_000, height: 0.6 }],
  },
}

/** The gateway whose rule opens the valve. */
export const WITH_VALVE = 'North orchard'

const PLACES = [
  { name: WITH_VALVE, location: 'Row 12, by the stream', scene: 'orchard' },
  { name: 'South meadow', location: 'Edge of the wood', scene: 'meadow' },
  { name: 'Barn', location: 'Yard, south wall', scene: 'yard' },
  { name: 'Forest road', location: 'Lay-by at the gate', scene: 'lay-by' },
  { name: 'River gate', location: 'Lower meadow', scene: 'footbridge' },
] as const

/** The gateway that is left for a person to approve. */
export const WAITING = 'River gate'

/** `pictureUrl` is what its camera sends, as MJPEG. */
export type DemoDevice = Arrival & { pictureUrl: string }

/**
 * Starts a camera for each device, and writes what its gateway.yaml says. `models` is the folder with the detector;
 * without it the demonstration eye looks.
 */
export async function prepareFleet(
  switches: Switches,
  life: AsyncDisposableStack,
  models?: string,
): Promise<DemoDevice[]> {
  const animals = models
    ? { name: 'Livestock in the orchard', labels: ['cow', 'horse', 'sheep'] }
    : { name: 'Boar in the orchard', labels: ['boar', 'deer'] }
  const deterrents: Record<string, object> = {
    [WITH_VALVE]: {
      deterrents: {
        'Sprinkler row 12': {
          ...switches.driverOf('valve'),
          seconds: 8,
          coolDownSeconds: 20,
          secondsAnHour: 900,
          secondsADay: 21_600,
        },
      },
      rules: [{ ...animals, minimumScore: 0.7, fire: ['Sprinkler row 12'] }],
    },
    Barn: {
      deterrents: {
        'Yard siren': {
          ...switches.driverOf('siren'),
          seconds: 5,
          coolDownSeconds: 20,
          secondsAnHour: 600,
          secondsADay: 14_400,
        },
      },
      rules: [{ name: 'Somebody in the yard', labels: ['person'], aboutPersons: true, fire: ['Yard siren'] }],
    },
  }
  const devices: DemoDevice[] = []
  for (const { name, location, scene } of PLACES) {
    const rendered = models ? await startPlace(places[scene]) : await startRenderedCamera(scenes[scene], PICTURES)
    life.defer(async () => void (await rendered.stop()))
    // Every screen and message names the camera, so nobody takes its pictures for real ones.
    const camera = `rendered ${scene}`
    const file = {
      cameras: { [camera]: { url: rendered.mjpegUrl, framesPerSecond: PICTURES.framesPerSecond } },
      sources: {
        eye: models
          ? { cameras: [camera], model: DETECTOR, threads: 1 }
          : { cameras: [camera], model: 'demonstration' },
      },
      ...deterrents[name],
    }
    const isApproved = name !== WAITING
    devices.push({ name, location, isApproved, file, pictureUrl: rendered.mjpegUrl, ...(models && { models }) })
  }
  return devices
}

async function startPlace(place: Place): Promise<{ mjpegUrl: string; stop(): Promise<unknown> }> {
  const worker = new Worker(new URL('demo-camera.ts', import.meta.url), { workerData: place })
  const [mjpegUrl] = (await once(worker, 'message')) as [string]
  return { mjpegUrl, stop: () => worker.terminate() }
}
