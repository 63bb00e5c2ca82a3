/** What the hub proves itself with: its certificates, and the identity that devices compare. */
import { X509Certificate } from 'node:crypto'
import { generateIdentitySeed, identityOfSeed } from '@hedgerow/enrolment'
import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/module.ts'
import { readOrCreateSecret } from '../database/secrets.ts'
import type { Base, Gives } from '../kernel/room.ts'
import { openCertificates } from './certificates.ts'
import { certificateRoutes } from './routes.ts'

export type Proofs = Gives<typeof open>

export async function open(hub: Base & Database) {
  const identity = identityOfSeed(await readOrCreateSecret(hub.db, 'identity-seed', generateIdentitySeed))
  const certificates = await openCertificates(hub)
  const hasHttps = hub.config.httpsPort !== undefined
  return {
    gives: {
      identity,
      certificates,
      tlsCertificate: hasHttps ? () => new X509Certificate(certificates.current().cert) : undefined,
    },
    routes: (app: FastifyInstance) => certificateRoutes(app, { certificates }),
    stop: certificates.stop,
  }
}
