import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

test('npm ci leaves only the libraries of this platform, and works without any', () => {
  const folder = mkdtempSync(join(tmpdir(), 'platforms-'))
  const other = process.arch === 'x64' ? 'arm64' : 'x64'
  for (const path of ['aix/ppc64', `${process.platform}/${process.arch}`, `${process.platform}/${other}`])
    mkdirSync(join(folder, path), { recursive: true })
  try {
    const run = (at: string) => execFileSync(process.execPath, [join(ROOT, 'scripts/keep-one-platform.js'), at])
    run(folder)
    expect(readdirSync(folder, { recursive: true })).toEqual([process.platform, `${process.platform}/${process.arch}`])
    run(join(folder, 'none'))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
