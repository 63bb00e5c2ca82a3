import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair, openInterface } from '@hedgerow/wireguard/node'
import { rounded } from './report.ts'
import type { Fleet } from './wireguard-fleet.ts'
import type { Hub } from './wireguard-hub.ts'
import { udpPacket } from './wireguard-packet.ts'
import { startCalledProcess } from '../test/harness/called-process.ts'

const LIVE_TUNNELS = 20
const LIVE_INTERVAL_MS = 20
const STORM_LIMIT_MS = 40_000
const KIB = 1024

const script = (name: string): string => join(import.meta.dirname, name)

/**
 * One hub with many peers over real sockets on loopback: its memory, a storm of handshakes beside live tunnels, and its
 * load when all peers are idle.
 */
export async function measurePeers({
  peers,
  seconds,
}: {
  peers: number
  seconds: number
}): Promise<Record<string, Record<string, number>>> {
  const hub = startCalledProcess<Hub>(script('wireguard-hub.ts'))
  const fleet = startCalledProcess<Fleet>(script('wireguard-fleet.ts'))
  const live = await openLiveTunnels(await hub.call('identify', undefined))
  try {
    await hub.call('addPeers', live.peers)
    const identity = await hub.call('identify', undefined)
    const keys = await fleet.call('prepare', { peers, hub: identity })
    const gateways = keys.map((publicKey, index) => ({ publicKey, address: `10.64.${index >> 8}.${index & 0xff}` }))

    const empty = await hub.call('memory', undefined)
    const addingMs = await hub.call('addPeers', gateways)
    const configured = await hub.call('memory', undefined)

    live.start()
    await sleep(1_000)
    const beforeStorm = await hub.call('drops', undefined)
    await hub.call('startClock', undefined)
    const storm = await fleet.call('storm', STORM_LIMIT_MS)
    const stormLoad = await hub.call('load', undefined)
    const { sent, lost, slowestMs } = await live.stop()
    const drops = await hub.call('drops', undefined)
    const connected = await hub.call('memory', undefined)

    await fleet.call('spread', undefined)
    await hub.call('startClock', undefined)
    await sleep(seconds * 1000)
    const idleLoad = await hub.call('load', undefined)
    const renewed = await hub.call('memory', undefined)

    const each = (memory: { used: number }) => rounded((memory.used - empty.used) / peers / KIB)
    return {
      [`${peers} peers, added (ms)`]: { ours: Math.round(addingMs) },
      [`${peers} peers, memory (KiB a peer)`]: {
        configured: each(configured),
        'one session': each(connected),
        renewing: each(renewed),
        'resident, renewing': rounded((renewed.resident - empty.resident) / peers / KIB),
        'whole process (MiB)': Math.round(renewed.resident / KIB / KIB),
      },
      [`${peers} handshakes at once (s)`]: {
        half: rounded(storm.half / 1000),
        '95 %': rounded(storm.most / 1000),
        all: rounded(storm.all / 1000),
        unanswered: peers - storm.answered,
        cookies: drops['cookie-required'] - beforeStorm['cookie-required'],
        'load (%)': rounded(stormLoad * 100),
      },
      'live tunnels meanwhile (packets)': { sent, lost, 'slowest (ms)': Math.round(slowestMs) },
      [`${peers} idle peers (% of a core)`]: { ours: rounded(idleLoad * 100) },
    }
  } finally {
    await live.close()
    await fleet.stop()
    await hub.stop()
  }
}

/** Tunnels that send a numbered packet every 20 ms each, small and full ones in turn, and count what comes back. */
async function openLiveTunnels(hub: { publicKey: Parameters<Hub['addPeers']>[0][0]['publicKey']; port: number }) {
  let sent = 0
  let returned = 0
  let slowestMs = 0
  const tunnels = await Promise.all(
    Array.from({ length: LIVE_TUNNELS }, async (_, index) => {
      const address = `10.0.1.${index + 1}`
      const wireguard = await openInterface({
        privateKey: generateKeyPair().privateKey,
        host: '127.0.0.1',
        onPacket(packet) {
          returned++
          slowestMs = Math.max(
            slowestMs,
            performance.now() - new DataView(packet.buffer, packet.byteOffset).getFloat64(28),
          )
        },
      })
      wireguard.addPeer({
        publicKey: hub.publicKey,
        allowedIps: ['10.0.0.1/32'],
        endpoint: { address: '127.0.0.1', port: hub.port },
      })
      return { wireguard, address }
    }),
  )
  function send(): void {
    for (const { wireguard, address } of tunnels) {
      const packet = udpPacket(address, '10.0.0.1', sent++ % 2 === 0 ? 1420 : 60)
      new DataView(packet.buffer).setFloat64(28, performance.now())
      wireguard.send(packet)
    }
  }
  let timer: NodeJS.Timeout | undefined
  return {
    peers: tunnels.map(({ wireguard, address }) => ({ publicKey: wireguard.publicKey, address })),
    start() {
      timer = setInterval(send, LIVE_INTERVAL_MS)
    },
    /** Waits for packets in flight. */
    async stop() {
      clearInterval(timer)
      await sleep(1_500)
      return { sent, lost: sent - returned, slowestMs }
    },
    async close() {
      clearInterval(timer)
      await Promise.all(tunnels.map(({ wireguard }) => wireguard.close()))
    },
  }
}
