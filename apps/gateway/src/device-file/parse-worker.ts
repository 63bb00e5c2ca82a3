/** The thread that parses texts which people send: a text that takes long holds nothing else up. */
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hasSecrets, parseDeviceFile, type Parsed } from './parse.ts'
import type { Secrets } from './secrets.ts'

export type ParseTask = { text: string; secrets: Secrets; uiTarget?: string | undefined }
export type ParseAnswer = { parsed: Parsed; hasSecrets: boolean }

// Linux gives each thread a priority of its own; elsewhere this would slow the whole agent down.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
parentPort!.on('message', ({ text, secrets, uiTarget }: ParseTask) => {
  const parsed = parseDeviceFile(text, secrets, uiTarget === undefined ? undefined : new URL(uiTarget))
  const answer: ParseAnswer = { parsed, hasSecrets: hasSecrets(text) }
  parentPort!.postMessage(answer)
})
