import type { z } from 'zod'
import { findAgent } from '../agent-file.ts'
import { API_PATH, localCalls } from '../local-api/calls.ts'
import type { Outcome } from './command-line.ts'

type Status = z.output<typeof localCalls.getStatus.response>

const TIMEOUT_MS = 5_000
const MARKS = { done: 'ok', waiting: '..', failed: '!!' } as const

/** Asks the agent that runs on this data directory. */
export async function agentStatus(dataDir: string): Promise<Outcome> {
  const agent = await findAgent(dataDir)
  const silent = { text: `No gateway runs with ${dataDir}.`, isDone: false }
  if (!agent) return silent
  try {
    const answer = await fetch(`${agent.url}${API_PATH}/status`, {
      headers: { authorization: `Bearer ${agent.token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!answer.ok) return { text: await answer.text(), isDone: false }
    return { text: inLines(localCalls.getStatus.response.parse(await answer.json())), isDone: true }
  } catch {
    return silent
  }
}

function inLines(status: Status): string {
  const part = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
  return [
    ...status.conditions.map(({ label, state, detail }) => `${MARKS[state]}  ${label}${detail ? `: ${detail}` : ''}`),
    '',
    `Version ${status.version}, ${status.armed ? 'armed' : 'disarmed'}, ${status.detectionsWaiting} detections wait for the hub`,
    ...part(
      'Cameras',
      status.cameras.map(({ name, state, fps }) => `${name}: ${state}, ${fps} frames a second`),
    ),
    ...part(
      'Deterrents',
      status.deterrents.map(({ name, state, driver }) => `${name}: ${state}${driver ? ` (${driver})` : ''}`),
    ),
    ...part('Problems', status.problems),
  ].join('\n')
}
