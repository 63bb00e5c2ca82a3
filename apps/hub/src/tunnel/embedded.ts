/**
 * The tunnel inside this process: WireGuard over one UDP socket and TCP/IP above it, without privileges or a network
 * interface. Cryptokey routing lets a peer send from its own address only, and the stack takes only packets for the
 * hub's address, so nothing can be forwarded.
 */
import { createStack } from '@hedgerow/netstack/node'
import type { PresharedKey, PrivateKey, PublicKey } from '@hedgerow/wireguard'
import { openOnBothFamilies } from '@hedgerow/wireguard/node'
import type { VpnBackend } from './tunnel.ts'

export type OnDrop = (layer: 'wireguard' | 'netstack', reason: string) => void

export type EmbeddedOptions = {
  /** X25519, base64. */
  privateKey: string
  /** UDP; 0 takes a free one. */
  port: number
  /** The hub's own address in the tunnel. */
  address: string
  /** Many datagrams in one system call, where Linux supports it. */
  offload: boolean
  clock: () => number
  /** Called with the reason of each dropped packet. */
  onDrop?: OnDrop | undefined
}

/** Rejects with Node's own error when the UDP port cannot be bound. */
export async function openEmbeddedVpn(options: EmbeddedOptions): Promise<VpnBackend> {
  const { address, clock } = options
  let handshakeListener: Parameters<VpnBackend['onHandshake']>[0] = () => {}
  const stack = createStack({
    address,
    isAuthenticated: true,
    send: (packet) => wireguard.send(packet),
    onDrop: (reason) => options.onDrop?.('netstack', reason),
  })
  const wireguard = await openOnBothFamilies({
    privateKey: options.privateKey as PrivateKey,
    port: options.port,
    offload: options.offload,
    onPacket: (packet) => stack.receive(packet),
    onHandshake: (publicKey) => handshakeListener(publicKey),
    onDrop: (reason) => options.onDrop?.('wireguard', reason),
    clock: () => ({ monotonicMs: performance.now(), unixMs: clock() }),
  })

  return {
    publicKey: wireguard.publicKey,
    port: wireguard.port,
    disabledReason: undefined,
    addPeer({ publicKey, presharedKey, address, endpoint, latestTimestamp }) {
      wireguard.updatePeer({
        publicKey: publicKey as PublicKey,
        presharedKey: presharedKey as PresharedKey,
        allowedIps: [`${address}/32`],
        ...(endpoint && { endpoint }),
        ...(latestTimestamp !== undefined && { latestTimestamp }),
      })
    },
    beginHandshake: (publicKey) => wireguard.handshake(publicKey as PublicKey),
    removePeer: (publicKey) => wireguard.removePeer(publicKey as PublicKey),
    peer: (publicKey) => wireguard.peer(publicKey as PublicKey),
    peers: () => wireguard.peers(),
    traffic: () => wireguard.traffic(),
    onHandshake(listener) {
      handshakeListener = listener
    },
    dial: (host, port, signal) => stack.connect({ host, port, ...(signal && { signal }) }),
    serve: (port, onStream) => void stack.listen({ port }, onStream),
    async stop() {
      // Without WireGuard the stack's resets go nowhere: ten thousand take half a second, and a device learns as much
      // from the answers of the hub that starts next.
      await wireguard.close()
      stack.close()
    },
  }
}
