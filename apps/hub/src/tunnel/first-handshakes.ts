/**
 * After a start the hub begins its gateways' handshakes, because they would notice the start only by their next
 * heartbeat. Each of them then sends a heartbeat and whatever waited. So the hub calls only as many at a time as it
 * serves meanwhile: its turns come later while it is busy, gateways that came by themselves count too, and few calls
 * are open at once.
 */

const TURN_MS = 50
/**
 * 400 a second. Above 500 handshakes a second WireGuard asks for cookies, and then each gateway needs 5 s more
 * (`packages/wireguard/src/load.ts`).
 */
const CALLS_A_TURN = 20
/** A gateway that has not answered for so long is away, and WireGuard calls it again by itself. */
const OPEN_FOR_MS = 3_000
const OPEN_AT_ONCE = 100

export type FirstHandshakes = {
  /** Begins the handshake with this peer when its turn comes, in the order of the calls. */
  call(publicKey: string): void
  /** The peer completed a handshake: it need not be called any more. */
  arrived(publicKey: string): void
  /** Forgets all who wait. */
  clear(): void
}

export function createFirstHandshakes(begin: (publicKey: string) => void): FirstHandshakes {
  const waiting = new Set<string>()
  /** The peers that were called and have not answered, with the time of the call, in the order of the calls. */
  const open = new Map<string, number>()
  let uncalled = 0
  let timer: NodeJS.Timeout | undefined

  function turn(): void {
    timer = undefined
    const now = performance.now()
    for (const [publicKey, sinceMs] of open) {
      if (now - sinceMs < OPEN_FOR_MS) break
      open.delete(publicKey)
    }
    const left = CALLS_A_TURN - uncalled
    uncalled = Math.max(0, -left)
    let room = Math.min(left, OPEN_AT_ONCE - open.size)
    for (const publicKey of waiting) {
      if (room-- <= 0) break
      waiting.delete(publicKey)
      open.set(publicKey, now)
      begin(publicKey)
    }
    plan()
  }

  function plan(): void {
    if (waiting.size > 0) timer ??= setTimeout(turn, TURN_MS).unref()
    else uncalled = 0
  }

  return {
    call(publicKey) {
      waiting.add(publicKey)
      timer ??= setTimeout(turn, 0).unref()
    },
    arrived(publicKey) {
      open.delete(publicKey)
      if (waiting.delete(publicKey)) uncalled++
    },
    clear() {
      clearTimeout(timer)
      timer = undefined
      waiting.clear()
      open.clear()
      uncalled = 0
    },
  }
}
