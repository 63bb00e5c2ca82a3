import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the range of outgoing connections, so that no outgoing connection takes a port between its choice here and its
 * use, or while a killed hub restarts. Above 10,080, which fetch refuses (Fetch standard, "bad port").
 */
const [LOWEST, HIGHEST] = [10_100, 29_999]

/** Concurrent test files have a slice each, because a port may be free for a moment while its hub restarts. */
const SLICES = 8
const SLICE_LENGTH = Math.floor((HIGHEST - LOWEST + 1) / SLICES)
const FIRST = LOWEST + (Number(process.env.VITEST_POOL_ID ?? 0) % SLICES) * SLICE_LENGTH
const LAST = FIRST + SLICE_LENGTH - 1

/** Two hubs that start at once must not get the same port. */
const given = new Set<number>()

/** A TCP port without a listener, which no other call in this process returns. */
export async function freeTcpPort(): Promise<number> {
  return (await freePorts(1, isTcpPortFree)).first
}

/** The same for a UDP port. */
export async function freeUdpPort(): Promise<number> {
  return (await freePorts(1, isUdpPortFree)).first
}

/** `count` consecutive TCP ports without a listener. */
export async function freePortRange(count: number): Promise<{ first: number; last: number }> {
  return freePorts(count, isTcpPortFree)
}

/**
 * Whether nothing listens on this TCP port, on any address: a browser's `localhost` may be ::1 as well as 127.0.0.1.
 */
export async function isTcpPortFree(port: number): Promise<boolean> {
  const server = createServer().listen(port)
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

async function isUdpPortFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port)
  try {
    await once(socket, 'listening')
  } catch {
    return false
  }
  const closed = once(socket, 'close')
  socket.close()
  await closed
  return true
}

async function freePorts(count: number, isFree: (port: number) => Promise<boolean>) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - count))
    const ports = Array.from({ length: count }, (_, offset) => first + offset)
    if (ports.some((port) => given.has(port))) continue
    for (const port of ports) given.add(port)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return { first, last: first + count - 1 }
  }
  throw new Error(`Found no ${count} free ports in a row`)
}
