/**
 * The newest pictures of cameras, pulled through the tunnel while somebody looks: one pull serves all viewers, at most
 * one a second for each camera, and few at once from one gateway. A gateway that does not answer is asked again after a
 * pause, and meanwhile the last picture is shown with its age. An answer is shown as a JPEG or not at all.
 */
import { doorCalls } from '@hedgerow/contract'
import { orUnavailable, type DoorGateway, type GatewayDoor } from '../gateway-door/gateway-door.ts'
import { HubError } from '../kernel/hub-error.ts'

const FRESH_MS = 1_000
const PULL_TIMEOUT_MS = 10_000
const PULLS_PER_GATEWAY = 4
/** A gateway that did not answer is asked again after this long, for one camera. */
const SILENT_MS = 5_000
/** Pictures are scaled on the device: a wall of cameras shows no more pixels. */
const HEIGHT = 720
const KNOWN_MAX = 256
/** The limit for all pictures together: a gateway may send large pictures under any number of camera names. */
const KNOWN_BYTES_MAX = 64 * 1024 * 1024

/** `at`: when it was taken, or when it came from a gateway that does not say. */
export type LivePicture = { jpeg: Buffer; at: number }
/** `last`: the newest picture that arrived, by this pull or an earlier one. */
type Pull = { startedAt: number; picture: Promise<LivePicture>; last: LivePicture | undefined }

export type LivePictures = {
  /** Throws `gateway_unreachable` and `picture_unavailable`. */
  read(gateway: DoorGateway & { id: string }, camera: string): Promise<LivePicture>
}

const bytesOf = ({ last }: Pull) => last?.jpeg.length ?? 0

/** `monotonic` is a clock that nobody sets, in milliseconds. */
export function createLivePictures({
  door,
  monotonic,
}: {
  door: Pick<GatewayDoor, 'picture'>
  monotonic: () => number
}): LivePictures {
  /** In the order of their last pull. */
  const pulls = new Map<string, Pull>()
  const running = new Map<string, number>()
  /** When gateways did not answer, by their ids. */
  const silentSince = new Map<string, number>()

  async function pull(gateway: DoorGateway & { id: string }, name: string): Promise<LivePicture> {
    const { id } = gateway
    running.set(id, (running.get(id) ?? 0) + 1)
    try {
      const request = { params: { name }, query: { height: HEIGHT }, timeoutMs: PULL_TIMEOUT_MS }
      const { jpeg, ageMs } = await door
        .picture(gateway, doorCalls.readLatest, request)
        .catch(orUnavailable('picture_unavailable'))
      silentSince.delete(id)
      return { jpeg, at: monotonic() - ageMs }
    } catch (error) {
      if (error instanceof HubError && error.code === 'gateway_unreachable') silentSince.set(id, monotonic())
      else silentSince.delete(id)
      throw error
    } finally {
      const left = (running.get(id) ?? 1) - 1
      if (left === 0) running.delete(id)
      else running.set(id, left)
    }
  }

  function dropOldest(): void {
    let bytes = [...pulls.values()].reduce((sum, each) => sum + bytesOf(each), 0)
    for (const [key, oldest] of pulls) {
      if (pulls.size <= KNOWN_MAX && bytes <= KNOWN_BYTES_MAX) break
      pulls.delete(key)
      bytes -= bytesOf(oldest)
    }
  }

  /** Whether this gateway may be asked now, although other pulls run or it was silent. */
  function mayAsk(id: string): boolean {
    const pulling = running.get(id) ?? 0
    const since = silentSince.get(id)
    return since === undefined ? pulling < PULLS_PER_GATEWAY : pulling === 0 && monotonic() - since >= SILENT_MS
  }

  return {
    read(gateway, camera) {
      const key = `${gateway.id} ${camera}`
      const current = pulls.get(key)
      if (current && monotonic() - current.startedAt < FRESH_MS) return current.picture
      const last = current?.last
      // A silent gateway, or one with slow cameras, gets no further request; the page asks again in a moment.
      if (!mayAsk(gateway.id)) {
        if (last) return Promise.resolve(last)
        const code = silentSince.has(gateway.id) ? 'gateway_unreachable' : 'picture_unavailable'
        return current?.picture ?? Promise.reject(new HubError(code))
      }
      const picture = pull(gateway, camera).catch((error: unknown) => {
        if (last && silentSince.has(gateway.id)) return last
        throw error
      })
      const started: Pull = { startedAt: monotonic(), picture, last }
      picture.then(
        (arrived) => {
          started.last = arrived
          dropOldest()
        },
        // The callers handle the failure.
        () => {},
      )
      pulls.delete(key)
      pulls.set(key, started)
      dropOldest()
      return started.picture
    },
  }
}
