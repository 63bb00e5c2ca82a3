import { z } from 'zod'
import { call } from './call.ts'
import { changedFields, wholeBody } from './edits.ts'

const channelField = z.object({
  name: z.string(),
  label: z.string(),
  help: z.string(),
  /** The value of a secret is in no answer. */
  kind: z.enum(['text', 'lines', 'secret', 'address', 'choice']),
  choices: z.array(z.string()),
  /** The value that it has when it is empty; null for none. */
  default: z.string().nullable(),
  /** The channel cannot be on without it. */
  isNeeded: z.boolean(),
  /** The hub's variable of this field. */
  variable: z.string(),
  /** The variable is set: it wins, its value is in no answer, and the field cannot be changed here. */
  isByVariable: z.boolean(),
  /** The field has a value of its own. */
  isSet: z.boolean(),
  /** Null for a secret, for the value of a variable, and for none. */
  value: z.string().nullable(),
})

/** A way to reach people outside the hub, as an admin sets it up. */
export const channelSetup = z.object({
  name: z.string(),
  enabled: z.boolean(),
  /** The variable that sets it up; then nothing of it can be changed here. */
  setUpBy: z.string().nullable(),
  /** Why it cannot be used as it is, in a sentence. */
  problem: z.string().nullable(),
  fields: z.array(channelField),
})
export type ChannelSetup = z.output<typeof channelSetup>

const setupFields = z.strictObject({
  enabled: z.boolean(),
  /** By the field's name. Null removes a value; an empty text does too, but keeps a secret. */
  values: z.record(z.string().max(40), z.string().max(20_000).nullable()),
})

const byName = z.strictObject({ name: z.string().regex(/^[a-z-]{1,30}$/, 'This is not the name of a channel') })

/** The channels that can be set up, with what is set. */
export const listChannelSetups = call({ method: 'GET', path: '/v1/admin/channels', response: z.array(channelSetup) })

/**
 * Changes a channel; it works with the new settings from the answer on. A field that is left out of `values` keeps its
 * value. A secret is kept for the server that it was entered for: with the address of another it is entered again.
 */
export const editChannelSetup = call({
  method: 'PATCH',
  path: '/v1/admin/channels/:name',
  params: byName,
  body: changedFields(setupFields),
  errors: ['channel_not_found', 'channel_set_by_variable', 'changed_meanwhile'],
  response: channelSetup,
})

/** The same with every field but those that a variable sets; secrets that stay are empty texts. */
export const saveChannelSetup = call({
  method: 'PUT',
  path: '/v1/admin/channels/:name',
  params: byName,
  body: wholeBody(setupFields),
  errors: ['channel_not_found', 'channel_set_by_variable', 'changed_meanwhile'],
  response: channelSetup,
})
