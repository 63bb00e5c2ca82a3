import { updateLines } from '@hedgerow/contract'
import type { z } from 'zod'
import { localCalls } from '@hedgerow/contract/local-api'
import { callAgent } from './call-agent.ts'
import { timeOf, type Outcome } from './command-line.ts'

type Status = z.output<typeof localCalls.getStatus.response>

const MARKS = { done: 'ok', waiting: '..', failed: '!!' } as const

/** Asks the agent that runs on this data directory. */
export function agentStatus(dataDir: string): Promise<Outcome> {
  return callAgent(dataDir, localCalls.getStatus, (status) => ({ text: inLines(status), isDone: true }))
}

function inLines(status: Status): string {
  const part = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
  return [
    ...status.conditions.map(({ label, state, detail }) => `${MARKS[state]}  ${label}${detail ? `: ${detail}` : ''}`),
    '',
    `Version ${status.version}, ${status.armed ? 'armed' : 'disarmed'}, ${status.detectionsWaiting} detections ` +
      'wait for the hub',
    ...part(
      'Version and updates',
      updateLines(status.updates, (at) => timeOf(Date.parse(at))).map(([title, text]) => `${title}: ${text}`),
    ),
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
