import { ledgerEntry as reported } from '@hedgerow/contract'
import { z } from 'zod'
import { asker } from './saved-state.ts'
import { refusals, type RefusalCode } from './refusals.ts'

const codes = Object.keys(refusals) as [RefusalCode, ...RefusalCode[]]

/** One line of the ledger. */
export const ledgerEntry = z.object({
  /** Counts up by one, also across restarts. */
  id: z.number().int().positive(),
  /** By the wall clock, in milliseconds since 1970. */
  at: z.number(),
  kind: reported.shape.kind,
  deterrent: z.string().optional(),
  firing: z.string().optional(),
  by: asker.optional(),
  from: z.string().optional(),
  seconds: z.number().optional(),
  camera: z.string().optional(),
  until: z.number().optional(),
  /** The device's answer, without secrets. */
  answer: z.string().optional(),
  code: z.enum(codes).optional(),
  message: z.string().optional(),
  /** How often the same happened in the minute before, when more than once. */
  times: z.number().int().optional(),
  /** Null when unknown. */
  gone: z.boolean().nullable().optional(),
})
export type LedgerEntry = z.output<typeof ledgerEntry>
export type NewLedgerEntry = Omit<LedgerEntry, 'id'>
