/**
 * The version that runs and its updates: it updates itself where the launcher started it, and tells people about it.
 */
import { join } from 'node:path'
import type { DeviceUpdates } from '@hedgerow/contract'
import { inWords } from '../kernel/failure.ts'
import { openHistory } from './history.ts'
import { findBundle, openInstallation, problemsOfUnit, type Form, type Installation } from './installation.ts'
import type { Updater, UpdaterOptions } from './updater.ts'

export type Updates = {
  /** Undefined when the agent cannot update itself. */
  updater: Updater | undefined
  report(): DeviceUpdates
  /** What is wrong with the installation, in sentences. */
  problems: readonly string[]
  stop(): Promise<void>
}

type UpdatesOptions = Pick<UpdaterOptions, 'settings' | 'place' | 'isBusy' | 'restart' | 'log'> & { dataDir: string }

const ADVICE: Record<Form | 'sources', string> = {
  package:
    'Its package updates it: copy the next one to this device, and run “apt-get install ./hedgerow-gateway_VERSION_ARCHITECTURE.deb” as root.',
  image: 'It runs in a container: start the next image with the same volume.',
  archive: 'It runs from an unpacked archive: unpack the next one, and start that with the same data directory.',
  sources: 'It runs from the sources: stop it, run “git pull” and “npm ci” there, and start it again.',
}

export async function openUpdates(
  installation: Installation | undefined,
  { dataDir, ...options }: UpdatesOptions,
): Promise<Updates> {
  const { log, settings } = options
  const startedAt = new Date().toISOString()
  const history = await openHistory(join(dataDir, 'update-history.json'), { log, clock: Date.now })
  let updater: Updater | undefined
  let problem = ''
  if (installation)
    try {
      updater = await openInstallation(installation, { ...options, dataDir, onFailure: history.noteFailure })
    } catch (error) {
      log.error({ err: error }, 'this agent cannot update itself')
      problem = `It cannot update itself: ${inWords(error)}. Run the hub’s line on this device again.`
    }
  const bundle = await findBundle()
  const running = updater?.running ?? bundle
  const since = running ? history.since(running) : null
  const by = installation ? 'itself' : (bundle?.form ?? 'sources')

  return {
    updater,
    problems: installation ? await problemsOfUnit(installation) : [],
    report() {
      const { enabled, hours } = settings()
      const told = updater?.state() ?? { state: 'current', message: '', offered: null, checkedAt: null }
      const failure = running ? history.failure(running) : null
      return {
        by,
        advice: by === 'itself' ? problem : ADVICE[by],
        release: running?.number ?? null,
        since,
        startedAt,
        ...told,
        message: told.state === 'failed' && failure?.number === told.offered?.number ? failure!.message : told.message,
        failure,
        isEnabled: enabled,
        hours: [hours ?? []].flat(),
      }
    },
    async stop() {
      await updater?.stop()
      await history.close()
    },
  }
}
