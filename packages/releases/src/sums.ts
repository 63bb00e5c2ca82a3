import type { ReleaseKeys } from './keys.ts'
import { isSigned } from './signed.ts'

/**
 * SHA256SUMS of a release, which has packages and images too: hash by file name. Undefined unless one of the release
 * keys has signed the file. `signature` is Ed25519 over the bytes of the file, as openssl makes and checks it.
 */
export function readSums(
  files: { sums: Buffer; signature: Buffer },
  { keys }: ReleaseKeys,
): ReadonlyMap<string, string> | undefined {
  if (!isSigned(files.sums, files.signature, keys)) return undefined
  const lines = [...files.sums.toString().matchAll(/^([0-9a-f]{64}) {2}([a-z0-9][\w.~-]{0,127})$/gm)]
  return new Map(lines.map(([, sha256, name]) => [name!, sha256!]))
}
