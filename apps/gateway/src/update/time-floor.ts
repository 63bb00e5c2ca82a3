/**
 * The time by which the expiry of signed lists is judged: the latest of the hub's clock, this device's clock, and a
 * time that has certainly passed, which is kept. So neither a hub that sets its clock back nor a device that starts in
 * 1970 revives a list that has expired.
 *
 * A time has certainly passed when a signed list or the running version was made then, or when this device's clock and
 * the hub's have both reached it. One clock alone is not kept: after it leapt ahead, every later list would be expired
 * for ever.
 */
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

const KEPT_EVERY_MS = 86_400_000

/** `madeAt`: of the running version, in milliseconds since 1970. */
export function openTimeFloor(
  memory: UpdateFile,
  { madeAt, clock, log }: { madeAt: number; clock: () => number; log: Logger },
): TimeFloor {
  let reached = madeAt
  const passed = () => Math.max(reached, memory.current().seen.createdAt)

  return {
    passed,
    now: (serverTime) => Math.max(serverTime, clock(), passed()),
    async heard(serverTime) {
      const both = Math.min(clock(), serverTime)
      if (both < passed() + KEPT_EVERY_MS) return
      // Counts until the next start even when it cannot be written.
      reached = both
      const { seen, ...others } = memory.current()
      await memory
        .write({ ...others, seen: { ...seen, createdAt: both } })
        .catch((error: unknown) => log.warn({ err: error }, 'the time that has passed could not be kept'))
    },
  }
}
