/** The time by which this device judges expiry (`expiryTime`): by its own clock, the hub's, and what has passed. */
import { expiryTime, newlyPassed } from '@hedgerow/releases'
import type { Logger } from 'pino'
import type { UpdateFile } from './update-file.ts'

export type TimeFloor = {
  /** Keeps the time that both clocks have reached; at most one write a day, because disks wear. Never rejects. */
  heard(serverTime: number): Promise<void>
  /** In milliseconds since 1970. */
  now(serverTime: number): number
  /** A time that has certainly passed. */
  passed(): number
}

/** `madeAt`: of the running version, in milliseconds since 1970. */
export function openTimeFloor(
  memory: UpdateFile,
  { madeAt, clock, log }: { madeAt: number; clock: () => number; log: Logger },
): TimeFloor {
  let reached = madeAt
  const passed = () => Math.max(reached, memory.current().seen.createdAt)

  return {
    passed,
    now: (serverTime) => expiryTime([serverTime, clock()], passed()),
    async heard(serverTime) {
      const both = newlyPassed([clock(), serverTime], passed())
      if (both === undefined) return
      // Counts until the next start even when it cannot be written.
      reached = both
      const { seen, ...others } = memory.current()
      await memory
        .write({ ...others, seen: { ...seen, createdAt: both } })
        .catch((error: unknown) => log.warn({ err: error }, 'the time that has passed could not be kept'))
    },
  }
}
