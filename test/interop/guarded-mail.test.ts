import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startChild } from '../harness/child-process.ts'
import { skipWithout } from '../harness/privileges.ts'

/** Public, and in this network namespace the machine's own; nothing leaves it. */
const ADDRESS = '192.88.98.25'
const SCRIPT = join(import.meta.dirname, 'guarded-mail.ts')

test.skipIf(skipWithout('mail through the guard of channels', 'root', 'command unshare', 'command ip'))(
  'mail set up in the portal goes to a public server with STARTTLS, and to none whose certificate nobody signed',
  { timeout: 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-mail-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const network = `ip link set lo up && ip address add ${ADDRESS}/32 dev lo && exec "$0" "$@"`
    const child = await startChild('unshare', ['--net', 'sh', '-c', network, process.execPath, SCRIPT, ADDRESS, folder])
    onTestFinished(async () => void (await child.stop()))
    const [, told = ''] = await child.says(/^told: (.*)$/m, 100_000)
    expect(JSON.parse(told)).toEqual({
      known: {
        status: 'sent',
        message: 'The mail server took it.',
        mails: [{ to: ['owner@example.org'], isEncrypted: true }],
      },
      unknown: { status: 'failed', message: 'The mail server could not be reached.', mails: [] },
    })
  },
)
