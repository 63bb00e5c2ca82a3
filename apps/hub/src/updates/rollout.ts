/** The rings of automatic updates: one gateway, then ten, then all. Pure. */
import { isInHours, parseClockHours } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { duration } from '../kernel/duration.ts'
import { dayAndMinute } from '../kernel/wall-clock.ts'
import type { RequestRow } from './requests.ts'

export type RolloutRow = Selectable<Tables['rollouts']>

/** How many gateways run the release at the end of each ring. */
const RINGS = [1, 10]
/** How long the last gateway of a ring must have run it before the next ring begins. */
export const SETTLE_MS = 1_800_000
/** Gateways of the last ring at once: each fetches the archive through its tunnel. */
const AT_ONCE = 50

/** A request whose gateway was silent for so long holds the next ring back. */
export const SILENT_MS = 1_800_000
/** So does one that has not ended after a whole day, which has every hour that the device's owner can choose. */
export const OPEN_MS = 86_400_000

/** With the name of its gateway. `unwell`: why it does not run the release well, between two rings. */
type Request = Pick<RequestRow, 'state' | 'message' | 'ended_at'> & { name: string; unwell?: string | undefined }

/** Gateways that can get the release and were not asked. */
export type Left = {
  /** The hub may ask them now. */
  candidates: number
  /** Those whose hours are to come. */
  later: number
  /** Those that the hub does not hear from. */
  away: number
}

const count = (requests: readonly Request[], state: Request['state']) =>
  requests.filter((request) => request.state === state).length

/** Whether a ring is done and the next one has not begun. */
export const isBetween = (requests: readonly Pick<Request, 'state'>[]): boolean =>
  !requests.some(({ state }) => state === 'asked') &&
  RINGS.includes(requests.filter(({ state }) => state === 'done').length)

const ringOf = (requests: readonly Request[]) => RINGS.find((size) => count(requests, 'done') < size)

/** Whether every ring of a certain size is done. */
export const isLastRing = (requests: readonly Request[]): boolean => ringOf(requests) === undefined

/**
 * Decides what to do next: how many candidates to ask. A failure stops everything. `requests` are the automatic ones
 * for this release; `now` is in milliseconds since 1970.
 */
export function planRollout(
  requests: readonly Request[],
  { candidates, later, away, now }: Left & { now: number },
): Pick<RolloutRow, 'state' | 'message'> & { requests: number } {
  const failed = requests.find(({ state }) => state === 'failed')
  if (failed)
    return { state: 'stopped', message: `Gateway "${failed.name}" was not updated: ${failed.message}`, requests: 0 }
  const done = requests.filter(({ state }) => state === 'done')
  const waiting = count(requests, 'asked')
  const waits = (message: string) => ({ state: 'running' as const, message, requests: 0 })
  if (waiting + candidates === 0) {
    if (later > 0) return waits('Waits for the hours of automatic updates.')
    if (away > 0) return waits('Waits for gateways that are offline.')
    return waits('Every gateway that can get it has it.')
  }
  const ring = ringOf(requests)
  // After the clock was set back, a ring must not wait for longer than the pause itself.
  if (isBetween(requests) && now < settledAt(done) && settledAt(done) - now <= SETTLE_MS)
    return waits('Waits for half an hour before the next gateways.')
  const unwell = done.find((request) => request.unwell !== undefined)
  if (unwell) return waits(`Waits for gateway "${unwell.name}", which ${unwell.unwell}.`)
  const places = ring === undefined ? AT_ONCE - waiting : ring - done.length - waiting
  const size = ring === undefined ? 'every gateway' : ring === 1 ? 'one gateway' : `the first ${ring} gateways`
  return { state: 'running', message: `Goes to ${size}.`, requests: Math.max(0, Math.min(places, candidates)) }
}

const settledAt = (done: readonly Request[]) => Math.max(...done.map(({ ended_at: at }) => at ?? 0)) + SETTLE_MS

type Seen = RequestRow & Request & { heardAt: number | undefined; progress: string }

/**
 * The requests that hold all others back, each with the reason as a sentence. In the last ring that takes as many as
 * there are places.
 */
export function findHeld(requests: readonly Seen[], now: number): Seen[] {
  const waiting = requests.filter(({ state }) => state === 'asked')
  const held = waiting.flatMap((request) => {
    const message = whyHeld(request, now)
    return message === undefined ? [] : [{ ...request, message }]
  })
  const done = requests.filter(({ state }) => state === 'done')
  const unwell = done.filter((request) => request.unwell !== undefined)
  // As long after the pause as an asked one may be silent.
  if (unwell.length > 0 && now >= settledAt(done) + SILENT_MS)
    return unwell.map((request) => ({ ...request, message: `Gateway "${request.name}" ${request.unwell}.` }))
  return isLastRing(requests) && held.length < AT_ONCE ? [] : held
}

function whyHeld({ name, asked_at: requestedAt, heardAt, progress }: Seen, now: number): string | undefined {
  const [silence, age] = [now - Math.max(heardAt ?? 0, requestedAt), now - requestedAt]
  if (silence >= SILENT_MS) {
    const heard = heardAt === undefined ? 'was not heard from since' : `has been silent for ${duration(now - heardAt)}`
    return `Gateway "${name}" was asked ${duration(age)} ago and ${heard}.`
  }
  if (age < OPEN_MS) return undefined
  const does = progress === '' ? 'It has not begun.' : `Its last report: ${progress.replace(/\.$/, '')}.`
  return `Gateway "${name}" was asked ${duration(age)} ago. ${does}`
}

/** Whether `now`, on the hub's own clock, is within `HH:MM-HH:MM` or `Mon-Fri HH:MM-HH:MM`. */
export function isWithinHours(text: string, now: number): boolean {
  const hours = parseClockHours(text)
  const { day, minute } = dayAndMinute(now)
  return hours === undefined || isInHours(hours, day, minute)
}
