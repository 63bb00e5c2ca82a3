import { performance } from 'node:perf_hooks'
import { STATUS_WAIT_MAX_SECONDS } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { adviceFor } from './advice.ts'
import { createBackoff, createPause } from '../kernel/backoff.ts'
import type { HubCandidate } from './discovery.ts'
import {
  requestStatus,
  openSession,
  submitRegistration,
  type Device,
  type HubSession,
  type RegistrationStatus,
} from './enrolment-calls.ts'
import { inWords } from '../kernel/failure.ts'
import { HubRefusal, NoAnswerError } from '../kernel/http-call.ts'
import type { HubTrust } from './hub-trust.ts'
import type { Conditions } from '../kernel/conditions.ts'
import type { NameService } from '../kernel/name-service.ts'
import type { CallContext } from './signed-call.ts'

/**
 * Keeps this device registered: finds the hub, checks its key, registers, and follows the hub's decisions while the
 * agent runs. It registers again whenever a session with the hub breaks; the same keys get the same row. Only signed
 * answers reach `onStatus`, so that nobody in between can take a tunnel down.
 */
export type RegistrationOptions = {
  device: Device
  trust: HubTrust
  names: NameService
  /** Called for every session: addresses and DNS records change. */
  discover(): Promise<{ candidates: HubCandidate[]; problems: string[] }>
  conditions: Conditions
  log: Logger
  signal: AbortSignal
  localAddress?: CallContext['localAddress']
  pace: RegistrationPace
  /** Called when a trusted hub has answered. */
  onHub(session: HubSession): void
  onStatus(status: RegistrationStatus): Promise<void>
}

export type RegistrationPace = {
  retryFirstMs: number
  retryMaxMs: number
  /** How often a rejected device asks whether a manager changed their mind. */
  rejectedRecheckMs: number
  /** How often an approved device asks whether it is still approved. */
  approvedRecheckMs: number
  /** How long the hub may take for an answer about its decision. */
  answerMs: number
}

export const REGISTRATION_PACE: RegistrationPace = {
  retryFirstMs: 500,
  retryMaxMs: 30_000,
  rejectedRecheckMs: 60_000,
  approvedRecheckMs: 300_000,
  answerMs: 10_000,
}

/** A hub that answers a long poll sooner than this does not hold it open; then the device paces its own requests. */
const NOT_HELD_MS = 1_000
const NOT_HELD_PAUSE_MS = 2_000

/** A slow hub keeps its session: registering again would give it more work. After these, perhaps it has moved. */
const UNANSWERED_MAX = 2

/** Refusals are not signed, so an attacker may ask for a pause; this limits it. */
const PAUSE_ASKED_FOR_MAX_MS = 300_000

class HubNotFoundError extends Error {
  /** The longest pause that a candidate asked for. */
  retryAfterMs: number | undefined
  constructor(message: string, retryAfterMs: number | undefined) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

export type Registration = {
  /** Asks the hub for its decision now, because the tunnel is silent. */
  recheck(): void
  /** Settles after `signal` is aborted. */
  done: Promise<void>
}

export function keepRegistered(options: RegistrationOptions): Registration {
  const { device, trust, names, conditions, log, signal, pace } = options
  const context: CallContext = { names, signal, localAddress: options.localAddress }
  const backoff = createBackoff({ firstMs: pace.retryFirstMs, maxMs: pace.retryMaxMs })
  const rest = createPause(signal)
  let unanswered = 0

  /** Returns a session with the first candidate whose challenge is valid and whose key is trusted. */
  async function connect(): Promise<HubSession> {
    const { candidates, problems } = await options.discover()
    const failures = [...problems]
    let retryAfterMs: number | undefined
    for (const candidate of candidates) {
      try {
        const expected = {
          isSettled: trust.isSettled(candidate.pins),
          check: (key: string) => trust.check(key, candidate.pins),
        }
        const session = await openSession(candidate.url, device.keys, expected, context)
        conditions.done('hubFound', `${candidate.url.origin}, by ${candidate.source}`)
        options.onHub(session)
        return session
      } catch (error) {
        if (signal.aborted) throw error
        const advice = adviceFor(error, candidate, trust.isSettled(candidate.pins))
        failures.push(`${candidate.url.origin}: ${inWords(error)}${advice === undefined ? '' : `: ${advice}`}`)
        retryAfterMs = Math.max(retryAfterMs ?? 0, pauseAskedFor(error) ?? 0)
      }
    }
    throw new HubNotFoundError(failures.join('; '), retryAfterMs)
  }

  /** Returns when `signal` is aborted; throws when the session with the hub breaks. */
  async function follow(session: HubSession): Promise<void> {
    const registrationId = await submitRegistration(session, device, context)
    await trust.remember(session.hubIdentityPublicKey)
    conditions.done('registered', `as request ${registrationId}`)
    let waitSeconds = 0
    unanswered = 0
    while (!signal.aborted) {
      const requestedAtMs = performance.now()
      const status = await requestUnlessBusy(session, { registrationId, waitSeconds })
      if (!status) continue
      backoff.reset()
      await options.onStatus(status)
      if (status.status === 'approved') await rest.pause(pace.approvedRecheckMs)
      else if (status.status === 'rejected') await rest.pause(pace.rejectedRecheckMs)
      else if (waitSeconds > 0 && performance.now() - requestedAtMs < NOT_HELD_MS) await rest.pause(NOT_HELD_PAUSE_MS)
      waitSeconds = status.status === 'pending' ? STATUS_WAIT_MAX_SECONDS : 0
    }
  }

  /** Returns undefined after a pause, because the hub asked for it or is slow; the session stays. */
  async function requestUnlessBusy(session: HubSession, request: { registrationId: string; waitSeconds: number }) {
    try {
      const status = await requestStatus(session, { ...request, answerMs: pace.answerMs }, device.keys, context)
      unanswered = 0
      return status
    } catch (error) {
      const retryAfterMs = pauseAskedFor(error)
      const isSlow = error instanceof NoAnswerError && unanswered++ < UNANSWERED_MAX
      if (signal.aborted || (retryAfterMs === undefined && !isSlow)) throw error
      await rest.pause(backoff.next(retryAfterMs))
      return undefined
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await follow(await connect())
      } catch (error) {
        if (signal.aborted) return
        conditions.failed(error instanceof HubRefusal ? 'registered' : 'hubFound', sentence(error))
        const pauseMs = backoff.next(pauseAskedFor(error))
        log.debug({ pauseMs: Math.round(pauseMs) }, 'trying the hub again')
        await rest.pause(pauseMs)
      }
    }
  }

  return { recheck: rest.wake, done: run() }
}

function pauseAskedFor(error: unknown): number | undefined {
  const retryAfterMs = error instanceof HubRefusal || error instanceof HubNotFoundError ? error.retryAfterMs : undefined
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, PAUSE_ASKED_FOR_MAX_MS)
}

function sentence(error: unknown): string {
  const words = inWords(error)
  return /^https?:/.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1)
}
