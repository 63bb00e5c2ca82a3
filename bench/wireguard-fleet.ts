/**
 * Ten thousand gateways in one process, each a device with a socket on a loopback address of its own, so that the hub
 * sees as many sources. Linux has all of 127.0.0.0/8.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Device, Now, Output, PublicKey } from '@hedgerow/wireguard'
import { openDevice } from './wireguard-device-pair.ts'
import { serve } from '../test/harness/called-process.ts'

const KEEPALIVE_SECONDS = 25
const LOOP_MS = 20

type Gateway = {
  device: Device
  socket: Socket
  isConnected: boolean
  connectedAt: number
  aheadMs: number
  first: Output[]
}

const gateways: Gateway[] = []
const startMs = performance.now()
/** Paused until the storm, so that preparing initiations does not age them. */
let stoodStillMs: number | undefined = startMs
let missedMs = 0

function nowOf({ aheadMs }: Gateway): Now {
  const monotonicMs = (stoodStillMs ?? performance.now() - missedMs) + aheadMs
  return { monotonicMs, unixMs: performance.timeOrigin + monotonicMs }
}

function perform(gateway: Gateway, outputs: Output[]): void {
  for (const output of outputs) {
    if (output.type === 'datagram') gateway.socket.send(output.data, output.to.port, output.to.address, () => undefined)
    if (output.type !== 'handshake' || gateway.isConnected) continue
    gateway.isConnected = true
    gateway.connectedAt = performance.now()
  }
}

/** One loop for all, because so many timers would distort the result. */
function tick(): void {
  for (const gateway of gateways) {
    const now = nowOf(gateway)
    if ((gateway.device.nextDeadline() ?? Number.POSITIVE_INFINITY) <= now.monotonicMs) {
      perform(gateway, gateway.device.tick(now))
    }
  }
}

const handlers = {
  /** Opens the sockets and creates the first initiation of each; returns their keys. */
  async prepare(options: { peers: number; hub: { publicKey: PublicKey; port: number } }): Promise<PublicKey[]> {
    const endpoint = { address: '127.0.0.1', port: options.hub.port }
    for (let index = 0; index < options.peers; index++) {
      const socket = createSocket({ type: 'udp4', lookup: (name, _options, found) => found(null, name, isIP(name)) })
      const listening = once(socket, 'listening')
      socket.bind(0, `127.77.${index >> 8}.${index & 0xff || 256 - 1}`)
      await listening
      const device = openDevice()
      const gateway: Gateway = { device, socket, isConnected: false, connectedAt: 0, aheadMs: 0, first: [] }
      socket.on('message', (data) => perform(gateway, device.receive(data, endpoint, nowOf(gateway))))
      device.addPeer({
        publicKey: options.hub.publicKey,
        allowedIps: ['10.0.0.1/32'],
        endpoint,
        persistentKeepaliveSeconds: KEEPALIVE_SECONDS,
      })
      gateway.first = device.tick(nowOf(gateway))
      gateways.push(gateway)
    }
    return gateways.map(({ device }) => device.publicKey)
  },
  /**
   * Sends every initiation at once, then behaves as WireGuard. Returns the milliseconds until half, 95 % and all had an
   * answer.
   */
  async storm(limitMs: number): Promise<{ half: number; most: number; all: number; answered: number }> {
    const startedAt = performance.now()
    missedMs = startedAt - startMs
    stoodStillMs = undefined
    for (const gateway of gateways) perform(gateway, gateway.first)
    setInterval(tick, LOOP_MS)
    while (performance.now() - startedAt < limitMs && !gateways.every(({ isConnected }) => isConnected)) {
      await new Promise((resolve) => setTimeout(resolve, LOOP_MS))
    }
    const times = gateways.flatMap(({ isConnected, connectedAt }) => (isConnected ? [connectedAt - startedAt] : []))
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
    return { half: at(0.5), most: at(0.95), all: at(1), answered: sorted.length }
  },
  /**
   * Gives their sessions all ages up to 120 s, one gateway after the other over one keepalive, as in a fleet that has
   * run for a while.
   */
  async spread(): Promise<void> {
    const stepMs = (KEEPALIVE_SECONDS * 1000) / 100
    for (let step = 0; step < 100; step++) {
      for (let index = step; index < gateways.length; index += 100) gateways[index]!.aheadMs = Math.random() * 115_000
      await new Promise((resolve) => setTimeout(resolve, stepMs))
    }
  },
}

export type Fleet = typeof handlers

serve(handlers)
