import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ConfigError } from '../config.ts'
import { openDatabase } from './database.ts'
import { lockDatabase } from './lock.ts'

let parent: string
let folder: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'hub-private-'))
  folder = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

const url = () => `sqlite:${join(folder, 'hub.sqlite')}`
const modeOf = (path: string) => statSync(path).mode & 0o777

test.each([0o777, 0o707, 0o702])('a data folder of mode %o is refused with advice', async (mode) => {
  mkdirSync(folder)
  chmodSync(folder, mode)
  await expect(lockDatabase(url())).rejects.toThrow(ConfigError)
  await expect(openDatabase({ url: url() })).rejects.toThrow(`chmod 700 ${folder}`)
  chmodSync(folder, 0o700)
  await (await openDatabase({ url: url() })).close()
})

test.each([0o700, 0o750, 0o755, 0o775])('one of mode %o is accepted', async (mode) => {
  mkdirSync(folder)
  chmodSync(folder, mode)
  await (await lockDatabase(url())).release()
  await (await openDatabase({ url: url() })).close()
  expect(modeOf(folder)).toBe(mode)
})

test('the hub’s files are private, and a readable database is closed to others', async () => {
  const file = join(folder, 'hub.sqlite')
  mkdirSync(folder)
  writeFileSync(file, '')
  chmodSync(file, 0o644)
  await (await openDatabase({ url: url() })).close()
  expect(modeOf(file)).toBe(0o600)
  const fresh = join(parent, 'fresh')
  await (await openDatabase({ url: `sqlite:${join(fresh, 'hub.sqlite')}` })).close()
  expect([modeOf(fresh), modeOf(join(fresh, 'hub.sqlite'))]).toEqual([0o700, 0o600])
})

test('a folder below /proc, or below a file, is refused at once', async () => {
  writeFileSync(join(parent, 'file'), '')
  await expect(openDatabase({ url: 'sqlite:/proc/hedgerow/data/hub.sqlite' })).rejects.toThrow('/proc/hedgerow')
  await expect(openDatabase({ url: `sqlite:${join(parent, 'file/data/hub.sqlite')}` })).rejects.toThrow('ENOTDIR')
})
