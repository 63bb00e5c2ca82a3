/** What the hub proves itself with: its certificates, and the identity that devices compare. */
import { X509Certificate } from 'node:crypto'
import { listCertificates, renewCertificate } from '@hedgerow/contract'
import { generateIdentitySeed, identityOfSeed } from '@hedgerow/enrolment'
import { readOrCreateSecret } from '../database/secrets.ts'
import { by } from '../facts/facts.ts'
import type { App, Gives, Ground } from '../facts/room.ts'
import { mount } from '../http/mount.ts'
import { openCertificates } from './certificates.ts'

export type Proofs = Gives<typeof open>

export async function open(hub: Ground) {
  const identity = identityOfSeed(await readOrCreateSecret(hub.db, 'identity-seed', generateIdentitySeed))
  const certificates = await openCertificates(hub)
  const hasHttps = hub.config.httpsPort !== undefined
  return {
    gives: {
      identity,
      certificates,
      tlsCertificate: hasHttps ? () => new X509Certificate(certificates.current().cert) : undefined,
    },
    routes(app: App) {
      mount(app, listCertificates, () => certificates.list())
      mount(app, renewCertificate, ({ params, act }) => certificates.renew(params.id, by(act)))
    },
    stop: certificates.stop,
  }
}
