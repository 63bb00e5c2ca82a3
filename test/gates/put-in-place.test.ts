import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { putInPlace } from '../../scripts/put-in-place.ts'

test('of folders that several programs put in one place, one whole one is there and nothing else', async () => {
  const root = mkdtempSync(join(tmpdir(), 'put-in-place-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const make = (name: string) => {
    const folder = join(root, name)
    mkdirSync(folder)
    for (const part of ['a', 'b', 'c']) writeFileSync(join(folder, part), name)
    return folder
  }
  const place = join(root, 'dist')
  await putInPlace(make('first'), place)
  await Promise.all(Array.from({ length: 20 }, (_, at) => putInPlace(make(`made ${at}`), place)))
  expect(readdirSync(root)).toEqual(['dist'])
  expect(readdirSync(place)).toEqual(['a', 'b', 'c'])
})
