import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { inWords } from './failure.ts'
import { openSqliteFile } from './sqlite-file.ts'
import { isOfTheDevice } from './startup-error.ts'

test('a file for which there is no room is named, with the code of a full disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'detections.sqlite')
  const open = () =>
    openSqliteFile(
      path,
      'pragma max_page_count = 1; create table one (id); create table two (id)',
      pino({ level: 'silent' }),
    )
  let error: unknown
  try {
    open()
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ code: 'ENOSPC', path })
  expect(inWords(error)).toBe('the disk is full')
  expect(isOfTheDevice(error)).toBe(true)
})
