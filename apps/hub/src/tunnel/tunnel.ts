/**
 * The tunnel as the rest of the hub sees it: peers that come and go while it runs, TCP out to a gateway, and TCP in on
 * the hub's own tunnel address. A peer reaches that address and nothing else; nothing is ever forwarded. Two things
 * stand behind it, and may take each other's place while the hub runs: the embedded backend, and none at all. Called by
 * enrolment/, fleet/, settings/ and gateway-proxy/.
 */
import type { TcpStream } from '@hedgerow/netstack/node'
import { HubError } from '../kernel/hub-error.ts'
import { isGatewayAddress, lowestFreeAddress, parseNetwork } from './addresses.ts'

export type VpnEndpoint = { address: string; port: number }

export type VpnPeer = {
  publicKey: string
  presharedKey: string
  /** The one address that it may send from, and is reached at. */
  address: string
  /** Where it was last heard; the hub starts the handshake itself. */
  endpoint?: VpnEndpoint | undefined
  /** Initiations up to it are replays; as `VpnPeerStatus` gave it. */
  latestTimestamp?: string | undefined
}

export type VpnPeerStatus = {
  publicKey: string
  endpoint?: VpnEndpoint
  /** Milliseconds since 1970. */
  latestHandshakeAtMs?: number
  /** The greatest TAI64N of its initiations, in hexadecimal. */
  latestTimestamp?: string
  receivedBytes: number
  sentBytes: number
}

/** What carries packets. */
export type VpnBackend = {
  readonly publicKey: string
  /** UDP. */
  readonly port: number
  /** Why there is no tunnel, in words; undefined while there is one. */
  readonly disabledReason: string | undefined
  /** Adds the peer or replaces its configuration. */
  addPeer(peer: VpnPeer): void
  /** Silent at once. */
  removePeer(publicKey: string): void
  peers(): VpnPeerStatus[]
  /** Calls the one listener after each handshake that a peer completed. */
  onHandshake(listener: () => void): void
  /** TCP through the tunnel. The stream errs when nothing answers. */
  dial(address: string, port: number, signal?: AbortSignal): TcpStream
  /** TCP from gateways to the hub's tunnel address; `stream.remoteAddress` is authenticated. */
  serve(port: number, onStream: (stream: TcpStream) => void): void
  stop(): Promise<void>
}

export type Vpn = VpnBackend & {
  /** The hub's own address in the tunnel. */
  readonly address: string
  /** `a.b.c.d/n` */
  readonly network: string
  /** Where gateways reach the hub, as `host:port` in order; `requestHost` is the `Host` header of whoever asks. */
  endpoints(requestHost: string | undefined): string[]
}

/** What the hub's settings say of the tunnel. */
export type VpnSettings = {
  enabled: boolean
  /** `a.b.c.d/n` */
  networkCidr: string
}

export type SwitchableVpn = Vpn & {
  /** Why there is no tunnel though there should be one, in words; undefined when all is as it was asked for. */
  readonly failure: string | undefined
  /**
   * Stops the tunnel and starts it as these settings say, with no peers yet; gives false when it is so already. Rejects
   * when it cannot be started, and then there is none.
   */
  configure(settings: VpnSettings): Promise<boolean>
}

/** Throws `vpn_disabled` when there is no tunnel for what is about to be done. */
export function requireVpn(vpn: Vpn): void {
  if (vpn.disabledReason !== undefined) throw new HubError('vpn_disabled')
}

/** Throws `vpn_unavailable` when there is no tunnel though there should be one. */
export function checkVpn({ failure }: SwitchableVpn): void {
  if (failure !== undefined) throw new HubError('vpn_unavailable', { message: `The hub is not ready: ${failure}.` })
}

/** Changes of the peers that were just committed to the database. */
export type LivePeers = {
  /** Reads a gateway that was changed or deleted, and the key that it had; in effect when it resolves. */
  refresh(changed: { gatewayId: string | undefined; formerPublicKey: string | undefined }): Promise<void>
}

/** The addresses that a setting vpnNetwork stands for. */
export type GatewayAddresses = {
  /** Whether a gateway may have it: neither the network's ends nor the hub's own. */
  has(address: string): boolean
  /** The lowest that is not in `taken`; undefined when there is none. */
  lowestFree(taken: ReadonlySet<string>): string | undefined
}

/** Undefined for what is no IPv4 network of /8 to /30, written from its first address. */
export function gatewayAddresses(networkCidr: string): GatewayAddresses | undefined {
  const network = parseNetwork(networkCidr)
  return (
    network && {
      has: (address) => isGatewayAddress(network, address),
      lowestFree: (taken) => lowestFreeAddress(network, taken),
    }
  )
}
