/** Cameras that a person tries before adding them. They are read like others, give no detections, and end soon. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Camera } from './camera.ts'
import type { CameraSettings } from './schema.ts'

export type Trial = Pick<Camera, 'state' | 'problems' | 'latest'>

export type Trials = {
  /** Returns its id. An earlier trial ends when there are too many. */
  begin(settings: CameraSettings): Promise<string>
  /** Undefined when it is over. Each call keeps the trial going for a while. */
  find(id: string): Trial | undefined
  stop(): Promise<void>
}

/** For the log. */
const NAME = 'preview'
const CALLED = 'This camera'
const AT_ONCE = 2
/** The page asks every second. */
const UNASKED_MS = 15_000
const LONGEST_MS = 10 * 60_000
const LOOK_EVERY_MS = 5_000

export function createTrials(log: Logger, clock: () => number = () => performance.now()): Trials {
  const running = new Map<string, { camera: Camera; begunAt: number; requestedAt: number }>()
  const ending = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  function end(id: string): void {
    const trial = running.get(id)
    running.delete(id)
    if (!trial) return
    const ended = trial.camera.stop().finally(() => ending.delete(ended))
    ending.add(ended)
  }

  function endOld(): void {
    for (const [id, { begunAt, requestedAt }] of running)
      if (clock() - requestedAt > UNASKED_MS || clock() - begunAt > LONGEST_MS) end(id)
    if (running.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    async begin(settings) {
      // The picture decoder takes memory that a device without cameras does not need.
      const { openCamera } = await import('./camera.ts')
      const [oldest] = running.keys()
      if (running.size >= AT_ONCE && oldest !== undefined) end(oldest)
      const id = randomUUID()
      const camera = openCamera({ name: NAME, called: CALLED, settings, log, onFrame() {} })
      running.set(id, { camera, begunAt: clock(), requestedAt: clock() })
      timer ??= setInterval(endOld, LOOK_EVERY_MS).unref()
      return id
    },
    find(id) {
      endOld()
      const trial = running.get(id)
      if (trial) trial.requestedAt = clock()
      return trial?.camera
    },
    async stop() {
      clearInterval(timer)
      for (const id of running.keys()) end(id)
      await Promise.all(ending)
    },
  }
}
