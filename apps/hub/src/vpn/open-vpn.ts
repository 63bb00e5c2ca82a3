import { generateKeyPair, publicKeyOf } from '@hedgerow/wireguard/node'
import type { PrivateKey } from '@hedgerow/wireguard'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Tables } from '../database/tables.ts'
import { readOrCreateSecret } from '../settings/secrets.ts'
import { readSettings } from '../settings/settings.ts'
import { parseNetwork, type Network } from './addresses.ts'
import { openEmbeddedVpn } from './embedded.ts'
import { createDisabledVpn, type Vpn } from './vpn.ts'

/**
 * The tunnel that HUB_VPN_BACKEND asks for, with the hub's own key and the network of its settings. Rejects when the
 * UDP port cannot be bound, or the network in the settings is none.
 */
export async function openVpn(options: {
  db: Kysely<Tables>
  config: Config['vpn']
  clock: () => number
}): Promise<{ vpn: Vpn; network: Network }> {
  const { db, config, clock } = options
  const { vpnNetwork } = await readSettings(db)
  const network = parseNetwork(vpnNetwork)
  if (!network) throw new Error(`The setting vpnNetwork is not an IPv4 network of /8 to /30: ${vpnNetwork}`)
  const privateKey = await readOrCreateSecret(db, 'wireguard-private-key', () => generateKeyPair().privateKey)
  if (config.backend !== 'off')
    return { vpn: await openEmbeddedVpn({ privateKey, port: config.port, network, clock }), network }
  const vpn = createDisabledVpn({
    publicKey: publicKeyOf(privateKey as PrivateKey),
    address: network.hubAddress,
    network: network.cidr,
    port: config.port,
    reason: 'HUB_VPN_BACKEND is off',
  })
  return { vpn, network }
}
