/**
 * Whether a gateway, a camera or a deterrent protects now: one state from one function, and one sentence, for every
 * place that shows it. Browsers load this file without the schemas.
 */
import type { BlindState, CameraState, Heartbeat } from './heartbeats.ts'
import type { Snooze } from './snoozes.ts'

/** The worst first. A group has the worst state of its members. */
export const PROTECTION_STATES = [
  'offline',
  'disarmed',
  'snoozed',
  'maintenance',
  'blind',
  'blocked',
  'unproven',
  'firing',
  'protected',
] as const
export type ProtectionState = (typeof PROTECTION_STATES)[number]
/**
 * `until`: when it changes by itself, as ISO 8601; null when that is unknown. `isBrief`: blocked by nothing but a short
 * cool-down after a firing, which is how a deterrent protects.
 */
export type Protection = { state: ProtectionState; reason: string; until: string | null; isBrief: boolean }
/** The longest rest of a cool-down that alarms nobody. */
const BRIEF_MS = 120_000

export type KnownToProtect = {
  isOffline: boolean
  /** The last one; undefined for plain WireGuard, which sends none. */
  heartbeat:
    | (Pick<Heartbeat, 'armed' | 'cameras' | 'cameraProblems' | 'deterrents' | 'disarmed' | 'snoozes'> & {
        clock?: number
      })
    | undefined
  /** By how many milliseconds the reader's clock is ahead of the device's. */
  aheadMs?: number
}

/** For one camera or deterrent, `heartbeat` has it alone. */
export function protectionOf({ isOffline, heartbeat, aheadMs = 0 }: KnownToProtect): Protection {
  const maintenance = heartbeat?.snoozes?.find(({ kind }) => kind === 'maintenance')
  if (maintenance) return snoozed(maintenance, aheadMs)
  if (isOffline) return is('offline', 'nothing is heard from it')
  if (!heartbeat) return is('unproven', 'the hub sees only its VPN')
  const { armed, deterrents, disarmed, clock, snoozes = [] } = heartbeat
  const at = (until: number | null | undefined) =>
    typeof until === 'number' ? new Date(until + aheadMs).toISOString() : null
  const active = deterrents.filter(({ state }) => state === 'active')
  const [first] = active
  if (first) return is('firing', active.map(({ name }) => name).join(', '), at(first.until))
  if (disarmed) return is('disarmed', `by ${disarmed.by}`, at(disarmed.until))
  const whole = snoozes.find(({ camera }) => camera === null)
  if (whole) return snoozed(whole, aheadMs)
  if (armed === false) return is('disarmed', '')
  const blind = blindnessOf(heartbeat)
  if (blind.length > 0) return is('blind', firstOf(blind))
  const [ofCamera] = snoozes
  if (ofCamera) return snoozed(ofCamera, aheadMs)
  const isOnly = deterrents.length === 1
  const blocked = deterrents.flatMap((deterrent) => blockOf(deterrent, isOnly) ?? [])
  const [block] = blocked
  if (block) {
    const isBrief = blocked.every(({ code, until }) => code === 'cool_down' && isSoon(until, clock))
    return { ...is('blocked', firstOf(blocked.map(({ words }) => words)), at(block.until)), isBrief }
  }
  if (deterrents.length === 0) return is('protected', ONLY_WATCHES)
  // An older agent never tells it, and another one not in its first heartbeat.
  if (armed === undefined) return is('unproven', 'it has not told whether it is armed')
  return is('protected', '')
}

/** The reason of a gateway that has nothing to stop. */
export const ONLY_WATCHES = 'it only watches: no deterrent'

const is = (state: ProtectionState, reason: string, until: string | null = null): Protection => ({
  state,
  reason,
  until,
  isBrief: false,
})

function snoozed({ kind, camera, by, until }: Snooze, aheadMs: number): Protection {
  const about = camera === null ? '' : `camera ${camera} `
  const state = kind === 'snooze' ? 'snoozed' : kind
  return is(state, `${about}by ${by}`, new Date(until + aheadMs).toISOString())
}

const isSoon = (until: number | null, clock: number | undefined) =>
  until !== null && clock !== undefined && until - clock <= BRIEF_MS

/** What counts as protected everywhere. While a person is in view it does not: nothing would fire. */
export const isProtected = ({ state, isBrief }: Pick<Protection, 'state' | 'isBrief'>): boolean =>
  state === 'protected' || state === 'firing' || isBrief

/** How many there are in each state, without states of none, the worst first. */
export function countProtection(states: readonly ProtectionState[]): (readonly [ProtectionState, number])[] {
  return PROTECTION_STATES.map((state) => [state, states.filter((one) => one === state).length] as const).filter(
    ([, count]) => count > 0,
  )
}

const TONES = {
  offline: 'danger',
  disarmed: 'warning',
  snoozed: 'warning',
  maintenance: 'neutral',
  blind: 'warning',
  blocked: 'warning',
  unproven: 'neutral',
  firing: 'signal',
  protected: 'good',
} as const satisfies Record<ProtectionState, string>

/** A newer hub may have more states. */
export const protectionTone = (state: ProtectionState) => (Object.hasOwn(TONES, state) ? TONES[state] : 'neutral')

export const protectionWord = (state: ProtectionState): string => `${state.charAt(0).toUpperCase()}${state.slice(1)}`

/** From then on a clock says more than a number of seconds. */
const COUNTED_SECONDS = 120

/** `Blocked: Water: cooling down, 12 s left`, or `Disarmed by rosa until 07:00`. */
export function protectionLine(
  { state, reason, until }: Omit<Protection, 'isBrief'>,
  now: number,
  timeZone?: string,
): string {
  const left = until === null ? 0 : Math.ceil((Date.parse(until) - now) / 1_000)
  const end = left <= 0 ? '' : left <= COUNTED_SECONDS ? `, ${left} s left` : ` until ${clock(until!, now, timeZone)}`
  const word = protectionWord(state)
  if (state === 'snoozed' || state === 'maintenance')
    return `${word}${reason.startsWith('camera') ? ':' : ''} ${reason}${end}`
  if (state === 'disarmed')
    return `${[word, reason].join(' ').trim()}${end || (until === null ? ' until somebody arms it' : '')}`
  return reason === '' ? `${word}${end}` : `${word}: ${reason}${end}`
}

/** The time of day, with the day when it is another one. */
function clock(at: string, now: number, timeZone: string | undefined): string {
  const zone = timeZone === undefined ? {} : { timeZone }
  const day = (moment: Date) => moment.toLocaleDateString('en-GB', { weekday: 'short', ...zone })
  const date = new Date(at)
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...zone })
  return day(date) === day(new Date(now)) ? time : `${day(date)} ${time}`
}

/** Agents report these in words only; they mean fewer pictures, not none. */
const IS_ONLY_SLOW = /\bpictures a second[;.]/

/** As part of a sentence about the camera. */
export const BLIND_WORDS: Readonly<Record<BlindState, string>> = {
  offline: 'is offline',
  frozen: 'is frozen',
  covered: 'is covered',
  turned: 'was turned',
  unfocused: 'is out of focus',
}

/** The state in one or two words, for lists. */
export const cameraWord = (state: CameraState): string => (state === 'unfocused' ? 'out of focus' : state)

function blindnessOf({ cameras, cameraProblems = [] }: NonNullable<KnownToProtect['heartbeat']>): string[] {
  const watching = cameras.flatMap(({ name, state }) => (state === 'disabled' ? [] : [{ name, state }]))
  if (watching.length === 0) return ['no camera watches']
  return watching.flatMap(({ name, state }) => {
    if (state !== 'online') return [`camera ${name} ${BLIND_WORDS[state]}`]
    const problem = cameraProblems.find(({ camera }) => camera === name)?.problem
    return problem === undefined || IS_ONLY_SLOW.test(problem) ? [] : [problem]
  })
}

/** By the codes of agents; a newer one may have more. */
const BLOCKED = new Map([
  ['disarmed', 'disarmed'],
  ['snoozed', 'snoozed'],
  ['busy', 'on already'],
  ['not_ready', 'not known to be off yet'],
  ['cool_down', 'cooling down'],
  ['quiet_hours', 'quiet hours'],
  ['person_near', 'a person was seen'],
  ['hour_budget', 'its seconds for this hour are used up'],
  ['day_budget', 'its seconds for this day are used up'],
  ['not_armed_now', 'its rules rest at this hour'],
  ['not_watched', 'no camera looks for persons'],
  ['watcher_unknown', 'the camera that watches it is missing'],
])

const blockedWords = (code: string): string => BLOCKED.get(code) ?? 'it would refuse'

type Deterrent = Pick<Heartbeat['deterrents'][number], 'name' | 'state' | 'secondsLeftThisHour' | 'blocked'>

/** The only one needs no name. */
function blockOf({ name, state, secondsLeftThisHour, blocked }: Deterrent, isOnly: boolean) {
  const words = (code: string) => `${isOnly ? '' : `${name}: `}${blockedWords(code)}`
  if (state === 'fault') return { code: 'fault', words: `${name} has a fault`, until: null }
  if (blocked) return { ...blocked, words: words(blocked.code) }
  return secondsLeftThisHour === 0 ? { code: 'hour_budget', words: words('hour_budget'), until: null } : undefined
}

const firstOf = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first}, and ${more.length} more`

type Deed = {
  deterrent: string
  seconds: number
  outcome: 'fired' | 'refused' | 'failed'
  code: string | null
  reason: string
  gone: boolean | null
}

/** A `deed`: `Water 8 s · left within 1 min`, or `Water blocked: disarmed`. */
export function deedLine({ deterrent, seconds, outcome, code, reason, gone }: Deed): string {
  if (outcome === 'fired') {
    const after = gone === null ? '' : gone ? ' · left within 1 min' : ' · still there after 1 min'
    return `${deterrent} ${seconds} s${after}`
  }
  const sentence = code === null ? undefined : BLOCKED.get(code)
  return `${deterrent} ${outcome === 'refused' ? 'blocked' : 'failed'}: ${sentence ?? reason.replace(/\.$/, '')}`
}

/** What was done about an incident, each once; one line also where no deed is known. */
export function deedLines({ deeds, isFired }: { deeds: readonly Deed[]; isFired: boolean }): string[] {
  if (deeds.length === 0) return [isFired ? 'A deterrent fired' : 'No deterrent fired']
  return [...new Set(deeds.map(deedLine))]
}
