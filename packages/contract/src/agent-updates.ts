/** Updates of agents: what a gateway tells its hub and people about them, and what the hub answers to its heartbeat. */
import { z } from 'zod'
import { cleanLine } from './fields.ts'

export const releaseNumber = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
/** Identifies one request for an update: a later request for the same release is another attempt. */
const attempt = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER)

/** The parts of a heartbeat that come with the feature `updates`. */
export const updateDetails = z.strictObject({
  /** The release that runs, if the agent can be updated: its number, and its platform in Node's terms. */
  release: z.strictObject({ number: releaseNumber, platform: cleanLine(50) }).optional(),
  /** The progress of the update that the hub asked for. */
  update: z
    .strictObject({
      number: releaseNumber,
      attempt,
      /** `trying`: the new version runs on trial. */
      state: z.enum(['waiting', 'fetching', 'trying', 'failed']),
      /** What the update waits for, how far its trial is, or why it failed. */
      message: cleanLine(500),
    })
    .optional(),
})

/** In the answer to a heartbeat: the release that the hub wants the gateway to run. */
export const wantedUpdate = z.object({
  number: releaseNumber,
  attempt,
  /** A person asked for it, so the gateway does not wait for its hours. */
  byHand: z.boolean(),
})
export type WantedUpdate = z.output<typeof wantedUpdate>

/** What a device tells people about the version that it runs, and about updates. */
export const deviceUpdates = z.object({
  by: z
    .enum(['itself', 'package', 'image', 'archive', 'sources'])
    .describe('Who replaces this version: the gateway itself, or a person, by how it was installed.'),
  advice: z
    .string()
    .describe('How a person updates it, or why an installation that updates itself cannot now. Empty when it can.'),
  release: releaseNumber.nullable().describe('The number of the release that runs; null for the sources.'),
  since: z.iso
    .datetime()
    .nullable()
    .describe(
      'When this device changed to this version; null for the sources, whose version does not change with them.',
    ),
  startedAt: z.iso.datetime(),
  state: z
    .enum(['current', 'waiting', 'fetching', 'trying', 'failed'])
    .describe(
      '`current`: the hub asks for no other version. `waiting`, `fetching` and `failed` are about `offered`. ' +
        '`trying`: this version is on trial.',
    ),
  message: z.string().describe('What an update waits for, how far a trial is, or why it failed.'),
  offered: z
    .object({
      number: releaseNumber,
      version: z.string().nullable().describe('Null until the list of the release is read.'),
      byHand: z.boolean().describe('Whether a person asked for it.'),
    })
    .nullable()
    .describe('The version that the hub asks for.'),
  failure: z
    .object({
      number: releaseNumber,
      version: z.string().nullable(),
      at: z.iso.datetime(),
      message: z.string(),
    })
    .nullable()
    .describe('The last update that failed; null once this version or a newer one runs.'),
  isEnabled: z.boolean().describe('`updates.enabled` of gateway.yaml.'),
  hours: z.array(z.string()).describe('`updates.hours` of gateway.yaml, for automatic updates. Empty for any time.'),
  checkedAt: z.iso
    .datetime()
    .nullable()
    .describe('When the hub last said which version it asks for; null before, and when it does not update itself.'),
})
export type DeviceUpdates = z.output<typeof deviceUpdates>

/** The path below the hub's address inside the tunnel: the signed lists, and the archives that they name. */
export const DOWNLOADS_PATH = '/downloads'
