import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { backupDatabase, restoreDatabase } from './backup.ts'
import { openDatabase } from './database.ts'
import type { Engine } from './engine.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'

const dir = mkdtempSync(join(tmpdir(), 'hub-killed-restore-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** The calls that change a file. */
const STEPS = ['copyFileSync', 'chmodSync', 'linkSync', 'renameSync', 'rmSync', 'fsyncSync'] as const

/**
 * Restores a SQLite database; before each step copies the folder of the database, which is what a kill at that moment
 * leaves. Returns the addresses of the copies.
 */
async function restoreWithRemains(url: string, file: string): Promise<string[]> {
  const folder = dirname(url.slice('sqlite:'.length))
  const own = Object.fromEntries(STEPS.map((name) => [name, fs[name]])) as Pick<typeof fs, (typeof STEPS)[number]>
  const remains: string[] = []
  const copyFolder = () => {
    const copy = mkdtempSync(join(dir, 'remains-'))
    for (const name of readdirSync(folder)) own.copyFileSync(join(folder, name), join(copy, name))
    remains.push(`sqlite:${join(copy, basename(url))}`)
  }
  const preceded = (call: (...args: never[]) => unknown) =>
    function (this: unknown, ...args: never[]) {
      copyFolder()
      return call.apply(this, args)
    }
  for (const name of STEPS) Object.assign(fs, { [name]: preceded(own[name]) })
  syncBuiltinESMExports()
  try {
    await restoreDatabase(url, file)
  } finally {
    Object.assign(fs, own)
    syncBuiltinESMExports()
  }
  return remains
}

/** A restore to PostgreSQL that is killed before one of its queries or changes of a file. */
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
  for (const name of ${JSON.stringify(STEPS)}) fs[name] = counted(fs[name])
  syncBuiltinESMExports()
  pg.Client.prototype.query = counted(pg.Client.prototype.query)
  const { restoreDatabase } = await import(${JSON.stringify(join(import.meta.dirname, 'backup.ts'))})
  // A killed process writes no compile cache, so the next one would compile everything again.
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
  const names = Array.from({ length: 50 }, (_, i) => `row ${i}`)
  async function fill(url: string, value: string) {
    const { db, close } = await openDatabase({ url })
    await db.deleteFrom('settings').execute()
    await db
      .insertInto('settings')
      .values(names.map((name) => ({ name, value })))
      .execute()
    await close()
  }
  async function values(url: string) {
    const { db, close } = await openDatabase({ url, mayMigrate: false })
    const rows = await db.selectFrom('settings').select('value').execute()
    await close()
    expect(rows).toHaveLength(names.length)
    return [...new Set(rows.map(({ value }) => value))]
  }

  const killedAtEachStep: Record<Engine, (url: string, file: string) => Promise<number>> = {
    async sqlite(url, file) {
      const remains = await restoreWithRemains(url, file)
      for (const left of remains) {
        expect(await values(left)).toBeOneOf([['old'], ['new']])
        await restoreDatabase(left, file)
        expect(await values(left), 'restored again').toEqual(['new'])
      }
      return remains.length
    },
    async postgres(url, file) {
      let killed = 0
      // It gets many queries, all in one transaction.
      for (let step = 1; await restoreKilledAt(step, url, file); step += 13) {
        killed++
        expect(await values(url)).toBeOneOf([['old'], ['new']])
      }
      return killed
    },
  }

  test('leaves all of the old database or all of the new one, killed at any step', { timeout: 300_000 }, async () => {
    const { url, remove } = await createTestDatabase(engine)
    await fill(url, 'new')
    // A second try has a file of its own.
    const file = join(mkdtempSync(join(dir, 'try-')), 'backup')
    await backupDatabase(url, file)
    await fill(url, 'old')
    expect(await killedAtEachStep[engine](url, file)).toBeGreaterThan(5)
    expect(await values(url)).toEqual(['new'])
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
