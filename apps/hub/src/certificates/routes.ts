import { listCertificates, renewCertificate } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import { by } from '../facts/facts.ts'
import type { Certificates } from './certificates.ts'

export function certificateRoutes(app: FastifyInstance, { certificates }: { certificates: Certificates }): void {
  mount(app, listCertificates, () => certificates.list())
  mount(app, renewCertificate, ({ params, act }) => certificates.renew(params.id, by(act)))
}
