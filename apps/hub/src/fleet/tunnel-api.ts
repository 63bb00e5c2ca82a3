/**
 * The gateway API inside the tunnel: heartbeats and detections, on the hub's tunnel address, over connections that come
 * out of the embedded stack. A peer can send from its own address only, so the source address is the identity; nothing
 * else of the hub is mounted here. The number of connections is bounded, for each gateway too.
 */
import { TUNNEL_API_PORT } from '@hedgerow/contract'
import type { TcpStream } from '@hedgerow/netstack/node'
import { createServer, type Server } from 'node:http'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { createApi } from '../http/api.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Vpn } from '../tunnel/tunnel.ts'
import { mountGatewayCalls, type GatewayCallDependencies } from './gateway-calls.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 120_000
const CONNECTIONS_PER_GATEWAY = 8

type Dependencies = GatewayCallDependencies & { db: Kysely<Tables>; vpn: Vpn; log: Logger }

export type TunnelApi = { start(): Promise<void>; stop(): Promise<void> }

export function createTunnelApi(dependencies: Dependencies): TunnelApi {
  const { db, vpn, log } = dependencies
  let server: Server | undefined
  const connections = new Map<string, number>()
  const app = createApi({
    surface: 'tunnel',
    log,
    sourceAddress: (request) => request.socket.remoteAddress ?? '',
    serverFactory: (handler) => {
      server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS }, handler)
      return server
    },
  })
  mountGatewayCalls(app, dependencies, ({ sourceIp }) => gatewayAt(sourceIp))

  /** Throws `gateway_unknown` for the address of a gateway that was just deleted. */
  async function gatewayAt(address: string): Promise<string> {
    const row = await db.selectFrom('gateways').select('id').where('address', '=', address).executeTakeFirst()
    if (!row) throw new HubError('gateway_unknown')
    return row.id
  }

  function accept(stream: TcpStream): void {
    const { remoteAddress } = stream
    const open = connections.get(remoteAddress) ?? 0
    stream.on('error', (error) => log.debug({ err: error, remoteAddress }, 'a connection through the tunnel ended'))
    if (open >= CONNECTIONS_PER_GATEWAY) return void stream.resetAndDestroy()
    connections.set(remoteAddress, open + 1)
    stream.once('close', () => {
      const left = (connections.get(remoteAddress) ?? 1) - 1
      if (left > 0) connections.set(remoteAddress, left)
      else connections.delete(remoteAddress)
    })
    server?.emit('connection', stream)
  }

  return {
    async start() {
      await app.ready()
      vpn.serve(TUNNEL_API_PORT, accept)
    },
    stop: () => app.close(),
  }
}
