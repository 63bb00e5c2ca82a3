import type { Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  createConnectionLimits,
  createFront,
  cutConnections,
  type ConnectionLimitOptions,
  type Faults,
} from '@hedgerow/http'
import type { LocalUi } from './local-ui.ts'

/** One HTTP server for the device's network, and one without a port for connections from the tunnel. */
export type LocalUiServer = {
  /** The port of the local interface in the device's network. */
  port: number
  /** Serves a connection from the tunnel. */
  accept(stream: Duplex): void
  /** Ends every connection at once. */
  stop(): Promise<void>
}

const HEADERS_TIMEOUT_MS = 10_000
/** Neighbours in a local network share a /64, so each address counts separately. */
const LOCAL_LIMITS = { perSource: 64, total: 256 }
/** All of these come from the hub, which has limits of its own. */
const TUNNEL_LIMITS = { perSource: 1_024, total: 1_024 }

/** Rejects with Node's own error (`EADDRINUSE`, `EACCES`) when it cannot listen. */
export async function openLocalUiServer(
  localUi: LocalUi,
  faults: Faults,
  listen: { host: string; port: number },
): Promise<LocalUiServer> {
  const local = createLocalUiHttpServer(localUi, faults, false)
  const tunnel = createLocalUiHttpServer(localUi, faults, true)
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
      for (const server of [local, tunnel]) cutConnections(server)
      await closed
    },
  }
}

function createLocalUiHttpServer(localUi: LocalUi, faults: Faults, isTunnel: boolean): Server {
  const limits: Pick<ConnectionLimitOptions, 'perSource' | 'total'> = isTunnel ? TUNNEL_LIMITS : LOCAL_LIMITS
  return createFront({
    limits: createConnectionLimits({ ...limits, sourceOf: (address) => address }),
    faults,
    handle: localUi.handler(isTunnel),
    upgrade: localUi.upgrade(isTunnel),
    deadlines: { headersMs: HEADERS_TIMEOUT_MS },
  })
}

async function listenOn(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

function isNoSuchFamily(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL')
}
