import type { IncomingHttpHeaders } from 'node:http'
import * as contract from '@hedgerow/contract'
import type { ResponseOf } from '@hedgerow/contract'
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
import { createInvitation, createLabels, listArrivals, listInvitations, revokeInvitation } from './invitations.ts'
import { canonicalIp } from './trusted-sources.ts'

/** A file of the longest texts, as JSON. */
const LABELS_BODY_LIMIT = 1_000_000

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
    const { approve, message } = decide(await readAutoApproval(db), { sourceIp, isInvited: false })
    return { wouldAutoApprove: approve, message }
  })

  mount(app, contract.listGatewayInvitations, ({ query, reply }) => listInvitations(db, { query, reply, now: clock() }))
  mount(app, contract.createGatewayInvitation, async ({ body, raw, act }) => {
    const hub = pinnedHub(raw.headers)
    const made = await createInvitation(db, body, act)
    return { ...hub, ...made, command: await commandOf(made.code, raw.headers, hub) }
  })
  mount(
    app,
    contract.createGatewayLabels,
    async ({ body, raw, act }) => {
      const hub = pinnedHub(raw.headers)
      const labels: ResponseOf<typeof contract.createGatewayLabels>['labels'] = []
      for (const made of await createLabels(db, body, act))
        labels.push({ ...made, command: await commandOf(made.code, raw.headers, hub) })
      return { ...hub, labels }
    },
    { bodyLimitBytes: LABELS_BODY_LIMIT },
  )
  mount(app, contract.listArrivals, ({ query }) => listArrivals(db, query.of))
  mount(app, contract.revokeGatewayInvitation, ({ params, act }) => revokeInvitation(db, params.id, act))

  function pinnedHub(headers: IncomingHttpHeaders) {
    return { hubUrl: hubUrlOf(publicUrl, headers), hubFingerprint: fingerprint(identity.publicKey) }
  }

  async function commandOf(code: string, headers: IncomingHttpHeaders, hub: ReturnType<typeof pinnedHub>) {
    return (await downloads.command(headers, code)) ?? invitationCommand({ ...hub, code })
  }
}
