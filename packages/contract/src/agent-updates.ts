/** Updates of agents: what a gateway reports about them, and what the hub answers to its heartbeat. */
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
      /** `trying`: the new version runs, and waits for the answer to its first heartbeat. */
      state: z.enum(['waiting', 'fetching', 'trying', 'failed']),
      /** What the update waits for, or why it failed. */
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

/** The path below the hub's address inside the tunnel: the signed lists, and the archives that they name. */
export const DOWNLOADS_PATH = '/downloads'
