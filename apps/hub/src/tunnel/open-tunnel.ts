import type { TcpStream } from '@hedgerow/netstack/node'
import { publicKeyOf } from '@hedgerow/wireguard/node'
import type { PrivateKey } from '@hedgerow/wireguard'
import type { Config } from '../config.ts'
import { HubError } from '../kernel/hub-error.ts'
import { parseNetwork, type Network } from './addresses.ts'
import { openEmbeddedVpn, type OnDrop } from './embedded.ts'
import { vpnEndpoints } from './endpoints.ts'
import type { SwitchableVpn, VpnBackend, VpnSettings } from './tunnel.ts'

type Running = { backend: VpnBackend; network: Network; settings: VpnSettings; failure?: string }

/**
 * The tunnel of HUB_VPN_BACKEND and the settings, or one that says why there is none. Rejects when the UDP port cannot
 * be bound, or the network in the settings is invalid.
 */
export async function openVpn(
  options: {
    config: Config['vpn']
    /** X25519, base64. */
    privateKey: string
    clock: () => number
    onDrop?: OnDrop
  } & VpnSettings,
): Promise<SwitchableVpn> {
  const { config, privateKey, clock, onDrop } = options
  /** A randomly chosen port stays, because gateways know it. */
  let port = config.port
  const served = new Map<number, (stream: TcpStream) => void>()
  let handshakeListener: Parameters<VpnBackend['onHandshake']>[0] = () => {}
  let running = await start(options)

  async function start({ enabled, networkCidr }: VpnSettings): Promise<Running> {
    const network = parseNetwork(networkCidr)
    if (!network) throw new Error(`The setting vpnNetwork is not an IPv4 network of /8 to /30: ${networkCidr}`)
    const reason =
      config.backend === 'off' ? 'HUB_VPN_BACKEND is off' : enabled ? undefined : 'the VPN is off in the settings'
    const backend =
      reason === undefined
        ? await openEmbeddedVpn({
            privateKey,
            port,
            address: network.hubAddress,
            offload: config.offload,
            clock,
            onDrop,
          })
        : createNoTunnel({ privateKey, port, reason })
    port = backend.port
    backend.onHandshake((publicKey) => handshakeListener(publicKey))
    for (const [servedPort, onStream] of served) backend.serve(servedPort, onStream)
    return { backend, network, settings: { enabled, networkCidr } }
  }

  function without(reason: string): void {
    const backend = createNoTunnel({ privateKey, port, reason })
    running = { ...running, backend, settings: { ...running.settings, enabled: false }, failure: reason }
  }

  return {
    publicKey: publicKeyOf(privateKey as PrivateKey),
    get port() {
      return port
    },
    get disabledReason() {
      return running.backend.disabledReason
    },
    get failure() {
      return running.failure
    },
    get address() {
      return running.network.hubAddress
    },
    get network() {
      return running.network.cidr
    },
    addPeer: (peer) => running.backend.addPeer(peer),
    beginHandshake: (publicKey) => running.backend.beginHandshake(publicKey),
    removePeer: (publicKey) => running.backend.removePeer(publicKey),
    peer: (publicKey) => running.backend.peer(publicKey),
    peers: () => running.backend.peers(),
    traffic: () => running.backend.traffic(),
    onHandshake(listener) {
      handshakeListener = listener
    },
    dial: (address, toPort, signal) => running.backend.dial(address, toPort, signal),
    serve(servedPort, onStream) {
      served.set(servedPort, onStream)
      running.backend.serve(servedPort, onStream)
    },
    endpoints: (requestHost) => vpnEndpoints({ configuredHost: config.endpointHost, requestHost, port }),
    async configure(settings) {
      const { backend, failure } = running
      const { enabled, networkCidr } = running.settings
      const isSame = settings.enabled === enabled && settings.networkCidr === networkCidr
      if (isSame && failure === undefined) return false
      without('the VPN is being restarted')
      await backend.stop()
      try {
        running = await start(settings)
      } catch (error) {
        without('the VPN could not be started')
        throw error
      }
      return true
    },
    stop: () => running.backend.stop(),
  }
}

/** The hub keeps its key, and has no peers. */
function createNoTunnel(options: { privateKey: string; port: number; reason: string }): VpnBackend {
  return {
    publicKey: publicKeyOf(options.privateKey as PrivateKey),
    port: options.port,
    disabledReason: options.reason,
    addPeer: () => {},
    beginHandshake: () => {},
    removePeer: () => {},
    peer: () => undefined,
    peers: () => [],
    traffic: () => new Map(),
    onHandshake: () => {},
    dial: () => {
      throw new HubError('vpn_disabled')
    },
    serve: () => {},
    stop: async () => {},
  }
}
