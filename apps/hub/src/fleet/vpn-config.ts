import { KEEPALIVE_SECONDS, VPN_LISTEN_PORT } from '@hedgerow/contract'

/** Replaces a secret: without the private key, the preshared one is useless too. */
const KEPT_ON_GATEWAY = '<kept on the gateway>'

export type VpnConfig = {
  privateKey: string | null
  address: string
  hubPublicKey: string
  presharedKey: string
  /** `host:port` of the hub. */
  endpoint: string
  /** The whole tunnel network, `a.b.c.d/n`. */
  network: string
}

/** The gateway's side of the tunnel, in the form that wg-quick reads. */
export function vpnConfigText(config: VpnConfig): string {
  return `[Interface]
PrivateKey = ${config.privateKey ?? KEPT_ON_GATEWAY}
Address = ${config.address}/24
ListenPort = ${VPN_LISTEN_PORT}

[Peer]
PublicKey = ${config.hubPublicKey}
PresharedKey = ${config.privateKey === null ? KEPT_ON_GATEWAY : config.presharedKey}
Endpoint = ${config.endpoint}
AllowedIPs = ${config.network}
PersistentKeepalive = ${KEEPALIVE_SECONDS}
`
}
