/** A unit that the interlock may switch, and what fires on it now. Pure. */
import { hourBudgetOf, type DeterrentSettings } from './schema.ts'
import { unitOf, type Asker, type Instant, type SavedFiring, type Unit } from './saved-state.ts'

export type LiveFiring = {
  id: string
  by: Asker
  seconds: number
  /** `saving` until the disk has it, `switching` until the device answered, `ending` until it is known to be off. */
  phase: 'saving' | 'switching' | 'on' | 'ending'
  /** The version of the saved state that has to be on disk first. */
  version: number
  startedAt: Instant
  /** No camera looked for persons. */
  isUnseen?: boolean
  /** Why it ended, for the ledger. */
  why?: string
  /** The device said so: it costs a pause, but nothing of the budget. */
  neverOn?: boolean
}

export type Channel = { unit: Unit; isOff: boolean; fault?: string | undefined; firing?: LiveFiring | undefined }

/** Whole seconds, rounded up, since the device was told. */
export function lasted({ phase, startedAt, neverOn }: LiveFiring, now: Instant): number {
  return phase === 'saving' || neverOn ? 0 : Math.ceil(Math.max(0, now.mono - startedAt.mono) / 1_000)
}

/**
 * The channel of a firing that an earlier run of the agent left behind. `own`: the current settings of its deterrent,
 * if any.
 */
export function channelOfSaved(
  { id, name, settings, by, seconds, startedAt }: SavedFiring,
  { isSameBoot, own, now }: { isSameBoot: boolean; own: DeterrentSettings | undefined; now: Instant },
): Channel {
  // Within one boot, it was on until it is known to be off. After a reboot only the wall clock tells how long, and may
  // be wrong: a power cut in the middle of a firing costs at most an hour's budget.
  const mostMs = Math.max(seconds, own ? hourBudgetOf(own) : 0) * 1_000
  const wallMs = Math.min(mostMs, Math.max(seconds * 1_000, now.wall - startedAt.wall))
  const mono = isSameBoot ? startedAt.mono : now.mono - wallMs
  const started = { wall: startedAt.wall, mono }
  const why = 'the gateway ended in the middle of it'
  return {
    unit: unitOf(name, settings),
    isOff: false,
    firing: { id, by, seconds, phase: 'ending', version: 0, startedAt: started, why },
  }
}
