import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDataDirectory } from '../kernel/data-lock.ts'
import { exists, syncPath } from '../kernel/durable-file.ts'
import { APPROVAL_FILE } from '../tunnel/approval.ts'
import { HUB_FILE } from '../hub/hub-trust.ts'
import { KEYS_FILE } from '../hub/identity.ts'
import type { Outcome } from './command-line.ts'

/**
 * Forgets the hub: its approval and its key. With `withKeys` the device's own keys too, so that it registers as a new
 * one. Its configuration, its record and its waiting detections stay. Throws DataFileError while an agent runs.
 */
export async function resetDevice(
  dataDir: string,
  { withKeys, confirm }: { withKeys: boolean; confirm(question: string): Promise<boolean> },
): Promise<Outcome> {
  if (!(await exists(dataDir))) return { text: `${dataDir}: there is no such directory.`, isDone: false }
  const unlock = await lockDataDirectory(dataDir)
  try {
    const what = withKeys
      ? 'This device forgets its hub and its own keys, and registers as a new device.'
      : 'This device forgets its hub and has to be approved again. It keeps its keys.'
    if (!(await confirm(what))) return { text: 'Nothing was changed. Confirm with --yes.', isDone: false }
    // The approval is deleted first: without it, keys and trust may be missing.
    for (const file of [APPROVAL_FILE, HUB_FILE, ...(withKeys ? [KEYS_FILE] : [])])
      await rm(join(dataDir, file), { force: true })
    await syncPath(dataDir)
    return { text: `Done. ${what}`, isDone: true }
  } finally {
    unlock()
  }
}
