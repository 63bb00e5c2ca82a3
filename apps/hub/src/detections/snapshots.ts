/**
 * Snapshots of detections, pulled from their gateway while somebody looks: one pull serves all viewers for a few
 * seconds. An answer is shown as a JPEG or not at all.
 */
import { doorCalls } from '@hedgerow/contract'
import { orUnavailable, type DoorGateway, type GatewayDoor } from '../gateway-door/gateway-door.ts'
import { createTurns } from './turns.ts'

const TIMEOUT_MS = 15_000
const FRESH_MS = 10_000
/** Snapshots in memory, each of up to 4 MiB. */
const PULLS_MAX = 8
const LIMITS = { perGateway: 3, total: 24, waiting: 200, waitMs: 15_000 }

type Gateway = DoorGateway & { id: string }
type Wanted = { detectionId: string; boxed: boolean }
type Pull = { startedAt: number; jpeg: Promise<Buffer>; readers: number; stop: AbortController }

export type Snapshots = {
  /** Throws as the door does, `snapshot_unavailable` and `pictures_busy`, and the reason of `signal`. */
  read(gateway: Gateway, wanted: Wanted, signal: AbortSignal): Promise<Buffer>
}

/** `monotonic` is a clock that nobody sets, in milliseconds. */
export function createSnapshots({
  door,
  monotonic,
}: {
  door: Pick<GatewayDoor, 'picture'>
  monotonic: () => number
}): Snapshots {
  const turns = createTurns(LIMITS)
  /** In the order of their start. */
  const pulls = new Map<string, Pull>()

  async function pull(gateway: Gateway, wanted: Wanted, signal: AbortSignal) {
    const giveBack = await turns.take(gateway.id, signal)
    try {
      const request = {
        params: { id: wanted.detectionId },
        query: wanted.boxed ? { boxed: 'true' as const } : {},
        timeoutMs: TIMEOUT_MS,
        signal,
      }
      const { jpeg } = await door
        .picture(gateway, doorCalls.readSnapshot, request)
        .catch(orUnavailable('snapshot_unavailable'))
      return jpeg
    } finally {
      giveBack()
    }
  }

  function start(key: string, gateway: Gateway, wanted: Wanted): Pull {
    const stop = new AbortController()
    const started: Pull = {
      startedAt: monotonic(),
      jpeg: pull(gateway, wanted, stop.signal),
      readers: 0,
      stop,
    }
    // Later viewers try again.
    started.jpeg.catch(() => {
      if (pulls.get(key) === started) pulls.delete(key)
    })
    pulls.delete(key)
    pulls.set(key, started)
    for (const [oldest, { readers }] of pulls) {
      if (pulls.size <= PULLS_MAX) break
      if (readers === 0 && oldest !== key) pulls.delete(oldest)
    }
    return started
  }

  return {
    async read(gateway, wanted, signal) {
      const key = `${gateway.id} ${wanted.boxed} ${wanted.detectionId}`
      const current = pulls.get(key)
      const isFresh = current && (current.readers > 0 || monotonic() - current.startedAt < FRESH_MS)
      const shared = isFresh ? current : start(key, gateway, wanted)
      shared.readers += 1
      const left = Promise.withResolvers<never>()
      const leave = () => left.reject(signal.reason as Error)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      try {
        return await Promise.race([shared.jpeg, left.promise])
      } finally {
        signal.removeEventListener('abort', leave)
        shared.readers -= 1
        // No viewer is left: the next one starts a new pull.
        if (shared.readers === 0 && signal.aborted) {
          shared.stop.abort()
          if (pulls.get(key) === shared) pulls.delete(key)
        }
      }
    },
  }
}
