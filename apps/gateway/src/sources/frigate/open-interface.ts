import { z } from 'zod'
import { createPause } from '../../kernel/backoff.ts'
import { createFrigateClient } from './client.ts'
import { readMessage } from './messages.ts'
import { frigateSettings, type FrigateSettings } from './schema.ts'

const ASK_EVERY_MS = 3_600_000
const profile = z.object({ role: z.string() })

/** Frigate's port without sign-in. */
const OPEN_PORT = '5000'

/**
 * Finds the applications at `origins` that make everybody who opens them an admin of Frigate, as Frigate does on port
 * 5000. Checked at the start, every hour, and at each `look`, without credentials.
 */
export function watchOpenInterfaces(
  origins: () => readonly URL[],
  settings: () => FrigateSettings | undefined,
): { problems(): string[]; look(): void; stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const rest = createPause(signal)
  let open: readonly string[] = []

  async function isOpen(origin: URL): Promise<boolean> {
    const { certificateFingerprint } = settings() ?? {}
    const stranger = frigateSettings.parse({ url: origin.origin, certificateFingerprint })
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
      const asked = origins()
      const answers = await Promise.all(asked.map(isOpen))
      open = asked.filter((_origin, index) => answers[index]).map(({ origin }) => origin)
      await rest.pause(ASK_EVERY_MS)
    }
  }

  const done = run()
  return {
    problems: () =>
      open.map(
        (origin) =>
          `Everybody who opens ${origin} through the hub is an admin of Frigate there: use port 8971 and proxySecret.`,
      ),
    look: rest.wake,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

/** For `gateway check`: addresses that make everybody an admin, found without any request. One sentence each. */
export function openAddresses(settings: FrigateSettings | undefined, applications: readonly URL[]): string[] {
  const isOpen = ({ protocol, port }: URL) => protocol === 'http:' && port === OPEN_PORT
  const own = settings?.interface === undefined ? [] : [new URL(settings.interface)]
  const shown = new Set([...applications, ...own].filter(isOpen).map(({ origin }) => origin))
  if (shown.size > 0)
    return [...shown].map(
      (origin) =>
        `If Frigate answers at ${origin}, everybody who opens it through the hub is an admin there. Use its port 8971 with proxySecret.`,
    )
  if (settings && isOpen(new URL(settings.url)))
    return [
      `${settings.url} is Frigate's port without sign-in: everybody who reaches it is an admin. Allow only this device to reach it.`,
    ]
  return []
}
