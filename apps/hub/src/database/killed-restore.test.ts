import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { backupDatabase, restoreDatabase } from './backup.ts'
import { openDatabase } from './database.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'

const dir = mkdtempSync(join(tmpdir(), 'hub-killed-restore-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A restore that is killed before one of its steps, the calls that change a file or query PostgreSQL. */
const KILLED = `
  import fs from 'node:fs'
  import { flushCompileCache, syncBuiltinESMExports } from 'node:module'
  import pg from 'pg'
  const [url, file, killedAt] = process.argv.slice(1)
  let steps = 0
  const counted = (call) => function (...args) {
    if (++steps === Number(killedAt)) process.kill(process.pid, 'SIGKILL')
    return call.apply(this, args)
  }
  for (const name of ['copyFileSync', 'chmodSync', 'linkSync', 'renameSync', 'rmSync', 'fsyncSync'])
    fs[name] = counted(fs[name])
  syncBuiltinESMExports()
  pg.Client.prototype.query = counted(pg.Client.prototype.query)
  const { restoreDatabase } = await import(${JSON.stringify(join(import.meta.dirname, 'backup.ts'))})
  // Whoever is killed writes no cache at its end, and the next of them compiles everything again.
  flushCompileCache()
  await restoreDatabase(url, file)`

async function restoreKilledAt(step: number, url: string, file: string): Promise<boolean> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', KILLED, url, file, String(step)], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(dir, 'compiled') },
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  expect([code, signal]).toBeOneOf([
    [0, null],
    [null, 'SIGKILL'],
  ])
  return signal !== null
}

describe.each(testEngines)('a restore that is killed on %s', (engine) => {
  test('leaves all of the old database or all of the new one, killed at any step', { timeout: 300_000 }, async () => {
    const { url, remove } = await createTestDatabase(engine)
    const names = Array.from({ length: 50 }, (_, i) => `row ${i}`)
    const fill = async (value: string) => {
      const { db, close } = await openDatabase({ url })
      await db.deleteFrom('settings').execute()
      await db
        .insertInto('settings')
        .values(names.map((name) => ({ name, value })))
        .execute()
      await close()
    }
    await fill('new')
    // A second try has a file of its own.
    const file = join(mkdtempSync(join(dir, 'try-')), 'backup')
    await backupDatabase(url, file)
    await fill('old')
    const values = async () => {
      const { db, close } = await openDatabase({ url, mayMigrate: false })
      const rows = await db.selectFrom('settings').select('value').execute()
      await close()
      expect(rows).toHaveLength(names.length)
      return [...new Set(rows.map(({ value }) => value))]
    }
    // PostgreSQL gets many queries, all in one transaction.
    const stride = engine === 'postgres' ? 13 : 1
    let killed = 0
    for (let step = 1; await restoreKilledAt(step, url, file); step += stride) {
      killed++
      expect(await values()).toBeOneOf([['old'], ['new']])
    }
    expect(killed).toBeGreaterThan(5)
    expect(await values()).toEqual(['new'])
    await remove()
  })
})

test('a damaged database is replaced too, and kept as it was', async () => {
  const { url, remove } = await createTestDatabase('sqlite')
  const path = url.slice('sqlite:'.length)
  await (await openDatabase({ url })).close()
  const file = join(dir, 'sound.backup')
  await backupDatabase(url, file)
  writeFileSync(path, 'no database at all')
  appendFileSync(`${path}-wal`, 'nor is this a log')
  const { replaced } = await restoreDatabase(url, file)
  expect(replaced).toContain(path)
  await (await openDatabase({ url, mayMigrate: false })).close()
  await remove()
})
