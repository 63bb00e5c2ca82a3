/**
 * Refuses calls of gateways while more come than the hub can serve, such as when a large fleet returns from an outage.
 * It watches the delay of the event loop, because people's pages wait as long. A refusal costs a part of what the call
 * would, and its Retry-After spreads the fleet. What waits on a gateway's disk is refused earlier than heartbeats,
 * without which it counts as offline. Enrolment waits too: a gateway whose heartbeats are not answered asks whether it
 * is still approved, so a hub that is late would get more work.
 */
import { onceAMinute } from '@hedgerow/http'
import type { Logger } from 'pino'
import { HubError } from '../kernel/hub-error.ts'

/** `enrolment`: calls of anybody, so they never count against those of approved gateways. */
export type LoadKind = 'heartbeat' | 'other' | 'enrolment'

export type LoadShedding = {
  /** Throws `hub_busy` when the hub must shed load. */
  check(kind: LoadKind): void
  /** Measures the delay; called every `LOOK_EVERY_MS`. */
  look(): void
  stop(): void
}

/** A hub with fewer calls is busy with something else, and refusing them would not help it. */
const CALLS_A_SECOND = 200
const DELAY_LIMITS_MS: Record<LoadKind, number> = { heartbeat: 200, other: 50, enrolment: 50 }
const RETRY_AFTER_MS = { least: 4_000, most: 16_000 }
const LOOK_EVERY_MS = 50
/** The weight of a new look: one long task alone is no sign of load. */
const NEW_WEIGHT = 0.2
/** A process that was stopped for minutes is no busier than that. */
const LATE_MAX_MS = 1_000
const SECOND_MS = 1_000

export function createLoadShedding({
  log,
  monotonic = () => performance.now(),
  random = Math.random,
}: {
  log: Pick<Logger, 'warn'>
  monotonic?: () => number
  random?: () => number
}): LoadShedding {
  let delayMs = 0
  let lookedAtMs = monotonic()
  const ofGateways = createRate(monotonic)
  const ofEnrolment = createRate(monotonic)
  const tell = onceAMinute((_first: undefined, refused) =>
    log.warn({ refused }, 'gateways call more than this hub can serve now: they were told to come later'),
  )

  function look(): void {
    const now = monotonic()
    const lateMs = Math.min(LATE_MAX_MS, Math.max(0, now - lookedAtMs - LOOK_EVERY_MS))
    lookedAtMs = now
    delayMs += (lateMs - delayMs) * NEW_WEIGHT
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return {
    look,
    check(kind) {
      const isEnrolment = kind === 'enrolment'
      ;(isEnrolment ? ofEnrolment : ofGateways).count()
      const callsASecond = ofGateways.perSecond() + (isEnrolment ? ofEnrolment.perSecond() : 0)
      if (callsASecond <= CALLS_A_SECOND || delayMs <= DELAY_LIMITS_MS[kind]) return
      tell(undefined)
      const { least, most } = RETRY_AFTER_MS
      throw new HubError('hub_busy', { retryAfterMs: least + random() * (most - least) })
    },
    stop: () => clearInterval(timer),
  }
}

/** Of this second or the one before, whichever has more. */
function createRate(monotonic: () => number): { count(): void; perSecond(): number } {
  let sinceMs = monotonic()
  let calls = 0
  let rateBefore = 0

  function perSecond(): number {
    const now = monotonic()
    const ageMs = now - sinceMs
    if (ageMs >= SECOND_MS) {
      rateBefore = (calls / ageMs) * SECOND_MS
      calls = 0
      sinceMs = now
    }
    return Math.max(calls, rateBefore)
  }

  return {
    count() {
      perSecond()
      calls += 1
    },
    perSecond,
  }
}
