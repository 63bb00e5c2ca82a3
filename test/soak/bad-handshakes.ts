/** Sends initiations with a wrong mac1 to a UDP port of this machine: `port perSecond seconds`. Prints how many. */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'

/** WireGuard paper, section 5.4.2. */
const INITIATION_BYTES = 148
const TYPE_INITIATION = 1
const BURST = 64

const [port, perSecond, seconds] = process.argv.slice(2).map(Number)
const socket = createSocket('udp4')
const initiation = randomBytes(INITIATION_BYTES)
initiation.writeUInt32LE(TYPE_INITIATION)
await new Promise<void>((resolve) => socket.connect(port!, '127.0.0.1', resolve))
socket.on('error', () => undefined)
const sent = await atRate({ perSecond: perSecond!, seconds: seconds! }, () => socket.send(initiation, () => undefined))
console.log(sent)
socket.close()

/** Calls `send` at a steady rate until the time is up, or as often as it can when `send` is slower. */
async function atRate(options: { perSecond: number; seconds: number }, send: () => void): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  for (let passed = 0; passed < options.seconds; passed = (performance.now() - startedAt) / 1000) {
    // Limits what one turn may catch up, so that a late turn makes no oversized burst.
    const due = Math.min(passed * options.perSecond, count + BURST)
    for (; count < due; count++) send()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return count
}
