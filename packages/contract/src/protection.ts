/**
 * Whether a gateway or a camera protects now: one state from one function, for every place that shows it. The hub asks
 * it; browsers load this file without the schemas.
 */
import type { Heartbeat } from './heartbeats.ts'

/** The worst first. A group has the worst state of its members. */
export const PROTECTION_STATES = ['offline', 'disarmed', 'blind', 'blocked', 'unproven', 'firing', 'protected'] as const
export type ProtectionState = (typeof PROTECTION_STATES)[number]
export type Protection = { state: ProtectionState; reason: string }

export type KnownToProtect = {
  isOffline: boolean
  /** The last one; undefined for plain WireGuard, which sends none. */
  heartbeat: Pick<Heartbeat, 'armed' | 'cameras' | 'cameraProblems' | 'deterrents'> | undefined
}

/** For one camera or deterrent, `heartbeat` has it alone. */
export function protectionOf({ isOffline, heartbeat }: KnownToProtect): Protection {
  if (isOffline) return { state: 'offline', reason: 'nothing is heard from it' }
  if (!heartbeat) return { state: 'unproven', reason: 'the hub sees only its VPN' }
  const { armed, deterrents } = heartbeat
  const active = deterrents.filter(({ state }) => state === 'active').map(({ name }) => name)
  if (active.length > 0) return { state: 'firing', reason: active.join(', ') }
  if (armed === false) return { state: 'disarmed', reason: 'nothing fires until it is armed' }
  const blind = blindnessOf(heartbeat)
  if (blind.length > 0) return { state: 'blind', reason: firstOf(blind) }
  const blocked = deterrents.flatMap(({ name, state, secondsLeftThisHour }) => {
    if (state === 'fault') return [`${name} has a fault`]
    return secondsLeftThisHour === 0 ? [`${name} has no seconds left in this hour`] : []
  })
  if (blocked.length > 0) return { state: 'blocked', reason: firstOf(blocked) }
  if (deterrents.length === 0) return { state: 'protected', reason: 'it only watches: no deterrent' }
  // An older agent never tells it, and another one not in its first heartbeat.
  if (armed === undefined) return { state: 'unproven', reason: 'it has not told whether it is armed' }
  return { state: 'protected', reason: '' }
}

export const isProtected = (state: ProtectionState): boolean => state === 'protected' || state === 'firing'

/** How many there are in each state, without states of none, the worst first. */
export function countProtection(states: readonly ProtectionState[]): (readonly [ProtectionState, number])[] {
  return PROTECTION_STATES.map((state) => [state, states.filter((one) => one === state).length] as const).filter(
    ([, count]) => count > 0,
  )
}

/** Agents report these in words only; they mean fewer pictures, not none. */
const IS_ONLY_SLOW = /\bpictures a second[;.]/

function blindnessOf({ cameras, cameraProblems = [] }: NonNullable<KnownToProtect['heartbeat']>): string[] {
  const watching = cameras.filter(({ state }) => state !== 'disabled')
  if (watching.length === 0) return ['no camera watches']
  return watching.flatMap(({ name, state }) => {
    if (state !== 'online') return [`camera ${name} is ${state}`]
    const problem = cameraProblems.find(({ camera }) => camera === name)?.problem
    return problem === undefined || IS_ONLY_SLOW.test(problem) ? [] : [problem]
  })
}

const firstOf = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first}, and ${more.length} more`
