import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDataDirectory, writeDurably } from '../kernel/durable-file.ts'
import { loadDeviceKeys } from './identity.ts'

let parent: string
let dataDir: string

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'hedgerow-keys-'))
  dataDir = join(parent, 'data')
  await makeDataDirectory(dataDir)
})

afterEach(() => rm(parent, { recursive: true, force: true }))

describe('the keys of a device', () => {
  test('are made at the first boot, readable by the owner only, and stay the same', async () => {
    const first = await loadDeviceKeys(dataDir, [])
    expect(first.deviceToken).toMatch(/^DT-[0-9A-F]{12}$/)
    expect(await modeOf(dataDir)).toBe(0o700)
    expect(await modeOf(join(dataDir, 'keys.json'))).toBe(0o600)
    const second = await loadDeviceKeys(dataDir, [])
    expect(second).toMatchObject({
      deviceToken: first.deviceToken,
      fingerprint: first.fingerprint,
      wireguardPublicKey: first.wireguardPublicKey,
    })
  })

  test('are refused at the start in a directory that others can write to', async () => {
    await chmod(dataDir, 0o777)
    await expect(makeDataDirectory(dataDir)).rejects.toThrow(`chmod 700 ${dataDir}`)
    await chmod(dataDir, 0o755)
    await makeDataDirectory(dataDir)
  })

  test('are refused at once in a directory below /proc, or below a file', async () => {
    await expect(makeDataDirectory('/proc/hedgerow/data')).rejects.toThrow('/proc/hedgerow')
    await loadDeviceKeys(dataDir, [])
    await expect(makeDataDirectory(join(dataDir, 'keys.json', 'data'))).rejects.toThrow('ENOTDIR')
  })

  test('are different on every device', async () => {
    const first = await loadDeviceKeys(dataDir, [])
    await rm(join(dataDir, 'keys.json'))
    const second = await loadDeviceKeys(dataDir, [])
    expect(second.deviceToken).not.toBe(first.deviceToken)
    expect(second.wireguardPublicKey).not.toBe(first.wireguardPublicKey)
    expect(second.fingerprint).not.toBe(first.fingerprint)
  })

  test('get their file mode back after a copy that opened them to others', async () => {
    await loadDeviceKeys(dataDir, [])
    await chmod(join(dataDir, 'keys.json'), 0o644)
    await loadDeviceKeys(dataDir, [])
    expect(await modeOf(join(dataDir, 'keys.json'))).toBe(0o600)
  })

  test.each([
    ['torn', (text: string) => text.slice(0, 40)],
    ['empty', () => ''],
    ['with a short key', (text: string) => text.replace(/"identitySeed": ".{8}/, '"identitySeed": "')],
    ['with another token', (text: string) => text.replace('DT-', 'XX-')],
  ])('that are %s are refused with the file’s name; they are neither shown nor replaced', async (_, damage) => {
    await loadDeviceKeys(dataDir, [])
    const path = join(dataDir, 'keys.json')
    const text = await readFile(path, 'utf8')
    const damaged = damage(text)
    await writeFile(path, damaged)
    const refusal: unknown = await loadDeviceKeys(dataDir, []).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Error)
    expect(String(refusal)).toContain(path)
    for (const secret of Object.values<string>(JSON.parse(text))) expect(String(refusal)).not.toContain(secret)
    expect(await readFile(path, 'utf8')).toBe(damaged)
  })
})

test('a durable write replaces the leftover of a crashed one', async () => {
  const path = join(dataDir, 'file.json')
  await writeFile(`${path}.tmp`, 'half a wri', { mode: 0o644 })
  await writeDurably(path, 'whole')
  expect(await readFile(path, 'utf8')).toBe('whole')
  expect(await modeOf(path)).toBe(0o600)
  await expect(stat(`${path}.tmp`)).rejects.toThrow('ENOENT')
})
