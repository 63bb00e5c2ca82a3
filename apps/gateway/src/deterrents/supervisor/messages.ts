/** The messages between the agent and its supervisor, over the channel that Node opens. */
import type { GuardedUnit } from '../saved-state.ts'
import type { SwitchEvent } from './switch.ts'

export type ToSupervisor =
  /** Sent every `ALIVE_MS`; asks the supervisor for an answer. */
  | { is: 'alive' }
  | { is: 'guard'; units: readonly GuardedUnit[] }
  /** `at` is by the monotonic clock, which all processes of a boot share. */
  | { is: 'on'; unit: string; firing: string; seconds: number; at: number }
  | { is: 'off'; unit: string }
  /** The agent stops: switch off what is on, then end. */
  | { is: 'end' }

export type FromSupervisor =
  | { is: 'alive' }
  /** All units of the last `guard` are being switched off, or were found off. */
  | { is: 'ready' }
  | { is: 'event'; unit: string; event: SwitchEvent }

export const ALIVE_MS = 1_000
/** After this silence the other side counts as gone. */
export const SILENT_MS = 5_000
/** A firing that reaches the supervisor later than this is not begun. */
export const ON_AGE_MAX_MS = 2_000
