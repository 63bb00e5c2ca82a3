/** The calls of a device's own interface by which a person sets up a deterrent; `changeSettings` saves it. */
import { z } from 'zod'
import { call } from './call.ts'

const password = z.string().min(1).max(200).optional()
/** The name of a driver. */
const driver = z.string().min(1).max(50)
/** In the form of gateway.yaml: `${NAME}` in a text is replaced by a variable. */
const settings = z.record(z.string().min(1).max(100), z.json())
const simple = z.union([z.string(), z.number(), z.boolean()])

const field = z.object({
  key: z.string(),
  type: z.enum(['text', 'number', 'switch', 'choice']),
  description: z.string(),
  /** Of a choice. */
  options: z.array(z.string()),
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
  /** What holds when it is left out; null for nothing. */
  usual: simple.nullable(),
  isRequired: z.boolean(),
  isSecret: z.boolean(),
})
export type DeterrentField = z.output<typeof field>

const kind = z.object({
  driver,
  summary: z.string(),
  fields: z.array(field),
  /** Its keys that are no single values: people write them as text. */
  others: z.array(z.string()),
  /** Whether one of `others` must be there. */
  needsText: z.boolean(),
  /** The keys that choose an output of the device; empty when it cannot be asked for its outputs. */
  outputKeys: z.array(z.string()),
})
export type DeterrentKind = z.output<typeof kind>

const foundDeterrent = z.object({
  address: z.string(),
  /** Null when no driver takes the device by its address alone; `note` says more. */
  driver: driver.nullable(),
  title: z.string(),
  needsPassword: z.boolean(),
  note: z.string().nullable(),
})
export type FoundDeterrent = z.output<typeof foundDeterrent>

const output = z.object({
  /** What the device calls it; empty when it has no name. */
  name: z.string(),
  /** Null when the device does not say. */
  isOn: z.boolean().nullable(),
  /** The values of `outputKeys`. */
  settings: z.record(z.string(), z.union([z.string(), z.number()])),
})
export type FoundOutput = z.output<typeof output>

const ofPasswords = ['password_required', 'wrong_password'] as const

export const deterrentSetupCalls = {
  /** The drivers, with what each needs. */
  readDeterrentKinds: call({ method: 'GET', path: '/v1/deterrent-kinds', response: z.array(kind) }),
  /** Looks for switchable devices in the device's own networks for some seconds, and switches nothing. */
  findDeterrents: call({
    method: 'POST',
    path: '/v1/deterrent-search',
    body: z.strictObject({ password }),
    response: z.array(foundDeterrent),
    errors: ofPasswords,
  }),
  /**
   * Asks a device for its outputs, and switches nothing. `password`: the device's own, as for `saveFile`, because the
   * agent connects to an address that its file does not have.
   */
  readOutputs: call({
    method: 'POST',
    path: '/v1/deterrent-outputs',
    body: z.strictObject({ driver, settings, password }),
    response: z.array(output),
    errors: [...ofPasswords, 'deterrent_failed'],
  }),
  /**
   * Fires a deterrent that gateway.yaml does not have, for at most `TRIAL_SECONDS`, by the rules of all firings. It is
   * listed with the others, and can be stopped as they can, for some minutes.
   */
  tryDeterrent: call({
    method: 'POST',
    path: '/v1/deterrent-trials',
    body: z.strictObject({ name: z.string().min(1).max(100), driver, settings, password }),
    response: z.object({ seconds: z.number(), until: z.number() }),
    errors: [...ofPasswords, 'deterrent_exists', 'not_fired'],
  }),
} as const
