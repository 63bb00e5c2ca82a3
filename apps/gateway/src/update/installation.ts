/** An agent that the launcher started can update itself: this module knows its parts. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile } from '../kernel/durable-file.ts'
import { openUpdateFile } from './update-file.ts'
import { openUpdater, type Updater, type UpdaterOptions } from './updater.ts'
import { openVersions, versionFile, type Slot, type VersionOnDisk } from './versions.ts'

/**
 * The directory of the launcher, and which of its two directories runs; empty for the installed version. `unit` is the
 * file of its service; that of `install.sh` when left out.
 */
export type Installation = { root: string; slot: Slot | ''; unit?: string }

/** The launcher starts another version when the agent ends with this code: EX_TEMPFAIL of sysexits.h. */
export const RESTART_CODE = 75

const ROOT_KEYS_FILE = 'root.pub'
const UNIT = '/etc/systemd/system/hedgerow-gateway.service'

/** The installation that `launch.sh` names; undefined when another program started the agent. */
export function findInstallation(environment: NodeJS.ProcessEnv): Installation | undefined {
  const { HEDGEROW_ROOT: root, HEDGEROW_SLOT: slot } = environment
  if (!root || (slot !== '' && slot !== 'a' && slot !== 'b')) return undefined
  return { root, slot }
}

/** Rejects when the agent cannot be updated. */
export async function openInstallation(
  installation: Installation,
  { dataDir, ...options }: Omit<UpdaterOptions, 'versions' | 'rootKeys' | 'memory' | 'folder'> & { dataDir: string },
): Promise<Updater> {
  const { root } = installation
  const rootKeys = (await readFile(join(root, ROOT_KEYS_FILE), 'utf8')).split('\n').filter((line) => line !== '')
  return openUpdater({
    ...options,
    rootKeys,
    versions: await openVersions(installation),
    memory: await openUpdateFile(join(dataDir, 'update.json')),
    folder: join(root, 'updates'),
  })
}

/** What people must know of the service; an update cannot replace its unit, because that is root's (decision 045). */
export async function problemsOfUnit({ unit = UNIT }: Installation): Promise<string[]> {
  const text = await readFile(unit, 'utf8').catch(() => '')
  const problem = (what: string) =>
    `The service of this device is of an older version: ${what}. Run the hub’s line on this device again.`
  return [
    ...(/^KillMode=(?:mixed|process)$/m.test(text)
      ? [problem('a stop may leave a deterrent on until the next start')]
      : []),
    ...(/^ReadWritePaths=.*\/etc\/hedgerow(?:\s|$)/m.test(text)
      ? [problem('whoever breaks into the gateway can become root')]
      : []),
  ]
}

/** How a bundle came to this device. */
export type Form = 'archive' | 'package' | 'image'

/** The folder of the bundle that runs. */
export const BUNDLE = join(import.meta.dirname, '../../../../..')

/** The version of the bundle that runs; undefined for the sources, and without a readable description. */
export async function findBundle(): Promise<(VersionOnDisk & { form: Form }) | undefined> {
  if (import.meta.filename.endsWith('.ts')) return undefined
  return readBundle(BUNDLE)
}

/** `npm run release` writes `form` for packages and images. */
export async function readBundle(folder: string): Promise<(VersionOnDisk & { form: Form }) | undefined> {
  const described = versionFile.extend({ form: z.enum(['archive', 'package', 'image']).catch('archive') })
  return readJsonFile(join(folder, 'version.json'), described).catch(() => undefined)
}
