import { z } from 'zod'
import { parseJson, readSigned } from './signed.ts'

/** The keys that may sign releases, as a root key signed them. `number` only grows; times are ISO 8601 in UTC. */
const releaseKeys = z.strictObject({
  number: z.int().min(1),
  expiresAt: z.iso.datetime(),
  keys: z.array(z.base64().length(44)).min(1).max(16),
})
export type ReleaseKeys = z.infer<typeof releaseKeys>

/** The keys in a file that one of the root keys has signed; undefined for any other file. */
export function readReleaseKeys(file: string, rootKeys: readonly string[]): ReleaseKeys | undefined {
  const text = readSigned('hedgerow release keys v1', file, rootKeys)
  return text === undefined ? undefined : releaseKeys.safeParse(parseJson(text)).data
}
