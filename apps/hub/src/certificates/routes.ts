import { listCertificates, renewCertificate } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { writeAudit } from '../audit/audit.ts'
import { mount } from '../http/mount.ts'
import type { Certificates } from './certificates.ts'

export function certificateRoutes(app: FastifyInstance, { certificates }: { certificates: Certificates }): void {
  mount(app, listCertificates, () => certificates.list())

  mount(app, renewCertificate, ({ params, caller, sourceIp }) =>
    certificates.renew(params.id, (transaction) =>
      writeAudit(transaction, {
        actor: caller.username,
        actorId: caller.userId,
        action: 'certificate.renew',
        target: params.id,
        sourceIp,
        result: 'ok',
      }),
    ),
  )
}
