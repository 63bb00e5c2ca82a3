import { performance } from 'node:perf_hooks'
import type { Logger } from 'pino'
import { z } from 'zod'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'

/** The mark on disk is at most this far ahead of the time in use; it moves twice as often. */
const AHEAD_MS = 600_000

const markFile = z.strictObject({ usedBeforeMs: z.number() })

/**
 * The clock of this device's WireGuard initiations. The hub refuses an initiation whose time is not later than the last
 * one's (WireGuard §5.1), so this clock never goes back: not when the device's clock is set back, and not after a
 * restart of a device whose clock has no battery. It follows the hub's time once that is known, and is never below the
 * mark on disk.
 */
export type HandshakeClock = {
  now(): { monotonicMs: number; unixMs: number }
  /** Follows the hub's time from now on, in milliseconds since 1970. */
  followHub(hubTime: () => number): void
  /** Resolves when the mark is on disk. */
  stop(): Promise<void>
}

/**
 * Rejects with DataFileError when the mark at `path` is damaged. `wallClock` is this device's own clock, in
 * milliseconds since 1970.
 */
export async function openHandshakeClock(
  path: string,
  { log, wallClock = Date.now }: { log: Logger; wallClock?: () => number },
): Promise<HandshakeClock> {
  const mark = await readJsonFile(path, markFile)
  const openedAtMs = performance.now()
  let source = wallClock
  let greatestMs = mark?.usedBeforeMs ?? 0
  let greatestAtMs = openedAtMs
  let reservedMs = 0
  let writing: Promise<void> = Promise.resolve()

  function now(): { monotonicMs: number; unixMs: number } {
    const monotonicMs = performance.now()
    const unixMs = Math.max(source(), greatestMs + (monotonicMs - greatestAtMs))
    greatestMs = unixMs
    greatestAtMs = monotonicMs
    // The hub's time may be far ahead: write a new mark at once.
    if (unixMs >= reservedMs) reserve(AHEAD_MS)
    return { monotonicMs, unixMs }
  }

  function reserve(aheadMs: number): void {
    const usedBeforeMs = greatestMs + aheadMs
    reservedMs = usedBeforeMs
    writing = writing
      .then(() => writeDurably(path, `${JSON.stringify({ usedBeforeMs })}\n`))
      .catch((error: unknown) => log.warn({ err: error }, 'the time of the last handshake could not be written'))
  }

  now()
  await writing
  const timer = setInterval(() => {
    now()
    reserve(AHEAD_MS)
  }, AHEAD_MS / 2).unref()

  return {
    now,
    followHub(hubTime) {
      source = hubTime
      now()
    },
    async stop() {
      clearInterval(timer)
      now()
      reserve(1)
      await writing
    },
  }
}
