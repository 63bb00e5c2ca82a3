/**
 * The version that runs and its updates: it updates itself where the launcher started it, and tells people about it.
 */
import { join } from 'node:path'
import type { DeviceUpdates } from '@hedgerow/contract'
import { inWords } from '../kernel/failure.ts'
import { openComparison, type DeviceParts } from './comparison.ts'
import { openHistory } from './history.ts'
import { findBundle, openInstallation, problemsOfUnit, type Form, type Installation } from './installation.ts'
import { TRIAL_PACE } from './trial.ts'
import type { Updater, UpdaterOptions, Rollback } from './updater.ts'

export type Updates = {
  /** Undefined when the agent cannot update itself. */
  updater: Updater | undefined
  report(): DeviceUpdates
  /** What is wrong with the installation or the version, in sentences. */
  problems(): string[]
  /** Restarts as the version before. */
  goBack(): Promise<Rollback>
  stop(): Promise<void>
}

type UpdatesOptions = Pick<UpdaterOptions, 'settings' | 'place' | 'isBusy' | 'restart' | 'trialPace' | 'log'> & {
  dataDir: string
  /** The path of gateway.yaml. */
  deviceFile: string
  /** What must work again after an update. */
  parts: () => DeviceParts
}

/** Nobody reads a warning that never ends. */
const BACK_TOLD_MS = 86_400_000

const ADVICE: Record<Form | 'sources', string> = {
  package:
    'Its package updates it: copy the next one to this device, and run “apt-get install ' +
    './hedgerow-gateway_VERSION_ARCHITECTURE.deb” as root.',
  image: 'It runs in a container: start the next image with the same volume.',
  archive: 'It runs from an unpacked archive: unpack the next one, and start that with the same data directory.',
  sources: 'It runs from the sources: stop it, run “git pull” and “npm ci” there, and start it again.',
}

const BACK: typeof ADVICE = {
  package:
    'Its package changes its version: run “apt-get install --allow-downgrades ' +
    './hedgerow-gateway_VERSION_ARCHITECTURE.deb” as root.',
  image: 'It runs in a container: start the image before with the same volume.',
  archive: 'It runs from an unpacked archive: start the one before with the same data directory.',
  sources: 'It runs from the sources: check out the commit before, run “npm ci” there, and start it again.',
}

export async function openUpdates(
  installation: Installation | undefined,
  { dataDir, deviceFile, parts, ...options }: UpdatesOptions,
): Promise<Updates> {
  const { log, settings } = options
  const startedAt = new Date().toISOString()
  const { recentMs } = options.trialPace ?? TRIAL_PACE
  const history = await openHistory(join(dataDir, 'update-history.json'), { log, clock: Date.now })
  let updater: Updater | undefined
  let problem = ''
  if (installation)
    try {
      updater = await openInstallation(installation, {
        ...options,
        dataDir,
        comparison: await openComparison(join(dataDir, 'before-update.json'), { deviceFile, parts, recentMs, log }),
        onFailure: history.noteFailure,
        hasCrashed: history.hasCrashed,
      })
    } catch (error) {
      log.error({ err: error }, 'this agent cannot update itself')
      problem = `It cannot update itself: ${inWords(error)}. Run the hub’s line on this device again.`
    }
  const bundle = await findBundle()
  const running = updater?.running ?? bundle
  const since = running ? history.since(running) : null
  const by = installation ? 'itself' : (bundle?.form ?? 'sources')
  const unitProblems = installation ? await problemsOfUnit(installation) : []

  function wentBack(): string[] {
    const failure = running ? history.failure(running) : null
    if (!failure?.wasConfirmed || Math.abs(Date.now() - Date.parse(failure.at)) > BACK_TOLD_MS) return []
    return [`It went back from version ${failure.version}. ${failure.message}`]
  }

  return {
    updater,
    goBack: async () => updater?.goBack() ?? { problem: by === 'itself' ? problem : BACK[by] },
    problems: () => [...unitProblems, ...wentBack()],
    report() {
      const { enabled, hours } = settings()
      const updaterState = updater?.state() ?? { state: 'current', message: '', offered: null, checkedAt: null }
      const lastFailure = running ? history.failure(running) : null
      const failure = lastFailure && {
        number: lastFailure.number,
        version: lastFailure.version,
        at: lastFailure.at,
        message: lastFailure.message,
      }
      return {
        by,
        advice: by === 'itself' ? problem : ADVICE[by],
        release: running?.number ?? null,
        since,
        startedAt,
        ...updaterState,
        message:
          updaterState.state === 'failed' && failure?.number === updaterState.offered?.number
            ? failure!.message
            : updaterState.message,
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
