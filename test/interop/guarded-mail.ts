/**
 * A hub in a network of its own, in which an address of the Internet is this machine: prints what the portal says of
 * mail through a server there that offers STARTTLS, and what the server got.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { editAutoApprovalSettings, editChannelSetup, sendTestNotification } from '@hedgerow/contract'
import { startMailServer } from '../../apps/hub/testing/mail-server.ts'
import { makeSelfSigned } from '../harness/frigate-certificate.ts'
import { startHub } from '../harness/hub.ts'

const [address = '', folder = ''] = process.argv.slice(2)
const signIn = { username: 'hub@example.net', password: 'over TLS only' }
const [known, unknown] = [await makeSelfSigned(address), await makeSelfSigned(address)]
const trusted = join(folder, 'trusted.pem')
await writeFile(trusted, known.cert)
const servers = {
  known: await startMailServer(signIn, { certificate: known, address }),
  unknown: await startMailServer(signIn, { certificate: unknown, address }),
}
const hub = await startHub({ env: { NODE_EXTRA_CA_CERTS: trusted } })
await hub.api(editAutoApprovalSettings, { body: { notificationEmail: 'owner@example.org' } })
const told: Record<string, unknown> = {}
for (const [name, { url, mails }] of Object.entries(servers)) {
  const values = { url, ...signIn, from: 'hub@example.net' }
  await hub.api(editChannelSetup, { params: { name: 'email' }, body: { enabled: true, values } })
  const { channels } = await hub.api(sendTestNotification, { query: { channel: 'email' } })
  told[name] = { ...channels['email'], mails: mails.map(({ to, isEncrypted }) => ({ to, isEncrypted })) }
}
console.log(`told: ${JSON.stringify(told)}`)
await hub.stop()
for (const server of Object.values(servers)) await server.stop()
await rm(trusted)
