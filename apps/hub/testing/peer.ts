import { request, type IncomingHttpHeaders } from 'node:http'
import type { ApprovedRegistration } from '@hedgerow/contract'
import { createStack, type Stack } from '@hedgerow/netstack/node'
import type { PresharedKey, PrivateKey, PublicKey } from '@hedgerow/wireguard'
import { openInterface, type WireGuardInterface } from '@hedgerow/wireguard/node'

/** A lost initiation is sent again after 5 s (REKEY_TIMEOUT, WireGuard paper, section 6.4). */
const CONNECT_TIMEOUT_MS = 20_000
/** Enough for two SYNs, a second apart. */
const SILENCE_MS = 3_000

type Joined = Pick<ApprovedRegistration, 'assignedIp' | 'hubVpnIp' | 'hubPublicKey'> & {
  privateKey: string
  presharedKey: string
  /** The hub's UDP port on this machine. */
  hubPort: number
  /** The source address of its packets; its own by default. */
  sourceIp?: string
  /** When false, the peer waits for the hub's handshake. */
  startsHandshakes?: boolean
  port?: number
}

export type TestPeer = {
  stack: Stack
  wireguard: WireGuardInterface
  /** Sends a text as it is, and anything else as JSON. */
  post(path: string, body: unknown): Promise<{ status: number; headers: IncomingHttpHeaders; body: unknown }>
  /** Whether the hub leaves a connection unanswered. */
  isUnheard(): Promise<boolean>
  stop(): Promise<void>
}

/** A gateway's end of the tunnel: the same WireGuard and TCP that the agent has, over loopback. */
export async function joinTunnel(options: Joined): Promise<TestPeer> {
  const { hubVpnIp, hubPort } = options
  const stack = createStack({
    address: options.sourceIp ?? options.assignedIp,
    send: (packet) => wireguard.send(packet),
  })
  const wireguard = await openInterface({
    privateKey: options.privateKey as PrivateKey,
    host: '127.0.0.1',
    ...(options.port && { port: options.port }),
    onPacket: (packet) => stack.receive(packet),
  })
  const startsHandshakes = options.startsHandshakes ?? true
  wireguard.addPeer({
    publicKey: options.hubPublicKey as PublicKey,
    presharedKey: options.presharedKey as PresharedKey,
    allowedIps: ['0.0.0.0/0'],
    ...(startsHandshakes && { endpoint: { address: '127.0.0.1', port: hubPort }, persistentKeepaliveSeconds: 25 }),
  })

  return {
    stack,
    wireguard,
    post(path, body) {
      const payload = typeof body === 'string' ? body : JSON.stringify(body)
      return new Promise((resolve, reject) => {
        const outgoing = request({
          method: 'POST',
          host: hubVpnIp,
          path,
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
            connection: 'close',
          },
          createConnection: () => stack.connect({ host: hubVpnIp, port: 8080, timeoutMs: CONNECT_TIMEOUT_MS }),
        })
        outgoing.on('error', reject)
        outgoing.on('response', (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => (text += chunk))
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) }),
          )
        })
        outgoing.end(payload)
      })
    },
    isUnheard: () =>
      new Promise((resolve, reject) => {
        const stream = stack.connect({ host: hubVpnIp, port: 8080, timeoutMs: SILENCE_MS })
        stream.on('connect', () => {
          stream.destroy()
          resolve(false)
        })
        stream.on('error', (error: NodeJS.ErrnoException) =>
          error.code === 'ETIMEDOUT' ? resolve(true) : reject(error),
        )
      }),
    async stop() {
      stack.close()
      await wireguard.close()
    },
  }
}
