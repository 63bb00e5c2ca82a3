/** The rules of safety as one function: the reason why a request may not fire now. Pure. */
import { isWithin, type Place } from '../kernel/hours.ts'
import { refusal, type Refusal, type RefusalCode } from './refusals.ts'
import type { Asker, Instant } from './saved-state.ts'
import { dayBudgetOf, hourBudgetOf, longestOf, type DeterrentSettings } from './schema.ts'
import { whyBlind, type Watch } from './watch.ts'

export type Situation = {
  /** The settings of the requested deterrent; undefined when gateway.yaml has none of that name. */
  own: DeterrentSettings | undefined
  place: Place
  isArmed: boolean
  /** A deterrent of this name fires, perhaps with earlier settings. */
  isBusy: boolean
  /** The unit is known to be off, and the process that guards it is there. */
  isReady: boolean
  /** A person was seen where it acts, a moment ago. */
  isPersonNear(own: DeterrentSettings): boolean
  watch: Watch
  /** When its last firing ended, by the monotonic clock. */
  lastEnd: number | undefined
  /** The seconds that count towards its budgets. */
  spent(): { hour: number; day: number }
}

export function reasonAgainst(
  wanted: { seconds?: number | undefined; by: Asker },
  situation: Situation,
  at: Instant,
): Refusal | undefined {
  const code = limitAgainst(wanted, situation, at)
  if (code !== undefined) return refusal(code)
  return whyBlind(wanted.by, situation.own!, situation.watch)
}

function limitAgainst(
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
  if (now.isPersonNear(own)) return 'person_near'
  if (now.lastEnd !== undefined && mono - now.lastEnd < own.coolDownSeconds * 1_000) return 'cool_down'
  const { hour, day } = now.spent()
  if (hour + length > hourBudgetOf(own)) return 'hour_budget'
  if (day + length > dayBudgetOf(own)) return 'day_budget'
  return undefined
}
