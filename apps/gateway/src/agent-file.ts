import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile, writeDurably } from './kernel/durable-file.ts'

/**
 * The file with the address and the token by which commands on this device reach the running agent. Both are new at
 * each start.
 */
const agentFile = z.strictObject({ url: z.url(), token: z.string() })
export type RunningAgent = z.output<typeof agentFile>

const FILE = 'agent.json'

export function makeAgentToken(): string {
  return randomBytes(24).toString('base64url')
}

/** Returns the function that removes the file. */
export async function announceAgent(dataDir: string, agent: RunningAgent): Promise<() => Promise<void>> {
  const path = join(dataDir, FILE)
  await writeDurably(path, `${JSON.stringify(agent)}\n`)
  return () => rm(path, { force: true })
}

/** Undefined when no agent runs; after a crash the file names an agent that does not answer. */
export function findAgent(dataDir: string): Promise<RunningAgent | undefined> {
  return readJsonFile(join(dataDir, FILE), agentFile)
}
