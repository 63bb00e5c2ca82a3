import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { LocalUi } from './local-ui.ts'

/** One HTTP server for the device's network and one without a port, whose connections come out of the tunnel. */
export type LocalUiServer = {
  /** Where the device's network reaches the local interface. */
  port: number
  /** Serves a connection from the tunnel. */
  accept(stream: Duplex): void
  /** Ends every connection at once. */
  stop(): Promise<void>
}

/** A head that takes longer is an attack or a dead connection. */
const HEADERS_TIMEOUT_MS = 10_000
const CONNECTIONS_LIMIT = 256

/** Rejects with Node's own error (`EADDRINUSE`, `EACCES`) when it cannot listen. */
export async function openLocalUiServer(
  localUi: LocalUi,
  listen: { host: string; port: number },
): Promise<LocalUiServer> {
  const local = createLocalUiHttpServer(localUi, false)
  const tunnel = createLocalUiHttpServer(localUi, true)
  const upgraded = new Set<Duplex>()
  for (const server of [local, tunnel])
    server.on('upgrade', (_request, socket: Duplex) => {
      upgraded.add(socket)
      // Without a listener, a connection that is reset would end the whole agent.
      socket.on('error', () => socket.destroy())
      socket.once('close', () => upgraded.delete(socket))
    })
  local.maxConnections = CONNECTIONS_LIMIT
  try {
    await listenOn(local, listen)
  } catch (error) {
    // A device without IPv6 has no `::`.
    if (listen.host !== '::' || !isNoSuchFamily(error)) throw error
    await listenOn(local, { ...listen, host: '0.0.0.0' })
  }
  return {
    port: (local.address() as AddressInfo).port,
    accept: (stream) => void tunnel.emit('connection', stream),
    async stop() {
      const closed = once(local, 'close')
      local.close()
      for (const server of [local, tunnel]) server.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
      await closed
    },
  }
}

function createLocalUiHttpServer(localUi: LocalUi, isTunnel: boolean): Server {
  // Uploads to the device's application may take their time.
  const server = createServer({ requestTimeout: 0, headersTimeout: HEADERS_TIMEOUT_MS }, localUi.handler(isTunnel))
  server.on('upgrade', localUi.upgradeHandler(isTunnel))
  return server
}

async function listenOn(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

function isNoSuchFamily(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL')
}
