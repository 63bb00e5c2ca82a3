/** The rules of safety as one function: the reason why a request may not fire now. Pure. */
import { isWithin, nextChange, type Place } from '../kernel/hours.ts'
import { DAY_MS, HOUR_MS, spentLess, type Charge } from './budget.ts'
import { refusal, type Refusal, type RefusalCode } from './refusals.ts'
import type { Asker, Instant } from './saved-state.ts'
import { dayBudgetOf, hourBudgetOf, longestOf, type DeterrentSettings } from './schema.ts'
import { whyBlind, type Watch } from './watch.ts'

export type Situation = {
  /** The settings of the requested deterrent; undefined when gateway.yaml has none of that name. */
  own: DeterrentSettings | undefined
  place: Place
  isArmed: boolean
  /** The device is snoozed, or the camera that asks. */
  isSnoozed: boolean
  /** A deterrent of this name fires, perhaps with earlier settings. */
  isBusy: boolean
  /** The unit is known to be off, and the process that guards it is there. */
  isReady: boolean
  /** Until when a person who was seen where it acts keeps it off, by the monotonic clock; undefined for nobody. */
  personUntil(own: DeterrentSettings): number | undefined
  watch: Watch
  /** When its last firing ended, by the monotonic clock. */
  lastEnd: number | undefined
  /** The seconds that count towards its budgets. */
  spent(): { hour: number; day: number }
  charges: readonly Charge[]
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
  if (now.isSnoozed) return 'snoozed'
  if (now.isBusy) return 'busy'
  if (!now.isReady) return 'not_ready'
  const length = seconds ?? own.seconds
  if (!Number.isInteger(length) || length < 1 || length > longestOf(own)) return 'too_long'
  if (own.quietHours && isWithin(own.quietHours, wall, place)) return 'quiet_hours'
  if (by.kind !== 'person' && own.armed && !isWithin(own.armed, wall, place)) return 'not_armed_now'
  if (now.personUntil(own) !== undefined) return 'person_near'
  if (now.lastEnd !== undefined && mono - now.lastEnd < own.coolDownSeconds * 1_000) return 'cool_down'
  const { hour, day } = now.spent()
  if (hour + length > hourBudgetOf(own)) return 'hour_budget'
  if (day + length > dayBudgetOf(own)) return 'day_budget'
  return undefined
}

/** Somebody who presses a button in the hub. */
export const PRESSED: Asker = { kind: 'person', name: '', via: 'hub' }
/** Its state says these itself. */
const SAID: ReadonlySet<RefusalCode> = new Set(['unknown_deterrent', 'disarmed', 'snoozed', 'busy', 'not_ready'])

export type Blocked = { code: RefusalCode; until: number | null }

/** Why a press in the hub would be refused, or else a rule, and until when by the wall clock. */
export function blockedNow(situation: Situation, at: Instant): Blocked | undefined {
  const { own, place } = situation
  if (!own) return undefined
  const isRest = own.armed !== undefined && !isWithin(own.armed, at.wall, place)
  const code = reasonAgainst({ by: PRESSED }, situation, at)?.refused ?? (isRest ? 'not_armed_now' : undefined)
  return code === undefined || SAID.has(code) ? undefined : { code, until: untilOf(code, own, situation, at) }
}

function untilOf(code: RefusalCode, own: DeterrentSettings, situation: Situation, at: Instant): number | null {
  const { place, charges, lastEnd = 0 } = situation
  const wallOf = (mono: number) => Math.ceil(at.wall + mono - at.mono)
  if (code === 'quiet_hours') return nextChange(own.quietHours!, at.wall, place)
  if (code === 'not_armed_now') return nextChange(own.armed!, at.wall, place)
  if (code === 'cool_down') return wallOf(lastEnd + own.coolDownSeconds * 1_000)
  if (code === 'person_near') return wallOf(situation.personUntil(own) ?? at.mono)
  if (code === 'hour_budget') return wallOf(spentLess(charges, at.mono, HOUR_MS, hourBudgetOf(own) - own.seconds))
  if (code === 'day_budget') return wallOf(spentLess(charges, at.mono, DAY_MS, dayBudgetOf(own) - own.seconds))
  return null
}
