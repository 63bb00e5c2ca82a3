import { listCertificates, renewCertificate } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import { actorOf } from '../facts/facts.ts'
import type { Certificates } from './certificates.ts'

export function certificateRoutes(app: FastifyInstance, { certificates }: { certificates: Certificates }): void {
  mount(app, listCertificates, () => certificates.list())
  mount(app, renewCertificate, ({ params, caller, sourceIp }) =>
    certificates.renew(params.id, actorOf({ caller, sourceIp })),
  )
}
