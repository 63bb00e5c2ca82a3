import { createFrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'
import { frigateSettings } from './schema.ts'

export type FoundFrigate = {
  /** In the form of `sources.frigate.url`. */
  url: string
  /** Undefined when Frigate shows it only to signed-in people. */
  version: string | undefined
  needsSignIn: boolean
}

/** Frigate's ports on this device: the one without sign-in, and the one with it. */
const USUAL = ['http://127.0.0.1:5000', 'https://127.0.0.1:8971']
const TIMEOUT_MS = 3_000
const VERSION_BYTES_MAX = 200
const PAGE_BYTES_MAX = 64 * 1024

/** The Frigates that answer at these origins, in their order. Other programs are left out; never rejects. */
export async function findFrigate(origins: readonly string[] = USUAL): Promise<FoundFrigate[]> {
  const found = await Promise.all(origins.map(look))
  return found.filter((one) => one !== undefined)
}

async function look(url: string): Promise<FoundFrigate | undefined> {
  const client = createFrigateClient(frigateSettings.parse({ url }), Date.now)
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const text = await client.read('/api/version', { signal, maxBytes: VERSION_BYTES_MAX })
    const version = /^\d+\.\d+[\w.-]{0,50}$/.exec(text.toString('latin1').trim())?.[0]
    return version === undefined ? undefined : { url, version, needsSignIn: false }
  } catch (error) {
    if (!(error instanceof FrigateError) || error.status !== 401) return undefined
  }
  try {
    const page = await client.read('/login', { signal, maxBytes: PAGE_BYTES_MAX })
    return /<title>Frigate<\/title>/i.test(page.toString('latin1'))
      ? { url, version: undefined, needsSignIn: true }
      : undefined
  } catch {
    return undefined
  }
}
