import { Agent } from 'node:http'
import { API_BASE, TUNNEL_API_PORT, type BodyOf, type Call, type ResponseOf } from '@hedgerow/contract'
import type { z } from 'zod'
import { post, readAnswer } from '../kernel/http-call.ts'
import type { Tunnel } from './tunnel.ts'

const CALL_TIMEOUT_MS = 10_000
/** TCP's probes of an idle connection begin after two hours (RFC 9293 section 3.8.4); the hub has closed it by then. */
const PROBES_AFTER_MS = 7_200_000

export type TunnelCallOptions = {
  signal: AbortSignal
  timeoutMs?: number
  /** Keeps the connection (`keepOneConnection`). Without it, each call has its own. */
  agent?: Agent
}

/** Makes a call of the contract at the hub's tunnel address, where the source address is this device's identity. */
export async function postThroughTunnel<C extends Call & { response: z.ZodType }>(
  tunnel: Tunnel,
  call: C,
  body: BodyOf<C>,
  { signal, timeoutMs = CALL_TIMEOUT_MS, agent }: TunnelCallOptions,
): Promise<ResponseOf<C>> {
  const answer = await post({
    url: new URL(`http://${tunnel.hubAddress}:${TUNNEL_API_PORT}${API_BASE}${call.path}`),
    body: Buffer.from(JSON.stringify(body)),
    timeoutMs,
    signal,
    ...(agent ? { agent } : { connect: () => tunnel.connect(TUNNEL_API_PORT) }),
  })
  return readAnswer(answer, call.response) as ResponseOf<C>
}

/**
 * Keeps one connection to the hub's API for the next call: three datagrams a call instead of eight. For a call that
 * comes again before the hub closes the connection, and that may reach it twice.
 */
export function keepOneConnection(tunnel: Tunnel): Agent {
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: PROBES_AFTER_MS, maxFreeSockets: 1 })
  agent.createConnection = () => tunnel.connect(TUNNEL_API_PORT)
  return agent
}
