import { z } from 'zod'
import { readReleaseKeys, type ReleaseKeys } from './keys.ts'
import { parseJson, readSigned, unsignedText } from './signed.ts'

const releaseFile = z.strictObject({
  product: z.enum(['hedgerow-hub', 'hedgerow-gateway']),
  /** Operating system and processor in Node's words, `linux-arm64` for one. */
  platform: z.string().regex(/^(linux|darwin|win32)-(x64|arm64)$/),
  name: z.string().regex(/^[a-z0-9][\w.-]{0,127}$/),
  /** Bytes. */
  size: z
    .int()
    .min(1)
    .max(1024 ** 3),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type ReleaseFile = z.infer<typeof releaseFile>

/** One version of everything. `number` only grows, whatever the version is called; times are ISO 8601 in UTC. */
const release = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]{1,32})?$/),
  number: z.int().min(1),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  files: z.array(releaseFile).min(1).max(64),
})
export type Release = z.infer<typeof release>

export type ReleaseRefusal = 'keys-not-signed' | 'keys-older' | 'keys-expired' | 'not-signed' | 'older' | 'expired'

const SENTENCES: Record<ReleaseRefusal, string> = {
  'keys-not-signed': 'No root key that is known here has signed the list of release keys.',
  'keys-older': 'The list of release keys is older than one that was seen here.',
  'keys-expired': 'The list of release keys has expired.',
  'not-signed': 'None of the release keys has signed the release.',
  older: 'The release is older than one that was accepted here.',
  expired: 'The release has expired.',
}

/** The highest numbers that were accepted here. */
export type Seen = { keys: number; release: number }

export type ReleaseAnswer =
  | { ok: true; release: Release; keys: ReleaseKeys }
  | {
      ok: false
      code: ReleaseRefusal
      message: string
      /** A list of keys that a root key signed, and no older one: whoever sees it must never accept an older one. */
      keys?: ReleaseKeys
    }

/** Returns a trusted release, or the reason for refusing it. `now` is in milliseconds since 1970. */
export function readRelease(
  files: { keys: string; release: string },
  trusted: { rootKeys: readonly string[]; seen: Seen; now: number },
): ReleaseAnswer {
  const { rootKeys, seen, now } = trusted
  const keys = readReleaseKeys(files.keys, rootKeys)
  if (!keys) return refused('keys-not-signed')
  if (keys.number < seen.keys) return refused('keys-older')
  if (Date.parse(keys.expiresAt) <= now) return refused('keys-expired', keys)
  const text = readSigned('hedgerow release v1', files.release, keys.keys)
  const read = text === undefined ? undefined : release.safeParse(parseJson(text)).data
  if (!read) return refused('not-signed', keys)
  if (read.number < seen.release) return refused('older', keys)
  if (Date.parse(read.expiresAt) <= now) return refused('expired', keys)
  return { ok: true, release: read, keys }
}

const refused = (code: ReleaseRefusal, keys?: ReleaseKeys): ReleaseAnswer => ({
  ok: false,
  code,
  message: SENTENCES[code],
  ...(keys && { keys }),
})

/** The release that a file names, without checking its signatures: for a server that trusts the folder. */
export function namedRelease(file: string): Release | undefined {
  const text = unsignedText(file)
  return text === undefined ? undefined : release.safeParse(parseJson(text)).data
}
