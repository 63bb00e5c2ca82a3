/**
 * The near end of the tunnel benches, a process of its own: with our WireGuard and TCP, or on Linux's TCP in a
 * namespace behind wireguard-go. Both use the same code for their streams.
 */
import { connect as connectOverLinux } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createStack, type Stack } from '@hedgerow/netstack/node'
import type { PrivateKey, PublicKey } from '@hedgerow/wireguard'
import { openInterface } from '@hedgerow/wireguard/node'
import { processorSecondsOf } from './processor.ts'
import { DOWNLOAD_PORT, REQUEST_PORT, RESPONSE, UPLOAD_PORT } from './tunnel-server.ts'

export type Measurement = {
  what: 'download' | 'upload' | 'requests'
  streams: number
  seconds: number
}

export type ClientTask = Measurement & {
  server: string
  /** A process whose processor time counts too: wireguard-go, of Linux's TCP. */
  beside?: number
  /** Absent for Linux's TCP. */
  tunnel?: { privateKey: PrivateKey; peer: PublicKey; address: string; endpoint: { address: string; port: number } }
}

/** Megabits or requests a second, the processor time of one, and the longest time without any progress. */
export type ClientResult = { rate: number; longestPauseMs: number; cpuMicroseconds: number }

const WARM_UP_MS = 1_000
const STEP_MS = 50
const BLOCK = Buffer.alloc(256 << 10, 'y')
const REQUEST = 'GET /status HTTP/1.1\r\nHost: gateway\r\nAccept: */*\r\n\r\n'

/** Starts one stream; `count` adds its progress. */
type Start = (stream: Duplex, count: (amount: number) => void) => void

const download: Start = (stream, count) => void stream.on('data', (chunk: Buffer) => count(chunk.length * 8e-6))

const upload: Start = (stream, count) => {
  let last = 0
  stream.on('data', (chunk: Buffer) => {
    const bytes = Number(chunk.readBigUInt64BE(chunk.length - 8))
    count((bytes - last) * 8e-6)
    last = bytes
  })
  const fill = (): void => {
    while (!stream.destroyed && stream.write(BLOCK));
  }
  stream.on('drain', fill)
  fill()
}

const requests: Start = (stream, count) => {
  let missing = RESPONSE.length
  stream.on('data', (chunk: Buffer) => {
    missing -= chunk.length
    if (missing > 0) return
    missing = RESPONSE.length
    count(1)
    stream.write(REQUEST)
  })
  stream.write(REQUEST)
}

const STARTS = {
  download: [download, DOWNLOAD_PORT],
  upload: [upload, UPLOAD_PORT],
  requests: [requests, REQUEST_PORT],
} as const

async function measure(
  connect: (port: number) => Duplex,
  { what, streams, seconds, beside }: ClientTask,
): Promise<ClientResult> {
  const [start, port] = STARTS[what]
  let total = 0
  for (let i = 0; i < streams; i++) {
    const stream = connect(port)
    stream.on('error', (error) => {
      console.error(error)
      process.exitCode = 1
    })
    start(stream, (amount) => (total += amount))
  }
  await sleep(WARM_UP_MS)
  const processorSeconds = () =>
    processorSecondsOf(process.pid) + (beside === undefined ? 0 : processorSecondsOf(beside))
  const [startedAt, totalBefore, processorBefore] = [performance.now(), total, processorSeconds()]
  let movedAt = startedAt
  let longestPauseMs = 0
  for (let seen = total, now = startedAt; now - startedAt < seconds * 1000; now = performance.now()) {
    await sleep(STEP_MS)
    if (total !== seen) movedAt = performance.now()
    seen = total
    longestPauseMs = Math.max(longestPauseMs, performance.now() - movedAt)
  }
  return {
    rate: (total - totalBefore) / ((performance.now() - startedAt) / 1000),
    longestPauseMs: Math.round(longestPauseMs),
    cpuMicroseconds: ((processorSeconds() - processorBefore) * 1e6) / (total - totalBefore),
  }
}

/** Pings until one answer comes back: on a path with losses the handshake, the ping or its answer may be lost. */
async function reach(stack: Stack, host: string): Promise<void> {
  for (let left = 10; ; left--) {
    try {
      await stack.ping(host, { timeoutMs: 2000 })
      return
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

async function openTunnel({ server, tunnel }: ClientTask): Promise<(port: number) => Duplex> {
  if (tunnel === undefined) return (port) => connectOverLinux({ host: server, port, noDelay: true })
  const device = await openInterface({
    privateKey: tunnel.privateKey,
    onPacket: (packet) => stack.receive(packet),
  })
  const stack = createStack({
    address: tunnel.address,
    isAuthenticated: true,
    send: (packet) => device.send(packet),
  })
  device.addPeer({
    publicKey: tunnel.peer,
    allowedIps: [`${server}/32`],
    endpoint: tunnel.endpoint,
  })
  await reach(stack, server)
  return (port) => stack.connect({ host: server, port })
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2]!) as ClientTask
  const result = await measure(await openTunnel(task), task)
  console.log(`result ${JSON.stringify(result)}`)
  process.exit()
}
