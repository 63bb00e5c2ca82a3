import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from './read-config.ts'
import { explainStartupError } from './startup-errors.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hub-startup-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const errorOf = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test('a missing page is not blamed on the database', () => {
  const config = readConfig({ HUB_SITE_DIR: join(folder, 'site'), HUB_DATA_DIR: join(folder, 'data') })
  const page = join(folder, 'site', 'beta.html')
  expect(
    explainStartupError(
      errorOf(() => readFileSync(page)),
      config,
    ),
  ).toBe(`${page} cannot be read: ENOENT. Build the pages again with "npm run build".`)
  writeFileSync(join(folder, 'data'), 'a file')
  expect(
    explainStartupError(
      errorOf(() => mkdirSync(join(folder, 'data', 'backups'))),
      config,
    ),
  ).toBe('The database file cannot be used (HUB_DATA_DIR): ENOTDIR')
})

test('a file that a command was told to write is not blamed on the database', () => {
  const config = readConfig({ HUB_DATA_DIR: join(folder, 'data') })
  const said = (act: () => unknown) => explainStartupError(errorOf(act), config)
  const [file, elsewhere] = [join(folder, 'support.json'), join(folder, 'none', 'support.json')]
  writeFileSync(file, '')
  expect(said(() => writeFileSync(file, '', { flag: 'wx' }))).toBe(`${file} exists already. Name a new file.`)
  expect(said(() => writeFileSync(elsewhere, ''))).toBe(`${elsewhere} cannot be used: ENOENT`)
  mkdirSync(join(folder, 'data'))
  const inside = join(folder, 'data', 'support.json')
  writeFileSync(inside, '')
  expect(said(() => writeFileSync(inside, '', { flag: 'wx' }))).toBe(`${inside} exists already. Name a new file.`)
})
