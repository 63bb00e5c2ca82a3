/** The gateways: what they report, how they are, and the calls that people and they make. */
import { createNamedLimiter } from '../access/limiter.ts'
import type { App, Gives, Ground } from '../facts/room.ts'
import { deletedGateways } from '../followers/deleted-gateways.ts'
import type { Connections } from '../http/connections.ts'
import { createPortWords } from '../tunnel/endpoints.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { createFleetListCache } from './fleet-list-cache.ts'
import { createStatuses, type FleetSignals, type ListDependencies } from './fleet.ts'
import { CALL_LIMIT, signedGatewayRoutes, type GatewayCallDependencies } from './gateway-calls.ts'
import { createHealthChecks } from './health-checks.ts'
import { createHeartbeats } from './heartbeats.ts'
import { createHistory } from './history.ts'
import { createLoadShedding } from './load-shedding.ts'
import { createPresence } from './presence.ts'
import { gatewayRoutes } from './routes.ts'
import { createFleet } from './snapshot.ts'
import { createTunnelApi } from './tunnel-api.ts'

export type Fleet = Gives<typeof open>

type Keepers = Parameters<typeof deletedGateways>[0]
type Needs = { retention: Keepers['retention']; quota: Keepers['quota'] & Pick<FleetSignals, 'refusals'> }

export function open(hub: Ground & Tunnel & Needs) {
  const { clock, vpn, portalUrl, quota, retention } = hub
  const { handshakes } = hub.peers
  const heartbeats = createHeartbeats(hub)
  const history = createHistory(hub)
  const fleet = createFleet(hub.db)
  const healthChecks = createHealthChecks({ ...hub, fleet, handshakes })
  const vpnPort = createPortWords(vpn, () => new URL(portalUrl()).host)
  const { isHealthy } = healthChecks
  const endpointOf = (publicKey: string) => vpn.peer(publicKey)?.endpoint?.address
  const { refusals } = quota
  const signals: FleetSignals = { clock, heartbeats, handshakes, endpointOf, isHealthy, refusals, vpnPort }
  const statuses = createStatuses(fleet, signals)
  const presence = createPresence({ ...hub, statuses })
  return {
    gives: { heartbeats, history, presence, fleet, signals, statuses },
    follows: [deletedGateways({ heartbeats, quota, retention })],
    // The tunnel stops before what is written for the last time: packets that nobody answers would keep it waiting.
    tasks: [heartbeats, history, { stop: vpn.stop }, healthChecks, presence],
  }
}

type CallNeeds = Omit<Parameters<typeof signedGatewayRoutes>[1], 'calls' | 'loadShedding'> &
  Pick<Parameters<typeof createTunnelApi>[0], 'mountDownloads'> & {
    connections: Connections
    ui: Pick<ListDependencies, 'connectedUsers'>
  }

/** What people ask about gateways, and what gateways ask, on both ways. */
export function openCalls(hub: Ground & Tunnel & Fleet & CallNeeds) {
  const { db, clock, fleet, signals, heartbeats, history } = hub
  const { connectedUsers } = hub.ui
  const { warningSince } = hub.presence
  const list: ListDependencies = { fleet, signals, hubPublicKey: hub.vpn.publicKey, connectedUsers, warningSince }
  const loadShedding = createLoadShedding(hub)
  const calls: GatewayCallDependencies = {
    ...hub,
    loadShedding,
    calls: createNamedLimiter({ ...CALL_LIMIT, clock }),
    heartbeats: {
      record(gatewayId, content) {
        heartbeats.record(gatewayId, content)
        history.record(gatewayId, content)
      },
    },
  }
  return {
    gives: { list },
    tasks: [loadShedding, createTunnelApi({ ...hub, ...hub.connections, ...calls })],
    routes(app: App) {
      gatewayRoutes(app, { ...hub, list, fleetListCache: createFleetListCache(db, list) })
      signedGatewayRoutes(app, { ...hub, ...calls })
    },
  }
}
