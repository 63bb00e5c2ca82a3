import { request, type IncomingMessage } from 'node:http'
import { DOWNLOADS_PATH, TUNNEL_API_PORT, type Heartbeat } from '@hedgerow/contract'
import type { HeartbeatAnswer } from './heartbeat.ts'
import { NotAHubError } from '../kernel/http-call.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

/** The hub may be busy with another gateway's archive. */
const HEAD_TIMEOUT_MS = 30_000

/**
 * Opens a file that the hub hands out, from byte `from` on. Rejects with the network's error, and with NotAHubError for
 * any other answer than these bytes. The body ends with `signal`.
 */
export type Download = (name: string, range: { from: number; signal: AbortSignal }) => Promise<IncomingMessage>

/** The updater of this agent, as the way to the hub uses it. */
export type AgentUpdates = {
  /** Its fields of the heartbeat. */
  parts(): Pick<Heartbeat, 'release' | 'update'>
  /** The hub answered a heartbeat through the tunnel; `download` fetches from it. */
  heard(answer: Pick<HeartbeatAnswer, 'serverTime' | 'update' | 'features'>, download: Download): void
  /** `listener` is called when the hub should learn of a change at once. */
  onChange(listener: () => void): void
}

export function downloadThroughTunnel(
  tunnel: Tunnel,
  name: string,
  { from, signal }: Parameters<Download>[1],
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`http://${tunnel.hubAddress}:${TUNNEL_API_PORT}${DOWNLOADS_PATH}/${name}`, {
      headers: { connection: 'close', ...(from > 0 && { range: `bytes=${from}-` }) },
      signal,
      createConnection: () => tunnel.connect(TUNNEL_API_PORT),
    })
    const timer = setTimeout(() => outgoing.destroy(new Error('the hub does not answer')), HEAD_TIMEOUT_MS)
    outgoing.on('error', reject)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('response', (answer) => {
      clearTimeout(timer)
      if (answer.statusCode === (from > 0 ? 206 : 200)) return resolve(answer)
      answer.destroy()
      reject(new NotAHubError(`the hub does not hand out ${name} (status ${answer.statusCode})`))
    })
    outgoing.end()
  })
}
