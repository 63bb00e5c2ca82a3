/** The tunnel, its peers, and the door of each gateway behind it. */
import type { HubSettings } from '@hedgerow/contract'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { readOrCreateSecret } from '../database/secrets.ts'
import type { Gives, Ground } from '../facts/room.ts'
import { createGatewayDoor } from '../gateway-door/gateway-door.ts'
import { livePeers } from './live-peers.ts'
import { openVpn } from './open-tunnel.ts'
import { createPeers } from './peers.ts'

export type Tunnel = Gives<typeof open>

type Needs = {
  settings(): Promise<Pick<HubSettings, 'enableVpn' | 'vpnNetwork'>>
  metrics: { countDrop(layer: 'wireguard' | 'netstack', reason: string): void }
}

export async function open(hub: Ground & Needs) {
  const { enableVpn: enabled, vpnNetwork: networkCidr } = await hub.settings()
  const vpn = await openVpn({
    config: hub.config.vpn,
    privateKey: await readOrCreateSecret(hub.db, 'wireguard-private-key', () => generateKeyPair().privateKey),
    enabled,
    networkCidr,
    clock: hub.clock,
    onDrop: hub.metrics.countDrop,
  })
  const peers = createPeers({ ...hub, vpn })
  return {
    gives: { vpn, peers, door: createGatewayDoor({ dial: vpn.dial }) },
    follows: [livePeers(peers)],
    tasks: [peers],
    stop: vpn.stop,
  }
}
