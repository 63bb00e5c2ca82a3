import { publicKeyOf } from '@hedgerow/wireguard/node'
import type { PrivateKey } from '@hedgerow/wireguard'
import type { Config } from '../config.ts'
import { HubError } from '../http/hub-error.ts'
import { lowestFreeAddress, parseNetwork } from './addresses.ts'
import { openEmbeddedVpn } from './embedded.ts'
import { vpnEndpoints } from './endpoints.ts'
import type { Vpn, VpnBackend } from './vpn.ts'

/**
 * The tunnel that HUB_VPN_BACKEND asks for, or one that says why there is none. Rejects when the UDP port cannot be
 * bound, or the network in the settings is none.
 */
export async function openVpn(options: {
  config: Config['vpn']
  /** X25519, base64. */
  privateKey: string
  /** The setting vpnNetwork. */
  networkCidr: string
  clock: () => number
}): Promise<Vpn> {
  const { config, privateKey, networkCidr, clock } = options
  const network = parseNetwork(networkCidr)
  if (!network) throw new Error(`The setting vpnNetwork is not an IPv4 network of /8 to /30: ${networkCidr}`)
  const backend =
    config.backend === 'off'
      ? createNoTunnel({ privateKey, port: config.port, reason: 'HUB_VPN_BACKEND is off' })
      : await openEmbeddedVpn({ privateKey, port: config.port, address: network.hubAddress, clock })
  return {
    ...backend,
    address: network.hubAddress,
    network: network.cidr,
    lowestFreeAddress: (taken) => lowestFreeAddress(network, taken),
    endpoints: (requestHost) => vpnEndpoints({ configuredHost: config.endpointHost, requestHost, port: backend.port }),
  }
}

/** The hub keeps its key, and has no peers. */
function createNoTunnel(options: { privateKey: string; port: number; reason: string }): VpnBackend {
  return {
    publicKey: publicKeyOf(options.privateKey as PrivateKey),
    port: options.port,
    disabledReason: options.reason,
    addPeer: () => {},
    removePeer: () => {},
    peers: () => [],
    onHandshake: () => {},
    dial: () => {
      throw new HubError('vpn_disabled')
    },
    serve: () => {},
    stop: async () => {},
  }
}
