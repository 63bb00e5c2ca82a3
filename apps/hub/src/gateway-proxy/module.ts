import { GATEWAY_APPLICATIONS_PORT, GATEWAY_PORT, gatewayUiTicket } from '@hedgerow/contract'
import { findGateway } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Proofs } from '../certificates/module.ts'
import type { App, Ground } from '../facts/room.ts'
import { blockedUdp, isOffline } from '../fleet/fleet.ts'
import type { Fleet } from '../fleet/module.ts'
import { gatewayPages } from '../followers/gateway-pages.ts'
import type { Limits } from '../http/module.ts'
import { mount } from '../http/mount.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { createGatewayProxy } from './gateway-proxy.ts'

const PORTS = { interface: GATEWAY_PORT, applications: GATEWAY_APPLICATIONS_PORT } as const

/** Gateways' own pages, each on an origin of its own. The hub's listeners stop it. */
export function open(hub: Ground & Limits & Proofs & Tunnel & Fleet & { sessions: Sessions }) {
  const { db, config, vpn, heartbeats, signals } = hub
  const ui = createGatewayProxy({
    ...hub,
    ...hub.connections,
    async findGateway(caller, id) {
      const gateway = await findGateway(db, scopeOf(caller), id)
      return {
        ...gateway,
        vpnPort: signals.vpnPort,
        blockedUdp: blockedUdp(gateway, signals),
        isOffline: () => isOffline(gateway, signals),
      }
    },
    applicationsOf: (id) => heartbeats.latest(id)?.content.applications,
    dial: (address, door, signal) => vpn.dial(address, PORTS[door], signal),
    hubPorts: () => hub.listening,
    tls: config.httpsPort === undefined ? undefined : hub.certificates.current,
  })
  return {
    gives: { ui },
    follows: [gatewayPages(ui)],
    routes: (app: App) =>
      mount(app, gatewayUiTicket, ({ caller, params, query, raw }) =>
        ui.issueTicket(caller, { gatewayId: params.id, ...query }, raw.headers),
      ),
    onListening: ui.start,
  }
}
