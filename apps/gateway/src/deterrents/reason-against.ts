/** The rules of safety as one function: the reason why a request may not fire now. Pure. */
import { isWithin, type Place } from '../kernel/hours.ts'
import type { RefusalCode } from './refusals.ts'
import type { Asker, Instant } from './saved-state.ts'
import { dayBudgetOf, hourBudgetOf, longestOf, type DeterrentSettings } from './schema.ts'

export type Situation = {
  /** The settings of the requested deterrent; undefined when gateway.yaml has none of that name. */
  own: DeterrentSettings | undefined
  place: Place
  isArmed: boolean
  /** A deterrent of this name fires, perhaps with earlier settings. */
  isBusy: boolean
  /** The unit is known to be off, and the process that guards it is there. */
  isReady: boolean
  isPersonAt(cameras: readonly string[]): boolean
  /** When its last firing ended, by the monotonic clock. */
  lastEnd: number | undefined
  /** The seconds that count towards its budgets. */
  spent(): { hour: number; day: number }
}

export function reasonAgainst(
  { seconds, by }: { seconds?: number | undefined; by: Asker },
  { own, place, ...now }: Situation,
  { wall, mono }: Instant,
): RefusalCode | undefined {
  if (!own) return 'unknown_deterrent'
  if (!now.isArmed) return 'disarmed'
  if (now.isBusy) return 'busy'
  if (!now.isReady) return 'not_ready'
  const length = seconds ?? own.seconds
  if (!Number.isInteger(length) || length < 1 || length > longestOf(own)) return 'too_long'
  if (own.quietHours && isWithin(own.quietHours, wall, place)) return 'quiet_hours'
  if (by.kind !== 'person' && own.armed && !isWithin(own.armed, wall, place)) return 'not_armed_now'
  if (now.isPersonAt(camerasThatBlock(by, own))) return 'person_near'
  if (now.lastEnd !== undefined && mono - now.lastEnd < own.coolDownSeconds * 1_000) return 'cool_down'
  const { hour, day } = now.spent()
  if (hour + length > hourBudgetOf(own)) return 'hour_budget'
  if (day + length > dayBudgetOf(own)) return 'day_budget'
  return undefined
}

/** Rule 4. People at the device can see whether somebody is there. */
export function camerasThatBlock(by: Asker, own: DeterrentSettings): readonly string[] {
  if (by.kind === 'rule') return by.aboutPersons ? [] : [...by.cameras, ...own.watchedBy]
  return by.kind === 'person' && by.via === 'device' ? [] : own.watchedBy
}
