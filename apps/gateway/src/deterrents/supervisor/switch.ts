/**
 * The switch of one unit: a state machine without I/O, with clocks as arguments. The unit counts as off only when the
 * device said so after every request that could still switch it on. Until then it is switched off repeatedly.
 */
import type { Instant } from '../saved-state.ts'

export type SwitchEvent =
  | { event: 'on'; firing: string; answer: string }
  /** `neverOn`: the device says that it has not been on, and will not be. */
  | { event: 'failed'; firing: string; message: string; neverOn?: true }
  /** `firing` is the last firing since the unit was known to be off, if any. */
  | { event: 'off'; firing?: string; answer: string }
  /** Sent once, until the unit is known to be off. */
  | { event: 'fault'; message: string }

export type SwitchOutput =
  | { do: 'call'; call: number; on: number | undefined }
  | { do: 'break-off'; call: number }
  | { do: 'report'; event: SwitchEvent }

/** How late an aborted request may reach the device. */
export const LATE_MS = 15_000
/** Pauses between calls that switch off while such a request may be pending. */
const LATE_PAUSES_MS = [1_000, 2_000, 4_000, 8_000] as const
const RETRY_FIRST_MS = 250
export const RETRY_MAX_MS = 30_000

/** What a failed call means: nobody knows, the device says that it did not switch, or that it was never on. */
export type Failure = 'unknown' | 'refused' | 'never-on'

type Call = { id: number; on: boolean; until: number }
type Phase =
  | { is: 'off' }
  | { is: 'switching-on'; call: Call }
  | { is: 'on' }
  | { is: 'switching-off'; call: Call }
  /** The next call that switches off is at `at`. */
  | { is: 'waiting'; at: number }

export type Switch = ReturnType<typeof createSwitch>

export type SwitchOptions = {
  /** How long the device may take for an answer. */
  answerMs: number
  /** Another process may have sent a request that switches it on, until it is known to be off. */
  mayBeOn: boolean
  now: Instant
}

/** Not known to be off at first. */
export function createSwitch({ answerMs, now: madeAt, ...options }: SwitchOptions) {
  let { mayBeOn } = options
  let phase: Phase = { is: 'waiting', at: -Infinity }
  let calls = 0
  let firing: { id: string; seconds: number; since: Instant } | undefined
  let failures = 0
  let isFaultTold = false
  /** Until this time an aborted request may still switch it on. */
  let lateUntil = mayBeOn ? madeAt.mono + LATE_MS : -Infinity
  let latePauses = 0

  function call(on: number | undefined, now: Instant): SwitchOutput[] {
    const id = ++calls
    const inFlight = { id, on: on !== undefined, until: now.mono + answerMs }
    phase = on === undefined ? { is: 'switching-off', call: inFlight } : { is: 'switching-on', call: inFlight }
    return [{ do: 'call', call: id, on }]
  }

  /** The device may have received the request that switches on. */
  function mayArriveLate(now: Instant): void {
    lateUntil = now.mono + LATE_MS
    latePauses = 0
  }

  function switchOff(now: Instant): SwitchOutput[] {
    if (phase.is === 'switching-off') return []
    const outputs: SwitchOutput[] = []
    if (phase.is === 'switching-on') {
      mayArriveLate(now)
      outputs.push({ do: 'break-off', call: phase.call.id })
    }
    return [...outputs, ...call(undefined, now)]
  }

  function onFailed(message: string, failure: Failure, now: Instant): SwitchOutput[] {
    if (failure === 'unknown') mayArriveLate(now)
    const how = failure === 'never-on' ? ({ neverOn: true } as const) : {}
    const planned: SwitchOutput[] = firing
      ? [{ do: 'report', event: { event: 'failed', firing: firing.id, message, ...how } }]
      : []
    return [...planned, ...call(undefined, now)]
  }

  function offFailed(message: string, now: Instant): SwitchOutput[] {
    phase = { is: 'waiting', at: now.mono + Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(failures, 20)) }
    failures += 1
    if (isFaultTold) return []
    isFaultTold = true
    return [{ do: 'report', event: { event: 'fault', message } }]
  }

  function isOff(answer: string, now: Instant): SwitchOutput[] {
    failures = 0
    if (now.mono < lateUntil) {
      const pause = LATE_PAUSES_MS[Math.min(latePauses++, LATE_PAUSES_MS.length - 1)]!
      phase = { is: 'waiting', at: now.mono + pause }
      return []
    }
    phase = { is: 'off' }
    const before = firing
    firing = undefined
    mayBeOn = false
    isFaultTold = false
    return [{ do: 'report', event: { event: 'off', ...(before && { firing: before.id }), answer } }]
  }

  const isOver = (now: Instant): boolean =>
    firing !== undefined &&
    Math.max(now.mono - firing.since.mono, now.wall - firing.since.wall) >= firing.seconds * 1_000

  return {
    isOff: () => phase.is === 'off',
    /** Whether a request that switches it on was sent, and it is not known to be off since. */
    mayBeOn: () => mayBeOn || firing !== undefined,

    on(id: string, seconds: number, now: Instant): SwitchOutput[] {
      if (phase.is !== 'off') {
        const message = 'it is not known to be off'
        return [{ do: 'report', event: { event: 'failed', firing: id, message } }]
      }
      firing = { id, seconds, since: now }
      return call(seconds, now)
    },

    /** Repeated even when it is off, because something else may have switched it on. */
    off(now: Instant): SwitchOutput[] {
      return switchOff(now)
    },

    answered(id: number, answer: string, now: Instant): SwitchOutput[] {
      if (phase.is === 'switching-on' && phase.call.id === id && firing) {
        phase = { is: 'on' }
        return [{ do: 'report', event: { event: 'on', firing: firing.id, answer } }]
      }
      if (phase.is === 'switching-off' && phase.call.id === id) return isOff(answer, now)
      return []
    },

    failed(id: number, message: string, failure: Failure, now: Instant): SwitchOutput[] {
      if (phase.is === 'switching-on' && phase.call.id === id) return onFailed(message, failure, now)
      if (phase.is === 'switching-off' && phase.call.id === id) return offFailed(message, now)
      return []
    },

    tick(now: Instant): SwitchOutput[] {
      if ((phase.is === 'on' || phase.is === 'switching-on') && isOver(now)) return switchOff(now)
      if (phase.is === 'waiting' && now.mono >= phase.at) return call(undefined, now)
      if ((phase.is === 'switching-on' || phase.is === 'switching-off') && now.mono >= phase.call.until) {
        const { id, on } = phase.call
        const message = 'the device does not answer'
        const next = on ? onFailed(message, 'unknown', now) : offFailed(message, now)
        return [{ do: 'break-off', call: id }, ...next]
      }
      return []
    },

    /** When `tick` is due, on the monotonic clock. */
    nextDeadline(): number | undefined {
      const end = firing ? firing.since.mono + firing.seconds * 1_000 : Infinity
      if (phase.is === 'waiting') return phase.at
      if (phase.is === 'switching-on') return Math.min(phase.call.until, end)
      if (phase.is === 'switching-off') return phase.call.until
      return phase.is === 'on' ? end : undefined
    },
  }
}
