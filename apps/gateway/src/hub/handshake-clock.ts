import { performance } from 'node:perf_hooks'
import type { Logger } from 'pino'
import { z } from 'zod'
import { readJsonFile, writeDurably } from '../durable-file.ts'

/** This far ahead of what is in use the mark on disk lies, and half of it is how often it is moved. */
const AHEAD_MS = 600_000

const markFile = z.strictObject({ usedBeforeMs: z.number() })

/**
 * The clock of this device's WireGuard initiations. The hub refuses one that is not later than the last (WireGuard
 * §5.1), so it never goes back: not when the clock is set back, and not through a restart of a device whose clock has
 * no battery. It shows the hub's time as soon as that is known, and never less than the mark on disk.
 */
export type HandshakeClock = {
  now(): { monotonicMs: number; unixMs: number }
  /** The hub's time was learnt, in milliseconds since 1970. */
  followHub(hubTime: () => number): void
  /** Resolves when the mark is on disk. */
  stop(): Promise<void>
}

/**
 * Rejects with DataFileError when the mark at `path` is damaged. `wallClock` is this device's own, in milliseconds
 * since 1970.
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
    // A leap ahead, as the hub's time may be one: the mark follows at once.
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
