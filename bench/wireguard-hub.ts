/**
 * A hub in a process of its own: one interface with many peers, which sends every packet back to where it came from.
 */
import type { DropCounts, Endpoint, PublicKey } from '@hedgerow/wireguard'
import { generateKeyPair, openInterface } from '@hedgerow/wireguard/node'
import { turnedAround } from './wireguard-packet.ts'
import { serve } from '../test/harness/called-process.ts'

const { privateKey } = generateKeyPair()
const hub = await openInterface({
  privateKey,
  host: '0.0.0.0',
  onPacket: (packet) => hub.send(turnedAround(packet)),
})
let cpuAtStart = process.cpuUsage()
let startedAt = performance.now()

const handlers = {
  identify: () => ({ publicKey: hub.publicKey, port: hub.port, pid: process.pid }),
  /** Returns the milliseconds that it took. */
  addPeers(peers: { publicKey: PublicKey; address: string; endpoint?: Endpoint }[]): number {
    const before = performance.now()
    for (const { address, ...peer } of peers) hub.addPeer({ ...peer, allowedIps: [`${address}/32`] })
    return performance.now() - before
  },
  handshake(peers: PublicKey[]): void {
    for (const publicKey of peers) hub.handshake(publicKey)
  },
  /** Bytes of the heap and of buffers outside of it, after a garbage collection; and of the whole process. */
  memory(): { used: number; resident: number } {
    for (let i = 0; i < 4; i++) globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    return { used: heapUsed + external, resident: rss }
  },
  startClock(): void {
    cpuAtStart = process.cpuUsage()
    startedAt = performance.now()
  },
  /** Share of one core since `startClock`. */
  load(): number {
    const { user, system } = process.cpuUsage(cpuAtStart)
    return (user + system) / 1000 / (performance.now() - startedAt)
  },
  drops: (): DropCounts => hub.drops(),
  /** How many peers have had a handshake since that time of the wall clock. */
  connectedSince: (unixMs: number): number =>
    hub.peers().filter(({ latestHandshakeAtMs = 0 }) => latestHandshakeAtMs >= unixMs).length,
}

export type Hub = typeof handlers

serve(handlers)
