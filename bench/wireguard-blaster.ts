/** Sends UDP datagrams of one size to one address at a steady rate: `address port bytes packetsPerSecond seconds`. */
import { createSocket } from 'node:dgram'

/** Calls `send` at a steady rate until the time is up, or as often as it can when `send` is slower. */
export async function atRate(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  send: () => void,
): Promise<number> {
  const startedAt = performance.now()
  let sent = 0
  for (let passedMs = 0; passedMs < seconds * 1000; passedMs = performance.now() - startedAt) {
    // Limits what one turn may catch up, so that a late turn makes no oversized burst.
    const due = Math.min((passedMs / 1000) * perSecond, sent + BURST)
    for (; sent < due; sent++) send()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return sent
}

const BURST = 64

if (import.meta.main) {
  const [address, port, bytes, perSecond, seconds] = process.argv.slice(2)
  const socket = createSocket('udp4')
  const payload = new Uint8Array(Number(bytes))
  await new Promise<void>((resolve) => socket.connect(Number(port), address, resolve))
  socket.on('error', () => undefined)
  await atRate({ perSecond: Number(perSecond), seconds: Number(seconds) }, () => socket.send(payload, () => undefined))
  socket.close()
}
