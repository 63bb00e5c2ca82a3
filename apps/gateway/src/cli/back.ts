import { basename, dirname } from 'node:path'
import { lockDataDirectory } from '../kernel/data-lock.ts'
import { DataFileError, exists } from '../kernel/durable-file.ts'
import { localCalls } from '@hedgerow/contract/local-api'
import { BUNDLE, type Installation } from '../update/installation.ts'
import { LEFT, openVersions } from '../update/versions.ts'
import { callAgent } from './call-agent.ts'
import type { Outcome } from './command-line.ts'

const HELD = 'The hub installs the version that was left only when a person asks for it.'

/** Returns to the version before. An agent that runs does it itself: only it knows whether a deterrent is on. */
export async function goBack(dataDir: string, installation = installationAt(BUNDLE)): Promise<Outcome> {
  const unlock = installation && (await lockOf(dataDir))
  if (!unlock)
    return callAgent(dataDir, localCalls.goBack, ({ version }) => ({
      text: `Version ${version} starts now. ${HELD}`,
      isDone: true,
    }))
  try {
    const versions = await openVersions(installation)
    const before = await versions.before()
    if (!before) return { text: 'There is no version before on this device. Nothing was changed.', isDone: false }
    await versions.giveUp(LEFT)
    return { text: `Version ${before.version} starts next. ${HELD}`, isDone: true }
  } finally {
    unlock()
  }
}

/** Undefined while an agent runs on this directory. */
async function lockOf(dataDir: string): Promise<(() => void) | undefined> {
  if (!(await exists(dataDir))) return () => {}
  return lockDataDirectory(dataDir).catch((error: unknown) => {
    if (error instanceof DataFileError) return undefined
    throw error
  })
}

/** Of a version that an update brought; undefined for the installed one, which has none before. */
export function installationAt(bundle: string): Installation | undefined {
  const slot = basename(bundle)
  if (basename(dirname(bundle)) !== 'updates' || (slot !== 'a' && slot !== 'b')) return undefined
  return { root: dirname(dirname(bundle)), slot }
}
