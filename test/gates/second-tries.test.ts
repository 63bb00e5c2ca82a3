import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const WITH_RETRY = /\bretry: *(?:[1-9]\b|\{)/

it('no test is tried again: one that fails now and then is mended', () => {
  const listed = ['ls-files', '-co', '--exclude-standard', '*.test.ts', '*.test.tsx', '*config.ts']
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => WITH_RETRY.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
