/**
 * Connections to gateways' own web servers through the tunnel, kept alive between requests and limited for each
 * gateway.
 */
import { Agent } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Opens a stream to the web server at an address in the tunnel: 'connect' or 'error' follows. It takes no port: nothing
 * that a browser sends can lead to another one.
 */
export type Dial = (address: string, signal?: AbortSignal) => Duplex

const MAX_CONNECTIONS = 128
const MAX_IDLE_CONNECTIONS = 8
/** Shorter than the 5 s after which common servers close, so that requests rarely meet a closing connection. */
const IDLE_TIMEOUT_MS = 4_000

export type GatewayConnections = {
  agentFor(gateway: { id: string; address: string }): Agent
  /** A connection of its own, which is not reused. */
  open(gateway: { address: string }): Duplex
  stop(): void
}

export function createGatewayConnections({
  dial,
  connectTimeoutMs,
}: {
  dial: Dial
  connectTimeoutMs: number
}): GatewayConnections {
  const open = (address: string) => openStream(dial, address, connectTimeoutMs)
  const agents = new Map<string, { address: string; agent: Agent }>()

  return {
    agentFor({ id, address }) {
      const known = agents.get(id)
      if (known?.address === address) return known.agent
      known?.agent.destroy()
      const agent = new TunnelAgent(() => open(address))
      agents.set(id, { address, agent })
      return agent
    },
    open: ({ address }) => open(address),
    stop() {
      for (const { agent } of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

class TunnelAgent extends Agent {
  readonly #open: () => Duplex

  constructor(open: () => Duplex) {
    super({
      keepAlive: true,
      maxSockets: MAX_CONNECTIONS,
      maxFreeSockets: MAX_IDLE_CONNECTIONS,
      timeout: IDLE_TIMEOUT_MS,
    })
    this.#open = open
  }

  override createConnection(): Duplex {
    return this.#open()
  }
}

function openStream(dial: Dial, address: string, connectTimeoutMs: number): Duplex {
  const abort = new AbortController()
  const stream = dial(address, abort.signal)
  const timer = setTimeout(() => abort.abort(new Error('the gateway does not accept connections')), connectTimeoutMs)
  stream.once('connect', () => clearTimeout(timer))
  stream.once('close', () => clearTimeout(timer))
  return stream
}
