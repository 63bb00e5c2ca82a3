import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A TCP port that nothing listens on at 127.0.0.1 right now. */
export async function freeTcpPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port')
  return address.port
}

/** A UDP port that nothing is bound to right now. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0)
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}

/** Whether nothing listens on this TCP port, on any address: a browser's `localhost` may be ::1 as well as 127.0.0.1. */
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

/** `count` TCP ports in a row that nothing listens on right now. */
export async function freePortRange(count: number): Promise<{ first: number; last: number }> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    const ports = Array.from({ length: count }, (_, offset) => first + offset)
    const free = await Promise.all(ports.map(isTcpPortFree))
    if (free.every(Boolean)) return { first, last: first + count - 1 }
  }
  throw new Error(`Found no ${count} free ports in a row`)
}
