/**
 * A version on trial proves itself: it runs for ten minutes without a restart, the hub answers it through the tunnel,
 * and what worked before the update works again. Only the time since its start counts, which no clock can change. The
 * launcher gives up a version that crashes or hangs meanwhile; this one gives up itself when something does not return.
 */
import { performance } from 'node:perf_hooks'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { inWords } from '../kernel/failure.ts'
import type { Comparison } from './comparison.ts'
import type { Versions } from './versions.ts'

export type TrialPace = {
  /** How long it must run. */
  provenAfterMs: number
  /** It waits until then for what does not answer. The launcher ends a version that hangs later than this. */
  givenUpAfterMs: number
  /** The hub's last answer is no older. */
  heardWithinMs: number
  /** What worked before the update has worked this lately. */
  recentMs: number
  lookEveryMs: number
}

const MINUTE_MS = 60_000
const provenAfterMs = 1_000 * Number(process.env.HEDGEROW_PROVING_SECONDS ?? 600)
export const TRIAL_PACE: TrialPace = {
  provenAfterMs,
  givenUpAfterMs: 1.5 * provenAfterMs,
  heardWithinMs: 90_000,
  recentMs: provenAfterMs / 5,
  lookEveryMs: Math.min(5_000, provenAfterMs / 10),
}

export type Trial = {
  /** The hub answered through the tunnel. */
  heard(): void
  /** How far it is, as a sentence. */
  progress(): string
  stop(): Promise<void>
}

/** `onEnd` is called once: the version is confirmed, or the process must end because the version was given up. */
export function startTrial(options: {
  versions: Pick<Versions, 'isOnTrial' | 'isProving' | 'accept' | 'confirm' | 'giveUp'>
  comparison: Pick<Comparison, 'missing'>
  /** Whether a deterrent is on, so that the agent must not restart now. */
  isBusy: () => boolean
  /** Its progress is another one. */
  onProgress: () => void
  onEnd: (outcome: 'confirmed' | 'given-up') => void
  log: Logger
  pace?: TrialPace | undefined
}): Trial {
  const { versions, comparison, log, pace = TRIAL_PACE } = options
  const startedAtMs = performance.now()
  let heardAtMs = -Infinity
  let missing: string[] = []
  let isOver = false
  let looking: Promise<void> | undefined

  const age = () => performance.now() - startedAtMs

  async function lookNow(): Promise<void> {
    if (performance.now() - heardAtMs <= pace.heardWithinMs && versions.isOnTrial() && !versions.isProving()) {
      await versions.accept()
      log.info('the hub answered this version: it goes on proving itself')
      options.onProgress()
    }
    const found = await comparison.missing()
    if (performance.now() - heardAtMs > pace.heardWithinMs) found.unshift('the hub does not answer')
    const isNews = age() >= pace.provenAfterMs && !isDeepStrictEqual(found, missing)
    missing = found
    if (isNews) options.onProgress()
    if (isOver || !versions.isProving() || age() < pace.provenAfterMs) return
    if (missing.length === 0) {
      await versions.confirm()
      end('confirmed')
    } else if (age() >= pace.givenUpAfterMs && !options.isBusy()) {
      await versions.giveUp(`did not work as the version before: ${missing.slice(0, 3).join(', ')}`)
      end('given-up')
    }
  }

  function end(outcome: 'confirmed' | 'given-up'): void {
    isOver = true
    clearInterval(timer)
    options.onEnd(outcome)
  }

  function look(): void {
    if (isOver) return
    // The next look tries again, until the launcher gives this version up.
    looking ??= lookNow()
      .catch((error: unknown) => log.error({ err: error }, `the trial cannot go on: ${inWords(error)}`))
      .finally(() => (looking = undefined))
  }

  const timer = setInterval(look, pace.lookEveryMs)
  timer.unref()
  return {
    heard() {
      heardAtMs = performance.now()
      if (!versions.isProving()) look()
    },
    progress() {
      const minutes = Math.floor(age() / MINUTE_MS)
      const needed = Math.round(pace.provenAfterMs / MINUTE_MS)
      const ran = `It has run for ${minutes} of ${needed} min without a restart.`
      if (age() < pace.provenAfterMs) return ran
      return missing.length === 0 ? 'It is confirmed in a moment.' : `It waits: ${missing.slice(0, 3).join(', ')}.`
    },
    async stop() {
      isOver = true
      clearInterval(timer)
      await looking
    },
  }
}
