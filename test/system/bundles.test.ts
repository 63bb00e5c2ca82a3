import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { readRelease, type Release } from '@hedgerow/releases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAgent } from '../harness/agent.ts'
import { startHub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

/** `npm run release` for this machine's platform, without the compression, and what it makes started for real. */
const ROOT = join(import.meta.dirname, '../..')
const platform = `linux-${process.arch}`
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-bundles-'))
const [keys, made, again] = ['keys', 'made', 'again'].map((name) => join(folder, name)) as [string, string, string]
let release: Release

const command = (...args: string[]): string =>
  execFileSync(process.execPath, [join(ROOT, 'scripts/bundles/release.ts'), ...args], { cwd: ROOT, encoding: 'utf8' })
const options = ['--compression', 'none', '--platforms', platform, '--keys', keys]
/** Where a product is, unpacked. */
const unpacked = (product: string): string => join(folder, `${product}-${release.version}-${platform}`)

beforeAll(() => {
  command('keys', keys)
  command(...options, '--into', made)
  const [rootKeys, seen] = [[readFileSync(join(keys, 'root.pub'), 'utf8').trim()], { keys: 1, release: 1 }]
  const files = {
    keys: readFileSync(join(made, 'keys.json'), 'utf8'),
    release: readFileSync(join(made, 'release.json'), 'utf8'),
  }
  const answer = readRelease(files, { rootKeys, seen, now: Date.now() })
  if (!answer.ok) throw new Error(answer.message)
  release = answer.release
  for (const { name } of release.files) execFileSync('tar', ['-xf', join(made, name), '-C', folder])
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a release', () => {
  it('is signed, and names each archive with its size and hash', () => {
    expect(release.files.map(({ product }) => product)).toEqual(['hedgerow-hub', 'hedgerow-gateway'])
    for (const { name, size, sha256 } of release.files) {
      const bytes = readFileSync(join(made, name))
      expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([size, sha256])
    }
    execFileSync('sh', ['-c', 'sha256sum --check --strict SHA256SUMS'], { cwd: made })
  })

  it('has the same bytes when it is built again', () => {
    command(...options, '--into', again, '--products', 'hedgerow-gateway')
    const [built] = readdirSync(again).filter((name) => name.endsWith('.tar'))
    expect(readFileSync(join(again, built!)).equals(readFileSync(join(made, built!)))).toBe(true)
  })

  it.each(['hedgerow-hub', 'hedgerow-gateway'])('says what is in %s, and under which licences', (product) => {
    const bill = JSON.parse(readFileSync(join(unpacked(product), 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; hashes: { content: string }[]; licenses: { expression: string }[] }[]
    }
    const names = bill.components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['zod', 'sharp', `node-${platform}`]))
    for (const { name, hashes, licenses } of bill.components) {
      expect(hashes[0]?.content, name).toMatch(/^[0-9a-f]{128}$/)
      expect(licenses[0]?.expression, name).not.toBe('unknown')
    }
    const texts = readFileSync(join(unpacked(product), 'THIRD-PARTY.txt'), 'utf8')
    for (const name of names) expect(texts).toContain(`${name} `)
    // Only what this platform runs, and no sources.
    const files = readdirSync(join(unpacked(product), 'lib'), { recursive: true }) as string[]
    expect(files.filter((file) => /darwin|win32|musl/.test(file) || /^(apps|packages)\/.*\.ts$/.test(file))).toEqual([])
  })

  it('runs with no other Node: a gateway joins a hub, and each command names itself', async () => {
    const programs = {
      hub: join(unpacked('hedgerow-hub'), 'bin/hedgerow-hub'),
      gateway: join(unpacked('hedgerow-gateway'), 'bin/hedgerow-gateway'),
    }
    const system = { PATH: '/usr/bin:/bin' }
    const hub = await startHub({ command: [programs.hub], env: system })
    const dataDir = join(folder, 'device')
    const agent = await startAgent(dataDir, {
      command: [programs.gateway],
      args: ['--hub', hub.url, '--name', 'orchard'],
      env: system,
    })
    try {
      const request = await waitFor(async () => (await hub.api(listPendingRegistrations))[0], {
        for: 'the request of the gateway',
      })
      await hub.api(approveRegistration, { params: { registrationId: request.registrationId } })
      await waitFor(async () => (await hub.api(listGateways)).some(({ status }) => status === 'online'), {
        for: 'the gateway to be online',
      })
      const page = await fetch(`${hub.url}/login`)
      const devicePage = await fetch(`${agent.url}/device/sign-in`)
      for (const { status, headers } of [page, devicePage])
        expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    } finally {
      await agent.stop()
      await hub.stop()
    }
    for (const program of Object.values(programs)) {
      const name = program.split('/').at(-1)!
      expect(execFileSync(program, ['--help'], { env: system, encoding: 'utf8' })).toContain(`Usage: ${name} `)
    }
    expect(existsSync(join(dataDir, 'gateway.yaml'))).toBe(false)
  })
})
