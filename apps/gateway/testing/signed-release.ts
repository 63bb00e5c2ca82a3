import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rawPublicKey, signText, type Release, type ReleaseFile } from '@hedgerow/releases'

const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey
const DAY_MS = 86_400_000

export const PLATFORM = `${process.platform}-${process.arch}`

/** A small version in a directory: a program that runs `line`, and a file that says which version it is. */
export function writeVersion(directory: string, { number, line = 'exit 0' }: { number: number; line?: string }): void {
  mkdirSync(join(directory, 'bin'), { recursive: true })
  writeFileSync(join(directory, 'version.json'), JSON.stringify({ version: `0.${number}.0`, number }))
  writeFileSync(join(directory, 'bin/hedgerow-gateway'), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
}

/** The files that a hub hands out: lists that new keys have signed, and a real archive. */
export function makeRelease(
  number: number,
  changes: { release?: Partial<Release>; file?: Partial<ReleaseFile>; line?: string; contains?: number } = {},
  keys: { root: KeyObject; release: KeyObject } = { root: newKey(), release: newKey() },
): { files: Map<string, Buffer>; rootKey: string; keys: typeof keys; name: string } {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-release-'))
  const name = `hedgerow-gateway-0.${number}.0-${PLATFORM}.tar.xz`
  writeVersion(join(folder, 'made'), {
    number: changes.contains ?? number,
    ...(changes.line !== undefined && { line: changes.line }),
  })
  execFileSync('tar', ['-cJf', 'archive', 'made'], { cwd: folder })
  const archive = readFileSync(join(folder, 'archive'))
  rmSync(folder, { recursive: true })
  const now = Date.now()
  const sha256 = createHash('sha256').update(archive).digest('hex')
  const file = {
    product: 'hedgerow-gateway' as const,
    platform: PLATFORM,
    name,
    size: archive.length,
    sha256,
    ...changes.file,
  }
  const release: Release = {
    version: `0.${number}.0`,
    number,
    createdAt: new Date(now - DAY_MS).toISOString(),
    expiresAt: new Date(now + DAY_MS).toISOString(),
    files: [file],
    ...changes.release,
  }
  const trusted = {
    number: 1,
    expiresAt: new Date(now + 10 * DAY_MS).toISOString(),
    keys: [rawPublicKey(keys.release)],
  }
  const files = new Map([
    ['keys.json', Buffer.from(signText('hedgerow release keys v1', JSON.stringify(trusted), [keys.root]))],
    ['release.json', Buffer.from(signText('hedgerow release v1', JSON.stringify(release), [keys.release]))],
    [name, archive],
  ])
  return { files, rootKey: rawPublicKey(keys.root), keys, name }
}
