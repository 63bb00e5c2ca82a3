import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rounded } from './report.ts'
import { atRate } from './wireguard-blaster.ts'
import { udpPacket } from './wireguard-packet.ts'
import { LINUX, OURS, type Pair, SERVER, openPair, whatIsMissing } from './wireguard-pair.ts'

const PACKET_BYTES = 1420
const HEADER_BYTES = 28
const DISCARD_PORT = 9
const SECONDS = 1.5
/** Tried one after the other; the highest received rate counts. */
const OFFERED_MBITS = [300, 500, 700, 900, 1_200]

/**
 * Full packets through a tunnel whose far end is wireguard-go, in either direction: from us or to us, against the same
 * from or to a second wireguard-go. The offered rate grows until it exceeds both ends; the best received rate is
 * reported.
 */
export async function measureForwarding(): Promise<Record<string, Record<string, number>>> {
  const missing = whatIsMissing()
  if (missing !== undefined) {
    console.log(`skipped: packets beside wireguard-go: ${missing}`)
    return {}
  }
  const pair = await openPair()
  try {
    return {
      'packets to wireguard-go (Mbit/s)': await compare({ linux: linuxToServer(pair), ours: usToServer(pair) }),
      'packets from wireguard-go (Mbit/s)': await compare({ linux: serverToLinux(pair), ours: serverToUs(pair) }),
    }
  } finally {
    await pair.remove()
  }
}

type Direction = { send(perSecond: number): Promise<unknown>; received(): number | Promise<number> }

async function compare(sides: { linux: Direction; ours: Direction }): Promise<Record<string, number>> {
  const best = { linux: 0, ours: 0 }
  for (const side of ['linux', 'ours'] as const) await sides[side].send(100)
  for (const offered of OFFERED_MBITS) {
    for (const side of ['linux', 'ours'] as const) {
      const direction = sides[side]
      const before = await direction.received()
      await direction.send((offered * 1e6) / 8 / PACKET_BYTES)
      await sleep(200)
      const carried = (((await direction.received()) - before) * 8) / SECONDS / 1e6
      best[side] = Math.max(best[side], carried)
    }
  }
  return { 'wireguard-go': rounded(best.linux), ours: rounded(best.ours), ratio: rounded(best.ours / best.linux) }
}

/** A process inside a namespace that sends into its tunnel. */
function blast(namespace: Pair['server'], address: string): (perSecond: number) => Promise<string> {
  const script = join(import.meta.dirname, 'wireguard-blaster.ts')
  const fixed = [script, address, String(DISCARD_PORT), String(PACKET_BYTES - HEADER_BYTES)]
  return (perSecond) => namespace.run(process.execPath, [...fixed, String(perSecond), String(SECONDS)])
}

const linuxToServer = ({ client, receivedBy }: Pair): Direction => ({
  send: blast(client, SERVER),
  received: () => receivedBy('server'),
})

const serverToLinux = ({ server, receivedBy }: Pair): Direction => ({
  send: blast(server, LINUX),
  received: () => receivedBy('client'),
})

const serverToUs = ({ server, receivedByUs }: Pair): Direction => ({
  send: blast(server, OURS),
  received: receivedByUs,
})

const usToServer = ({ ours, receivedBy }: Pair): Direction => {
  const packet = udpPacket(OURS, SERVER, PACKET_BYTES)
  return {
    send: (perSecond) => atRate({ perSecond, seconds: SECONDS }, () => ours.send(packet)),
    received: () => receivedBy('server'),
  }
}
