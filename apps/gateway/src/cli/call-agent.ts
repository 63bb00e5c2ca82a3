import { callAddress, type DeviceCall } from '@hedgerow/contract'
import { LOCAL_API_BASE } from '@hedgerow/contract/local-api'
import { z } from 'zod'
import { findAgent } from '../agent-file.ts'
import type { Outcome } from './command-line.ts'

/** A small board answers this late while it learns or decodes. */
const TIMEOUT_MS = 20_000

/** Asks the agent that runs on this data directory, and puts its answer in words. */
export async function callAgent<S extends z.ZodType>(
  dataDir: string,
  call: Pick<DeviceCall, 'method' | 'path'> & { response: S },
  inWords: (answer: z.output<S>) => Outcome,
  { body, timeoutMs = TIMEOUT_MS }: { body?: object; timeoutMs?: number } = {},
): Promise<Outcome> {
  const agent = await findAgent(dataDir)
  const silent = { text: `No gateway runs with ${dataDir}.`, isDone: false }
  if (!agent) return silent
  try {
    const answer = await fetch(callAddress(agent.url + LOCAL_API_BASE, call), {
      method: call.method,
      headers: { authorization: `Bearer ${agent.token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!answer.ok) return { text: messageIn(await answer.text()), isDone: false }
    const parsed = call.response.safeParse(await answer.json())
    if (parsed.success) return inWords(parsed.data)
    return {
      text: `The gateway that runs with ${dataDir} has another version than this command. Restart the gateway.`,
      isDone: false,
    }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TimeoutError') return silent
    const seconds = timeoutMs / 1_000
    return {
      text: `The gateway that runs with ${dataDir} has not answered for ${seconds} s. Try again.`,
      isDone: false,
    }
  }
}

/** The sentence of a refusal; what somebody else answers on that port stays as it is. */
function messageIn(body: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(body)).message
  } catch {
    return body
  }
}
