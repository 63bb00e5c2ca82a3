/**
 * Deterrents: devices that a gateway can switch, each use of one (a firing), and the ledger of all firings and
 * refusals.
 */
import { z } from 'zod'
import { call } from './call.ts'
import { cleanLine, epochMs, moment } from './fields.ts'
import { gatewayId } from './gateways.ts'
import { pageQuery } from './lists.ts'

/** The longest firing, whatever the device's file says: 30 minutes. */
export const FIRING_MAX_SECONDS = 1_800
const SECONDS_A_DAY = 86_400

/** The name in the device's file. */
export const deterrentName = cleanLine(100).min(1)

/** One use of a deterrent, as a detection names it. */
export const firing = z.strictObject({
  id: cleanLine(100).min(1),
  deterrent: deterrentName,
  at: moment,
  /** The planned length. */
  seconds: z.number().min(0).max(FIRING_MAX_SECONDS),
  outcome: z.enum(['fired', 'refused', 'failed']),
  /** Why it was refused or failed, in words. */
  reason: cleanLine(500).optional(),
})
export type Firing = z.output<typeof firing>

/** Who asked: a rule of the device's file, a person, or a program on the device. */
const ledgerActor = z.strictObject({
  kind: z.enum(['rule', 'person', 'program']),
  /** The rule's name, or the person's. */
  name: cleanLine(200).optional(),
  /** How a person was connected. */
  via: z.enum(['hub', 'device']).optional(),
  /** The detection that a rule was about. */
  detection: cleanLine(100).optional(),
  /** The choice of a rule that varies. */
  chose: cleanLine(200).optional(),
})

/** Kinds of entries that are about no deterrent. */
export const LEDGER_OF_PEOPLE = ['file-saved', 'password-refused'] as const

/** With the feature `snooze`: a camera or the gateway was snoozed or is in maintenance, and when that ended. */
export const LEDGER_OF_SNOOZES = ['snoozed', 'maintenance', 'snooze-ended'] as const

/** One line of a device's ledger. A line is never changed; the same `id` and `at` again are the same line. */
export const ledgerEntry = z.strictObject({
  /** Counts up. */
  id: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
  /** By the device's wall clock. */
  at: epochMs,
  /**
   * `fired`: the device answered that it is on. `ended`: it is known to be off again. `failed`: the device did not
   * answer. `fault`, `mended`: switching off fails, and works again. `unguarded`: the process that switches off after a
   * crash was gone. `looked`: whether the object was still there a minute later. `LEDGER_OF_PEOPLE` come with the
   * feature `ledger-of-people`: somebody saved gateway.yaml, or gave a wrong password of the device.
   */
  kind: z.enum([
    'fired',
    'ended',
    'failed',
    'refused',
    'stopped',
    'armed',
    'disarmed',
    'fault',
    'mended',
    'unguarded',
    'looked',
    ...LEDGER_OF_PEOPLE,
    ...LEDGER_OF_SNOOZES,
  ]),
  /** Absent when it is about all deterrents. */
  deterrent: cleanLine(100).optional(),
  /** The `id` of the firing. */
  firing: cleanLine(100).optional(),
  by: ledgerActor.optional(),
  /** The address from which a person came; only of `LEDGER_OF_PEOPLE`. */
  from: cleanLine(100).optional(),
  /** The planned length; of `ended`, the longest time that it can have been on. */
  seconds: z.number().min(0).max(SECONDS_A_DAY).optional(),
  /** The device's answer. */
  answer: cleanLine(500).optional(),
  /** The reason of a refusal, as a code for programs. */
  code: cleanLine(50).optional(),
  message: cleanLine(500).optional(),
  /** How often the same happened in the last minute, when more than once. */
  times: z.number().int().min(1).max(1_000_000).optional(),
  /** Of a snooze; absent for the whole gateway. */
  camera: cleanLine(100).optional(),
  /** When a snooze that begins will end. */
  until: epochMs.optional(),
  /** Null when unknown. */
  gone: z.boolean().nullable().optional(),
})
export type LedgerEntry = z.output<typeof ledgerEntry>

/** The most entries in one call. */
export const LEDGER_ENTRIES_AT_ONCE = 100

/**
 * For hubs that name the feature `ledger`: reports new entries in order, each stored once; committed before the answer.
 */
export const reportLedger = call({
  method: 'POST',
  path: '/v1/gateway/ledger',
  body: z.strictObject({ entries: z.array(ledgerEntry).min(1).max(LEDGER_ENTRIES_AT_ONCE) }),
  signed: true,
  errors: ['gateway_unknown', 'signature_invalid', 'request_replayed', 'too_many_requests', 'hub_busy'],
  response: z.object({ accepted: z.number().int() }),
})

/** The newest 50 entries of a gateway's ledger, or a page, newest first. */
export const listLedger = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/ledger',
  params: z.strictObject({ id: gatewayId }),
  query: pageQuery,
  errors: ['gateway_not_found'],
  response: z.array(z.object(ledgerEntry.shape)),
})
