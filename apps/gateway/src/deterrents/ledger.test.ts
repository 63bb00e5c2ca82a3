import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLedger } from './ledger.ts'
import type { NewLedgerEntry } from './ledger-entry.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'))
})
afterEach(() => rm(folder, { recursive: true }))

const entry = (message = ''): NewLedgerEntry => ({ at: 1, kind: 'armed', message })
const ids = (entries: { id: number }[]) => entries.map(({ id }) => id)

test('entries count up, over restarts too, and are read from either end', async () => {
  const first = await openLedger(folder)
  await Promise.all([first.append(entry()), first.append(entry())])
  await first.close()
  const second = await openLedger(folder)
  expect((await second.append(entry())).id).toBe(3)
  expect(ids(await second.newest({ limit: 2 }))).toEqual([3, 2])
  expect(ids(await second.newest({ before: 2, limit: 2 }))).toEqual([1])
  expect(ids(await second.after(1, 10))).toEqual([2, 3])
  await second.close()
})

test('a line that a crash tore is left out, and what follows it is whole', async () => {
  const first = await openLedger(folder)
  await first.append(entry())
  await first.close()
  const [file] = await readdir(folder)
  await appendFile(join(folder, file!), '{"id":2,"at":1,"ki')
  const second = await openLedger(folder)
  expect((await second.append(entry())).id).toBe(2)
  expect(ids(await second.newest({ limit: 10 }))).toEqual([2, 1])
  await second.close()
})

test('it takes a bounded room, and the oldest entries go first', async () => {
  const ledger = await openLedger(folder)
  for (let count = 0; count < 300; count++) await ledger.append(entry('x'.repeat(30_000)))
  expect((await readdir(folder)).length).toBeLessThanOrEqual(16)
  const kept = ids(await ledger.after(0, 1_000))
  expect(kept.at(-1)).toBe(300)
  expect(kept[0]).toBeGreaterThan(1)
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => kept[0]! + index))
  await ledger.close()
})

test('after its folder vanished it goes on counting, and what comes back is read again', async () => {
  const ledger = await openLedger(folder)
  await ledger.append(entry())
  await rename(folder, `${folder}-away`)
  expect((await ledger.append(entry())).id).toBe(2)
  expect(ids(await ledger.newest({ limit: 10 }))).toEqual([2])
  await rm(folder, { recursive: true })
  expect(await ledger.after(0, 10)).toEqual([])
  await rm(folder, { recursive: true })
  await rename(`${folder}-away`, folder)
  expect((await ledger.append(entry())).id).toBe(3)
  expect(ids(await ledger.newest({ limit: 10 }))).toEqual([3, 1])
  await ledger.close()
  const again = await openLedger(folder)
  expect(ids(await again.after(0, 10))).toEqual([1, 3])
  await again.close()
})

test('an appended entry is there after the process was killed', async () => {
  const source = pathToFileURL(join(import.meta.dirname, 'ledger.ts')).href
  const script = `import { openLedger } from ${JSON.stringify(source)}
    const ledger = await openLedger(${JSON.stringify(folder)})
    for (;;) process.stdout.write((await ledger.append({ at: 1, kind: 'armed' })).id + '\\n')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.split('\n').length > 20) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const last = Number(said.trim().split('\n').at(-1))
  const ledger = await openLedger(folder)
  const kept = ids(await ledger.after(0, 10_000))
  expect(kept.slice(0, last)).toEqual(Array.from({ length: last }, (_, index) => index + 1))
  await ledger.close()
})
