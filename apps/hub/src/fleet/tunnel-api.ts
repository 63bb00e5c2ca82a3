/**
 * The gateway API inside the tunnel: the calls of gateways, and the files of updates, on the hub's tunnel address, over
 * connections from the embedded stack. A peer can send only from its own address, so the source address is the
 * identity; no other call of the hub is mounted here. The number of connections is limited, in total and for each
 * gateway.
 */
import { TUNNEL_API_PORT } from '@hedgerow/contract'
import { createConnectionLimits, createFront, type Faults } from '@hedgerow/http'
import type { TcpStream } from '@hedgerow/netstack/node'
import type { Server } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { createApi } from '../http/api.ts'
import { CLIENT_ERROR } from '../http/errors.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Vpn } from '../tunnel/tunnel.ts'
import { mountGatewayCalls, shedLoad, type GatewayCallDependencies } from './gateway-calls.ts'
import { createKnownAddresses } from './known-addresses.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 120_000
const CONNECTIONS_PER_GATEWAY = 8

type Dependencies = GatewayCallDependencies & {
  db: Kysely<Tables>
  vpn: Vpn
  /** Mounts the files with which gateways update themselves. */
  mountDownloads(scope: FastifyInstance): Promise<void>
  log: Logger
  faults: Faults
}

export type TunnelApi = { start(): Promise<void>; stop(): Promise<void> }

export function createTunnelApi(dependencies: Dependencies): TunnelApi {
  const { db, vpn, log } = dependencies
  let server: Server | undefined
  const app = createApi({
    surface: 'tunnel',
    log,
    sourceAddress: (request) => request.socket.remoteAddress ?? '',
    serverFactory: (handler) => {
      server = createFront({
        limits: createConnectionLimits({
          perSource: CONNECTIONS_PER_GATEWAY,
          total: Infinity,
          sourceOf: (address) => address,
        }),
        faults: dependencies.faults,
        handle: handler,
        badRequest: CLIENT_ERROR,
        deadlines: { headersMs: HEADERS_TIMEOUT_MS, requestMs: REQUEST_TIMEOUT_MS },
      })
      return server
    },
  })
  const gatewayAt = createKnownAddresses(db)
  const gatewayIds = new WeakMap<FastifyRequest, string>()
  const identify = (request: FastifyRequest): string => {
    const gatewayId = gatewayIds.get(request)
    if (gatewayId === undefined) throw new HubError('gateway_unknown')
    return gatewayId
  }
  mountGatewayCalls(app, dependencies, identify, {
    beforeBody: identifyFirst,
  })

  /** The gateway at the source address, if the hub has time for another call of it now. */
  async function identifyFirst(request: FastifyRequest): Promise<void> {
    shedLoad(dependencies, request)
    const gatewayId = await gatewayAt(request.sourceIp)
    dependencies.calls.take(gatewayId)
    gatewayIds.set(request, gatewayId)
  }

  function accept(stream: TcpStream): void {
    const { remoteAddress } = stream
    stream.on('error', (error) => log.debug({ err: error, remoteAddress }, 'a connection through the tunnel ended'))
    server?.emit('connection', stream)
  }

  return {
    async start() {
      await app.register(async (scope) => {
        scope.addHook('onRequest', identifyFirst)
        await dependencies.mountDownloads(scope)
      })
      await app.ready()
      vpn.serve(TUNNEL_API_PORT, accept)
    },
    stop: () => app.close(),
  }
}
