import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { approvedRegistration, type ApprovedRegistration } from '@hedgerow/contract'
import { decodeBase64 } from '@hedgerow/enrolment'
import { parsePresharedKey } from '@hedgerow/wireguard'
import { z } from 'zod'
import { NotAHubError } from '../kernel/http-call.ts'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'

/** The hub's approval, stored so that a restart opens the tunnel without asking. */
const approvalFile = approvedRegistration
  .omit({ status: true, hubEphemeralPublicKey: true, sealedPresharedKey: true })
  .extend({
    presharedKey: z.string().refine((text) => parsePresharedKey(text) !== undefined),
    /** The hub that approved. The agent ignores an approval by any hub but the trusted one. */
    hubIdentityPublicKey: z.string().refine((text) => decodeBase64(text, 32) !== undefined),
  })
export type Approval = z.output<typeof approvalFile>

export const APPROVAL_FILE = 'approval.json'

/** Throws NotAHubError when the unsealed key is not a valid key. */
export function approvalOf(answer: ApprovedRegistration, presharedKey: string, hubIdentityPublicKey: string): Approval {
  const parsed = approvalFile.safeParse({ ...answer, presharedKey, hubIdentityPublicKey })
  if (!parsed.success) throw new NotAHubError('the hub sent an invalid preshared key')
  return parsed.data
}

export async function readApproval(dataDir: string): Promise<Approval | undefined> {
  return readJsonFile(join(dataDir, APPROVAL_FILE), approvalFile)
}

export async function writeApproval(dataDir: string, approval: Approval): Promise<void> {
  await writeDurably(join(dataDir, APPROVAL_FILE), `${JSON.stringify(approval, null, 2)}\n`)
}

export async function forgetApproval(dataDir: string): Promise<void> {
  await rm(join(dataDir, APPROVAL_FILE), { force: true })
}
