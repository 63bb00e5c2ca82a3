/**
 * Checks HUB_UPDATES_URL, a folder with releases, for a newer version of this hub. It installs nothing: people do that
 * by one command, which docs/operations/upgrade.md explains.
 */
import { join } from 'node:path'
import type { HubVersion } from '@hedgerow/contract'
import type { Progress } from '@hedgerow/http'
import type { Logger } from 'pino'
import { createTasks } from '../kernel/tasks.ts'
import { findInstallation, type Installation } from './installation.ts'
import { fetchHub, findNewer } from './newer-release.ts'
import { openSeen } from './seen.ts'

const LOOK_INTERVAL_MS = 6 * 3_600_000
/** The first check waits until the start is over. */
const FIRST_LOOK_MS = 30_000

const seenIn = (dataDir: string) => openSeen(join(dataDir, 'updates-seen.json'))

type Source = { url: string; rootKey: string | undefined }

/** The version of this hub's release, or of the sources. */
export const installedVersion = (): string => findInstallation().version

export type HubUpdate = {
  status(): HubVersion
  /** Checks now. */
  look(): Promise<void>
  start(): void
  stop(): Promise<void>
}

export function createHubUpdate(options: {
  /** Undefined when checks are off. */
  source: Source | undefined
  dataDir: string
  installation?: Installation
  clock: () => number
  log: Logger
}): HubUpdate {
  const { source, dataDir, installation = findInstallation(), clock, log } = options
  let latest: Pick<HubVersion, 'newer' | 'checkedAt' | 'problem'> = { newer: null, checkedAt: null, problem: null }

  async function look(): Promise<void> {
    if (!source) return
    const checkedAt = new Date(clock()).toISOString()
    try {
      const release = (await findNewer({ ...source, installation, seen: seenIn(dataDir), clock }))?.release
      if (release && release.version !== latest.newer?.version)
        log.warn({ version: release.version, runs: installation.version }, 'there is a newer version of the hub')
      latest = {
        newer: release ? { version: release.version, createdAt: release.createdAt } : null,
        checkedAt,
        problem: null,
      }
    } catch (error) {
      log.warn({ err: error }, 'could not look for a newer version of the hub')
      latest = { ...latest, checkedAt, problem: (error as Error).message }
    }
  }

  const tasks = createTasks({
    log,
    name: 'hub-update',
    on: 'each hub',
    failure: 'could not look for a newer version of the hub',
  })
  return {
    status: () => ({ version: installation.version, isChecked: source !== undefined, ...latest }),
    look: () => tasks.run(look),
    start() {
      if (!source) return
      tasks.soon(FIRST_LOOK_MS, look)
      tasks.every(LOOK_INTERVAL_MS, look)
    },
    stop: () => tasks.stop(),
  }
}

/** For the commands: returns this version and the newer one, whose `fetch` is `fetchHub`. Rejects like `findNewer`. */
export async function checkForUpdate(source: Source, dataDir: string) {
  const installation = findInstallation()
  const newer = await findNewer({ ...source, installation, seen: seenIn(dataDir), clock: Date.now })
  const fetch = (form: 'archive' | 'deb', into: string, progress: Progress) =>
    newer && fetchHub(newer, form, into, progress)
  return { version: installation.version, newer: newer && { version: newer.release.version, fetch } }
}
