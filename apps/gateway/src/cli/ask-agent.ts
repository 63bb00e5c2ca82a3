import type { z } from 'zod'
import { findAgent } from '../agent-file.ts'
import { API_PATH } from '../local-api/calls.ts'
import type { Outcome } from './command-line.ts'

const TIMEOUT_MS = 5_000

/** Asks the agent that runs on this data directory, and puts its answer in words. */
export async function askAgent<S extends z.ZodType>(
  dataDir: string,
  call: { method: string; path: string; response: S },
  inWords: (answer: z.output<S>) => Outcome,
  body?: object,
): Promise<Outcome> {
  const agent = await findAgent(dataDir)
  const silent = { text: `No gateway runs with ${dataDir}.`, isDone: false }
  if (!agent) return silent
  try {
    const answer = await fetch(`${agent.url}${API_PATH}${call.path}`, {
      method: call.method,
      headers: { authorization: `Bearer ${agent.token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!answer.ok) return { text: await answer.text(), isDone: false }
    return inWords(call.response.parse(await answer.json()))
  } catch {
    return silent
  }
}
