import * as contract from '@hedgerow/contract'
import { fingerprint, type Identity } from '@hedgerow/enrolment'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { decide } from './auto-approval.ts'
import { readAutoApproval, saveAutoApproval } from './auto-approval-settings.ts'
import type { Downloads } from '../downloads/downloads.ts'
import { hubUrlOf } from '../http/hub-url.ts'
import { invitationCommand } from './invitation-command.ts'
import { createInvitation, listInvitations, revokeInvitation } from './invitations.ts'
import { canonicalIp } from './trusted-sources.ts'

export type RuleDependencies = {
  db: Kysely<Tables>
  clock: () => number
  identity: Pick<Identity, 'publicKey'>
  publicUrl: string | undefined
  downloads: Pick<Downloads, 'command'>
}

/** The rules that approve without a person: auto-approval settings and invitations. */
export function ruleRoutes(app: FastifyInstance, dependencies: RuleDependencies): void {
  const { db, clock, identity, publicUrl, downloads } = dependencies
  mount(app, contract.readAutoApprovalSettings, () => readAutoApproval(db))
  for (const call of [contract.editAutoApprovalSettings, contract.saveAutoApprovalSettings])
    mount(app, call, ({ body, act }) => saveAutoApproval(db, body, act))
  mount(app, contract.testAutoApproval, async ({ body }) => {
    const sourceIp = canonicalIp(body.ip) ?? body.ip
    const { approve, message } = decide(await readAutoApproval(db), { sourceIp, hasValidInvitation: false })
    return { wouldAutoApprove: approve, message }
  })

  mount(app, contract.listGatewayInvitations, ({ query, reply }) => listInvitations(db, { query, reply, now: clock() }))
  mount(app, contract.createGatewayInvitation, async ({ body, raw, act }) => {
    const hubUrl = hubUrlOf(publicUrl, raw.headers)
    const { invitation, code } = await createInvitation(db, body, act)
    const hubFingerprint = fingerprint(identity.publicKey)
    const command = (await downloads.command(raw.headers, code)) ?? invitationCommand({ hubUrl, hubFingerprint, code })
    return { invitation, code, hubUrl, hubFingerprint, command }
  })
  mount(app, contract.revokeGatewayInvitation, ({ params, act }) => revokeInvitation(db, params.id, act))
}
