/** The rings of automatic updates: one gateway, then ten, then all. Pure. */
import type { Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'

export type RolloutRow = Selectable<Tables['rollouts']>

/** How many gateways run the release at the end of each ring. */
const RINGS = [1, 10]
/** How long the last gateway of a ring must have run it before the next ring begins. */
export const SETTLE_MS = 1_800_000
/** Gateways of the last ring at once: each fetches the archive through its tunnel. */
const AT_ONCE = 50

type Request = Pick<Selectable<Tables['gateway_updates']>, 'state' | 'message' | 'ended_at'>

/**
 * Decides what to do next: how many of `candidates` to ask. A failure stops everything. `requests` are the automatic
 * ones for this release; `now` is in milliseconds since 1970.
 */
export function planRollout(
  requests: readonly Request[],
  { candidates, now }: { candidates: number; now: number },
): Pick<RolloutRow, 'state' | 'message'> & { ask: number } {
  const failed = requests.filter(({ state }) => state === 'failed')
  const done = requests.filter(({ state }) => state === 'done')
  const asked = requests.length - failed.length - done.length
  if (failed.length > 0) return { state: 'stopped', message: failed[0]!.message, ask: 0 }
  const ring = RINGS.find((size) => done.length < size)
  const size = ring === undefined ? 'every gateway' : ring === 1 ? 'one gateway' : `the first ${ring} gateways`
  const running = { state: 'running' as const, message: `Goes to ${size}.` }
  const isBetween = asked === 0 && RINGS.includes(done.length) && candidates > 0
  const settledAt = Math.max(...done.map(({ ended_at: at }) => at ?? 0)) + SETTLE_MS
  // After the clock was set back, a ring must not wait for longer than the pause itself.
  if (isBetween && now < settledAt && settledAt - now <= SETTLE_MS)
    return { state: 'running', message: 'Waits for half an hour before the next gateways.', ask: 0 }
  const places = ring === undefined ? AT_ONCE - asked : ring - done.length - asked
  return { ...running, ask: Math.max(0, Math.min(places, candidates)) }
}

/** Whether `now`, on the hub's own clock, is within `HH:MM-HH:MM`; an end before the beginning is past midnight. */
export function isWithinHours(hours: string, now: number): boolean {
  if (hours === '') return true
  const time = new Date(now)
  const clock = [time.getHours(), time.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
  const [from = '', to = ''] = hours.split('-')
  return from <= to ? clock >= from && clock < to : clock >= from || clock < to
}
