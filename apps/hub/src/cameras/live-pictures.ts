/**
 * The newest pictures of cameras, pulled through the tunnel while somebody looks: one pull for all who look, at most
 * one a camera and second, and few at a time from one gateway. What a gateway answers is shown as a JPEG or not at all.
 */
import { doorPaths, PICTURE_MAX_BYTES } from '@hedgerow/contract'
import type { GatewayDoor } from '../gateway-door/gateway-door.ts'
import { HubError } from '../kernel/hub-error.ts'

const FRESH_MS = 1_000
const PULL_TIMEOUT_MS = 10_000
const PULLS_PER_GATEWAY = 4
/** Scaled on the device: a wall shows no more. */
const HEIGHT = 720
const KNOWN_MAX = 256
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff])

export type LivePicture = { jpeg: Buffer; at: number }
type Pull = { startedAt: number; picture: Promise<LivePicture> }

export type LivePictures = {
  /** Throws `gateway_unreachable` and `picture_unavailable`. */
  read(gateway: { id: string; address: string }, camera: string): Promise<LivePicture>
}

/** `monotonic` is a clock that nobody sets, in milliseconds. */
export function createLivePictures({
  door,
  monotonic,
}: {
  door: Pick<GatewayDoor, 'get'>
  monotonic: () => number
}): LivePictures {
  /** In the order of their last pull. */
  const pulls = new Map<string, Pull>()
  const running = new Map<string, number>()

  async function pull({ id, address }: { id: string; address: string }, camera: string): Promise<LivePicture> {
    running.set(id, (running.get(id) ?? 0) + 1)
    try {
      const path = `${doorPaths.latest(camera)}?height=${HEIGHT}`
      const ask = { timeoutMs: PULL_TIMEOUT_MS, limitBytes: PICTURE_MAX_BYTES }
      const { status, body } = await door.get(address, path, ask).catch((error: unknown) => {
        throw new HubError('gateway_unreachable', { cause: error })
      })
      if (status !== 200 || !body.subarray(0, 3).equals(JPEG_START)) throw new HubError('picture_unavailable')
      return { jpeg: body, at: monotonic() }
    } finally {
      const left = (running.get(id) ?? 1) - 1
      if (left === 0) running.delete(id)
      else running.set(id, left)
    }
  }

  return {
    read(gateway, camera) {
      const key = `${gateway.id} ${camera}`
      const known = pulls.get(key)
      if (known && monotonic() - known.startedAt < FRESH_MS) return known.picture
      // A gateway with a slow camera is not asked for more of them; whoever looks asks again in a moment.
      if ((running.get(gateway.id) ?? 0) >= PULLS_PER_GATEWAY)
        return known?.picture ?? Promise.reject(new HubError('picture_unavailable'))
      const started = { startedAt: monotonic(), picture: pull(gateway, camera) }
      // It is read by whoever asked; nobody else may be left with its failure.
      started.picture.catch(() => {})
      pulls.delete(key)
      pulls.set(key, started)
      for (const oldest of pulls.keys()) {
        if (pulls.size <= KNOWN_MAX) break
        pulls.delete(oldest)
      }
      return started.picture
    },
  }
}
