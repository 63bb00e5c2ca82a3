/**
 * The tunnel as the rest of the hub uses it: peers that come and go while it runs, TCP to a gateway, and TCP from
 * gateways to the hub's own tunnel address. A peer reaches only that address; nothing is forwarded. It has two
 * implementations, which may replace each other while the hub runs: the embedded backend, and none. Called by
 * enrolment/, fleet/, settings/ and gateway-proxy/.
 */
import type { TcpStream } from '@hedgerow/netstack/node'
import { HubError } from '../kernel/hub-error.ts'
import { giveLowestFree, isGatewayAddress, parseNetwork, type ReadTaken } from './addresses.ts'

export type VpnEndpoint = { address: string; port: number }

export type VpnPeer = {
  publicKey: string
  presharedKey: string
  /** The peer's one address: it may send only from there. */
  address: string
  /** Its last endpoint. */
  endpoint?: VpnEndpoint | undefined
  /** Initiations up to this timestamp are replays; from `VpnPeerStatus`. */
  latestTimestamp?: string | undefined
}

/** Since the tunnel began. */
export type VpnTraffic = { receivedBytes: number; sentBytes: number }

export type VpnPeerStatus = VpnTraffic & {
  publicKey: string
  endpoint?: VpnEndpoint
  /** Milliseconds since 1970. */
  latestHandshakeAtMs?: number
  /** The greatest TAI64N of its initiations, in hexadecimal. */
  latestTimestamp?: string
}

/** A tunnel that carries packets. */
export type VpnBackend = {
  readonly publicKey: string
  /** UDP. */
  readonly port: number
  /** Why there is no tunnel, in words; undefined while there is one. */
  readonly disabledReason: string | undefined
  /** Adds the peer or replaces its configuration. */
  addPeer(peer: VpnPeer): void
  /** Begins a handshake with a peer whose endpoint is known. */
  beginHandshake(publicKey: string): void
  /** Takes effect at once. */
  removePeer(publicKey: string): void
  peer(publicKey: string): VpnPeerStatus | undefined
  /** The status of every peer. Slow for a large fleet. */
  peers(): VpnPeerStatus[]
  /** The traffic of all peers by public key; a copy. */
  traffic(): ReadonlyMap<string, VpnTraffic>
  /** Calls the one listener after each handshake that a peer completed. */
  onHandshake(listener: (publicKey: string) => void): void
  /** TCP through the tunnel. The stream fails when nothing answers. */
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
  /** Where gateways reach the hub, as `host:port` in order; `requestHost` is the request's `Host` header. */
  endpoints(requestHost: string | undefined): string[]
}

/** The tunnel's part of the hub's settings. */
export type VpnSettings = {
  enabled: boolean
  /** `a.b.c.d/n` */
  networkCidr: string
}

export type SwitchableVpn = Vpn & {
  /** Why there is no tunnel although there should be one, in words; undefined when the state is as configured. */
  readonly failure: string | undefined
  /**
   * Restarts the tunnel with these settings, without peers; returns false when it has these settings already. Rejects
   * when it cannot be started; then there is no tunnel.
   */
  configure(settings: VpnSettings): Promise<boolean>
}

/** Throws `vpn_disabled` when there is no tunnel. */
export function requireVpn(vpn: Vpn): void {
  if (vpn.disabledReason !== undefined) throw new HubError('vpn_disabled')
}

/** Throws `vpn_unavailable` when there is no tunnel although there should be one. */
export function checkVpn({ failure }: SwitchableVpn): void {
  if (failure !== undefined) throw new HubError('vpn_unavailable', { message: `The hub is not ready: ${failure}.` })
}

/** Applies peer changes that were just committed to the database. */
export type LivePeers = {
  /** Reads a changed or deleted gateway and its former key; in effect when it resolves. */
  refresh(changed: { gatewayId: string | undefined; formerPublicKey: string | undefined }): Promise<void>
}

/** The addresses of a setting vpnNetwork. */
export type GatewayAddresses = {
  /** Whether a gateway may have it: neither the network's ends nor the hub's own. */
  has(address: string): boolean
  /** The lowest free one of a pool that has given `count`; undefined when there is none. */
  lowestFree(of: { pool: object; count: number; readTaken: ReadTaken }): Promise<string | undefined>
}

/** Undefined for anything but an IPv4 network of /8 to /30, written from its first address. */
export function gatewayAddresses(networkCidr: string): GatewayAddresses | undefined {
  const network = parseNetwork(networkCidr)
  return (
    network && {
      has: (address) => isGatewayAddress(network, address),
      lowestFree: (of) => giveLowestFree(network, of),
    }
  )
}
