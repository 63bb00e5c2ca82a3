/** The second step: the hub's keys, accounts, sessions and certificates. */
import { randomBytes } from 'node:crypto'
import { generateIdentitySeed, identityOfSeed } from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { ensureFirstAdmin } from '../accounts/first-admin.ts'
import { createPasswords } from '../accounts/passwords.ts'
import { createSessions } from '../accounts/sessions.ts'
import { openCertificates } from '../certificates/certificates.ts'
import { makePushKeys, type PushKeys } from '../notifications/web-push.ts'
import { createAlertLinks } from '../alerts/links.ts'
import { readOrCreateSecret } from '../database/secrets.ts'
import { endedSessions } from '../followers/sessions.ts'
import type { Base } from './base.ts'
import type { Storage } from './storage.ts'

export type Trust = Awaited<ReturnType<typeof openTrust>>

const randomSecret = () => randomBytes(32).toString('base64')

export async function openTrust(
  { config, log, clock, hashing }: Base,
  { db, facts }: Storage,
  stack: AsyncDisposableStack,
) {
  const passwords = createPasswords({ hashing })
  const firstAdmin = await ensureFirstAdmin(db, passwords, config.admin)
  const secret = await readOrCreateSecret(db, 'token-secret', randomSecret)
  const sessions = createSessions({ db, secret, clock, log })
  stack.defer(sessions.stop)
  facts.follow(endedSessions(sessions))
  const certificates = await openCertificates({ db, config, clock, log })
  stack.defer(certificates.stop)
  return {
    passwords,
    firstAdmin,
    sessions,
    certificates,
    twoFactorKey: await readOrCreateSecret(db, 'two-factor-key', randomSecret),
    channelKey: await readOrCreateSecret(db, 'channel-key', randomSecret),
    pushKeys: JSON.parse(await readOrCreateSecret(db, 'push-keys', () => JSON.stringify(makePushKeys()))) as PushKeys,
    alertLinks: createAlertLinks({ key: await readOrCreateSecret(db, 'alert-link-key', randomSecret), clock }),
    identity: identityOfSeed(await readOrCreateSecret(db, 'identity-seed', generateIdentitySeed)),
    vpnPrivateKey: await readOrCreateSecret(db, 'wireguard-private-key', () => generateKeyPair().privateKey),
  }
}
