/** The cameras of the owner's programs, which are known only by what the programs say of them. */
import { nameKey } from '../kernel/same-name.ts'
import type { CameraState, CameraWatch } from '../deterrents/watch.ts'

export type ProgramCameras = {
  /** A program said something of this camera just now. */
  heard(camera: string): void
  names(): string[]
  /** `reported`: the states of the programs' last status, which count as long as something is heard of the camera. */
  watch(reported: CameraWatch): CameraWatch
}

/** A program that watches says each minute that it does (docs/operations/device-api.md). */
const LOOKS_MS = 120_000
const CAMERAS_MAX = 256
/** How often it is written down that a camera is still one of the device. */
const NOTED_EVERY_MS = 3_600_000

/** `names`: from earlier runs. `note` writes a camera down for later ones. `clock`: milliseconds, never set back. */
export function createProgramCameras(options: {
  names: readonly string[]
  note(camera: string): void
  clock(): number
}): ProgramCameras {
  const { names, note, clock } = options
  type Camera = { name: string; heardAt: number; notedAt: number }
  const silent = (name: string): Camera => ({ name, heardAt: -Infinity, notedAt: -Infinity })
  const cameras = new Map(names.map((name) => [nameKey(name), silent(name)]))

  return {
    heard(name) {
      const key = nameKey(name)
      if (!cameras.has(key) && cameras.size >= CAMERAS_MAX) return
      const now = clock()
      const { notedAt } = cameras.get(key) ?? silent(name)
      const isNoteDue = now - notedAt >= NOTED_EVERY_MS
      cameras.set(key, { name, heardAt: now, notedAt: isNoteDue ? now : notedAt })
      if (isNoteDue) note(name)
    },
    names: () => [...cameras.values()].map(({ name }) => name),
    watch(reported) {
      const states = new Map<string, CameraState>([...reported].map(([name, state]) => [nameKey(name), state]))
      return new Map(
        [...cameras].map(([key, { name, heardAt }]) => {
          const isHeard = clock() - heardAt < LOOKS_MS
          return [name, isHeard ? (states.get(key) ?? 'looking') : 'silent']
        }),
      )
    },
  }
}
