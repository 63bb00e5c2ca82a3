import { createHash, generateKeyPairSync } from 'node:crypto'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signText, type Release } from '@hedgerow/releases'

/** Puts a release of the agent for `linux-arm64` into a hub's folder of downloads. */
export function putRelease(folder: string, { version, number }: Pick<Release, 'version' | 'number'>): void {
  const name = `hedgerow-gateway-${version}-linux-arm64.tar.xz`
  const archive = Buffer.from(`archive of ${version}`)
  writeFileSync(join(folder, name), archive)
  const sha256 = createHash('sha256').update(archive).digest('hex')
  const file = {
    product: 'hedgerow-gateway' as const,
    platform: 'linux-arm64',
    name,
    size: archive.length,
    sha256,
  }
  const times = { createdAt: '2026-11-22T10:00:00Z', expiresAt: '2027-11-22T10:00:00Z' }
  const { privateKey } = generateKeyPairSync('ed25519')
  const path = join(folder, 'release.json')
  const release: Release = { version, number, ...times, files: [file] }
  writeFileSync(path, signText('hedgerow release v1', JSON.stringify(release), [privateKey]))
  // Each release has a time of its own, as a copy would have it.
  utimesSync(path, number, number)
}
