import { listCertificates, renewCertificate } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import { recordRenewal, type Certificates } from './certificates.ts'

type Dependencies = { certificates: Certificates; clock: () => number }

export function certificateRoutes(app: FastifyInstance, { certificates, clock }: Dependencies): void {
  mount(app, listCertificates, () => certificates.list())

  mount(app, renewCertificate, ({ params, caller, sourceIp }) =>
    certificates.renew(params.id, (transaction) =>
      recordRenewal(transaction, params.id, {
        at: clock(),
        actor: caller.username,
        actorId: caller.userId,
        sourceIp,
      }),
    ),
  )
}
