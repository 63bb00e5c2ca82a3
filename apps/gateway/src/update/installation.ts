/** An agent that the launcher started can update itself: this module knows its parts. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openUpdateFile } from './update-file.ts'
import { openUpdater, type Updater, type UpdaterOptions } from './updater.ts'
import { openVersions, type Slot } from './versions.ts'

/** The directory of the launcher, and which of its two directories runs; empty for the installed version. */
export type Installation = { root: string; slot: Slot | '' }

/** The launcher starts another version when the agent ends with this code: EX_TEMPFAIL of sysexits.h. */
export const RESTART_CODE = 75

const ROOT_KEYS_FILE = 'root.pub'

/** The installation that `launch.sh` names; undefined when another program started the agent. */
export function findInstallation(environment: NodeJS.ProcessEnv): Installation | undefined {
  const { HEDGEROW_ROOT: root, HEDGEROW_SLOT: slot } = environment
  if (!root || (slot !== '' && slot !== 'a' && slot !== 'b')) return undefined
  return { root, slot }
}

/** Undefined when the agent cannot be updated; the log has the reason, and the agent runs on. */
export async function openInstallation(
  installation: Installation,
  options: Omit<UpdaterOptions, 'versions' | 'rootKeys' | 'memory' | 'folder'> & { dataDir: string },
): Promise<Updater | undefined> {
  const { root } = installation
  try {
    const rootKeys = (await readFile(join(root, ROOT_KEYS_FILE), 'utf8')).split('\n').filter((line) => line !== '')
    return await openUpdater({
      ...options,
      rootKeys,
      versions: await openVersions(installation),
      memory: await openUpdateFile(join(options.dataDir, 'update.json')),
      folder: join(root, 'updates'),
    })
  } catch (error) {
    options.log.error({ err: error }, 'this agent cannot update itself')
    return undefined
  }
}
