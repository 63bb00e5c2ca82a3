/**
 * Deterrents: what a gateway can switch, each use of one (a firing), and the ledger of all that was done and refused.
 */
import { z } from 'zod'
import { cleanLine, moment } from './fields.ts'

/** No deterrent is on for longer, whatever its file says: 30 minutes. */
export const FIRING_MAX_SECONDS = 1_800

const id = cleanLine(100).min(1)
const seconds = z.number().min(0).max(FIRING_MAX_SECONDS)

/** One use of a deterrent, as a detection names it. */
export const firing = z.strictObject({
  id,
  deterrent: cleanLine(100).min(1),
  at: moment,
  /** How long it was to stay on. */
  seconds,
  outcome: z.enum(['fired', 'refused', 'failed']),
  /** Why it was refused or failed, in words. */
  reason: cleanLine(500).optional(),
})
export type Firing = z.output<typeof firing>

/** Who asked: a rule of the device's file, a person, a program on the device, or the device itself. */
export const ledgerActor = z.strictObject({
  kind: z.enum(['rule', 'person', 'program', 'device']),
  /** The rule's name, or the person's; empty where there is none. */
  name: cleanLine(200),
  /** Where a person was. */
  via: z.enum(['hub', 'device']).optional(),
})

/** One line of a device's ledger. Entries are never changed; the same `id` again is the same entry. */
export const ledgerEntry = z.strictObject({
  id,
  /** By the device's wall clock. */
  at: moment,
  /**
   * `fired`, `refused` and `failed` are the answers to one wish; `ended` is the end of a firing, `observed` whether the
   * object was gone a minute later; the others are what they say.
   */
  event: z.enum(['fired', 'refused', 'failed', 'ended', 'observed', 'stopped', 'armed', 'disarmed']),
  by: ledgerActor,
  /** Absent where it is about all of them. */
  deterrent: cleanLine(100).min(1).optional(),
  /** The `id` of the firing that it is about. */
  firing: id.optional(),
  /** The detection that was the reason. */
  detection: id.optional(),
  /** How long it was to stay on; for `ended` and `stopped`, how long it was on. */
  seconds: seconds.optional(),
  /** Why it was refused, as a word for programs. */
  code: cleanLine(50).optional(),
  /** In words: what the device answered, or why it was refused. */
  message: cleanLine(500).optional(),
  /** For `observed`: the object was gone. */
  gone: z.boolean().optional(),
})
export type LedgerEntry = z.output<typeof ledgerEntry>
