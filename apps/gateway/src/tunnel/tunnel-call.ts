import { API_BASE, TUNNEL_API_PORT, type BodyOf, type Call, type ResponseOf } from '@hedgerow/contract'
import type { z } from 'zod'
import { post, readAnswer } from '../kernel/http-call.ts'
import type { Tunnel } from './tunnel.ts'

const CALL_TIMEOUT_MS = 10_000

/** Makes a call of the contract at the hub's tunnel address, where the source address is this device's identity. */
export async function postThroughTunnel<C extends Call & { response: z.ZodType }>(
  tunnel: Tunnel,
  call: C,
  body: BodyOf<C>,
  signal: AbortSignal,
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<ResponseOf<C>> {
  const answer = await post({
    url: new URL(`http://${tunnel.hubAddress}:${TUNNEL_API_PORT}${API_BASE}${call.path}`),
    body: Buffer.from(JSON.stringify(body)),
    timeoutMs,
    signal,
    connect: () => tunnel.connect(TUNNEL_API_PORT),
  })
  return readAnswer(answer, call.response) as ResponseOf<C>
}
