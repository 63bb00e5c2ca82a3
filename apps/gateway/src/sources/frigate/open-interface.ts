import { z } from 'zod'
import { createPause } from '../../kernel/backoff.ts'
import { createFrigateClient } from './client.ts'
import { readMessage } from './messages.ts'
import { frigateSettings, type FrigateSettings } from './schema.ts'

const ASK_EVERY_MS = 3_600_000
const profile = z.object({ role: z.string() })

/** Frigate's port without sign-in. */
const OPEN_PORT = '5000'

type Application = { name: string; url: URL }

/**
 * Finds the applications that make everybody who opens them an admin of Frigate, as Frigate does on port
 * 5000. Checked at the start, every hour, and at each `look`, without credentials.
 */
export function watchOpenInterfaces(
  applications: () => readonly Application[],
  settings: () => FrigateSettings | undefined,
): { problems(): string[]; look(): void; stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const rest = createPause(signal)
  let open: readonly string[] = []

  async function isOpen({ url }: Application): Promise<boolean> {
    const { certificateFingerprint } = settings() ?? {}
    const stranger = frigateSettings.parse({ url: url.origin, certificateFingerprint })
    try {
      const read = readMessage(profile, await createFrigateClient(stranger, Date.now).read('/api/profile', { signal }))
      return read.problem === undefined && read.value.role === 'admin'
    } catch {
      // It does not answer, requires sign-in, or is another application.
      return false
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const offered = applications()
      const answers = await Promise.all(offered.map(isOpen))
      open = offered.filter((_one, index) => answers[index]).map(({ name }) => name)
      await rest.pause(ASK_EVERY_MS)
    }
  }

  const done = run()
  return {
    problems: () =>
      open.map(
        (name) =>
          `Everybody who opens the application ${name} through the hub is an admin of Frigate there: use port ` +
          '8971 and proxySecret.',
      ),
    look: rest.wake,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

/** For `gateway check`: addresses that make everybody an admin, found without any request. One sentence each. */
export function openAddresses(settings: FrigateSettings | undefined, applications: readonly Application[]): string[] {
  const isOpen = ({ protocol, port }: URL) => protocol === 'http:' && port === OPEN_PORT
  const shown = applications.flatMap(({ name, url }) => (isOpen(url) ? [`the application ${name}`] : []))
  if (settings?.interface !== undefined && isOpen(new URL(settings.interface)))
    shown.push('`sources.frigate.interface`')
  if (shown.length > 0)
    return shown.map(
      (what) =>
        `If Frigate answers at the address of ${what}, everybody who opens it through the hub is an admin there. ` +
        'Use its port 8971 with proxySecret.',
    )
  if (settings && isOpen(new URL(settings.url)))
    return [
      "This is Frigate's port without sign-in: everybody who reaches it is an admin. Allow only this device to " +
        'reach it.',
    ]
  return []
}
