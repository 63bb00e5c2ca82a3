import type { Aead } from '@hedgerow/wireguard'
import { fastestAead, nodeAead } from '@hedgerow/wireguard/node'
import { GATEWAY, connectedPair, datagramOf } from './wireguard-device-pair.ts'
import { udpPacket } from './wireguard-packet.ts'
import { rounded } from './report.ts'

type Rows = Record<string, Record<string, number>>

const ROUNDS = 7
const CALLS = 10_000
const NOTHING = new Uint8Array(0)

/** Microseconds for each call: the best of several rounds, because other work on the machine only adds to it. */
export function costOf(call: (index: number) => void, calls: number = CALLS): number {
  let best = Number.POSITIVE_INFINITY
  let index = 0
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    for (let done = 0; done < calls; done++) call(index++)
    best = Math.min(best, ((performance.now() - startedAt) / calls) * 1000)
  }
  return best
}

/** The AEAD alone, for a full packet and a small one: the module that we use against OpenSSL through node:crypto. */
export function measureAead(): Rows {
  const rows: Rows = {}
  for (const length of [1420, 32]) {
    const [theirs, ours] = [aeadCosts(nodeAead, length), aeadCosts(fastestAead, length)]
    for (const verb of ['seal', 'open'] as const) {
      rows[`AEAD, ${verb} ${length} bytes (us)`] = {
        'node:crypto': rounded(theirs[verb]),
        ours: rounded(ours[verb]),
        ratio: rounded(theirs[verb] / ours[verb]),
      }
    }
  }
  return rows
}

function aeadCosts(aead: Aead, length: number): { seal: number; open: number } {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i)
  const plaintext = new Uint8Array(length)
  const sealed = new Uint8Array(length + 16)
  const opened = new Uint8Array(length)
  const seal = costOf((counter) => aead.seal(key, counter, plaintext, NOTHING, sealed))
  aead.seal(key, 7, plaintext, NOTHING, sealed)
  return { seal, open: costOf(() => aead.open(key, 7, sealed, NOTHING, opened)) }
}

/** WireGuard's whole work on a packet between the IP packet and the datagram, without a socket. */
export function measureDataPath(): Rows {
  const now = { monotonicMs: 1_000, unixMs: Date.now() }
  const rows: Rows = {}
  for (const length of [1420, 92]) {
    const { hub, gateway } = connectedPair(now)
    const packet = udpPacket('10.0.0.2', '10.0.0.1', length)
    const seal = costOf(() => gateway.send(packet, now))
    const datagrams = Array.from({ length: ROUNDS * CALLS }, () => datagramOf(gateway.send(packet, now)))
    const open = costOf((index) => hub.receive(datagrams[index]!, GATEWAY, now))
    const drops = Object.values(hub.drops()).reduce((sum, count) => sum + count, 0)
    if (drops > 0) throw new Error(`${drops} packets were dropped`)
    for (const [verb, cost] of Object.entries({ seal, open })) {
      rows[`data path, ${verb} ${length} bytes`] = {
        'us/packet': rounded(cost),
        'Mbit/s': rounded((length * 8) / cost),
      }
    }
  }
  return rows
}
