import { z } from 'zod'
import { createPause } from '../../hub/backoff.ts'
import { createFrigateClient } from './client.ts'
import { readMessage } from './messages.ts'
import { frigateSettings, type FrigateSettings } from './schema.ts'

const ASK_EVERY_MS = 3_600_000
const profile = z.object({ role: z.string() })

/** Frigate's port without sign-in. */
const OPEN_PORT = '5000'

/**
 * Whether everybody who opens the application at `target` is an admin there: so it is on Frigate's port 5000. Checked
 * at the start and every hour, without credentials.
 */
export function watchOpenInterface(
  target: URL,
  settings: () => FrigateSettings | undefined,
): { problems(): string[]; stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const rest = createPause(signal)
  let isOpen = false

  async function ask(): Promise<boolean> {
    const { certificateFingerprint } = settings() ?? {}
    const stranger = frigateSettings.parse({ url: target.origin, certificateFingerprint })
    try {
      const read = readMessage(profile, await createFrigateClient(stranger, Date.now).read('/api/profile', { signal }))
      return read.problem === undefined && read.value.role === 'admin'
    } catch {
      // It is away, or requires sign-in.
      return false
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      isOpen = await ask()
      await rest.pause(ASK_EVERY_MS)
    }
  }

  const done = run()
  return {
    problems: () =>
      isOpen
        ? [
            `Everybody who opens ${target.origin} through the hub is an admin of Frigate there: use port 8971 and proxySecret.`,
          ]
        : [],
    async stop() {
      stopping.abort()
      await done
    },
  }
}

/** For `gateway check`: addresses that make everybody an admin, without any request. A sentence each. */
export function openAddresses(settings: FrigateSettings | undefined, target: URL | undefined): string[] {
  const isOpen = (url: URL | undefined) => url?.protocol === 'http:' && url.port === OPEN_PORT
  const shown = [target, settings?.interface === undefined ? undefined : new URL(settings.interface)].find(isOpen)
  if (shown)
    return [
      `If Frigate answers at ${shown.origin}, everybody who opens it through the hub is an admin there. Use its port 8971 with proxySecret.`,
    ]
  if (settings && isOpen(new URL(settings.url)))
    return [
      `${settings.url} is Frigate's port without sign-in: whoever reaches it is an admin. Let nobody but this device reach it.`,
    ]
  return []
}
