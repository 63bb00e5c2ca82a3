import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, hasPostgres } from '#testing/databases.ts'
import { openDatabase } from './database.ts'
import type { Engine } from './engine.ts'
import { createStorageWatch } from './storage-watch.ts'
import type { StorageTrouble } from './write-probe.ts'

async function watched(engine: Engine = 'sqlite') {
  const { url, remove } = await createTestDatabase(engine)
  const { db, close } = await openDatabase({ url })
  const home = mkdtempSync(join(tmpdir(), 'hedgerow-storage-watch-'))
  const dataDir = join(home, 'data')
  const lines: string[] = []
  const told: StorageTrouble[] = []
  const state = { takesMessage: true, now: 0 }
  const watch = createStorageWatch({
    db,
    databaseUrl: url,
    dataDir,
    reserveBytes: 0,
    log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
    onTrouble: async (trouble) => {
      if (!state.takesMessage) throw new Error('database is full')
      told.push(trouble)
    },
    clock: () => state.now,
  })
  onTestFinished(async () => {
    await watch.stop()
    await close()
    await remove()
    rmSync(home, { recursive: true })
  })
  /** Without its table the probe fails, as it does in a full database. */
  async function fill() {
    await db.schema.alterTable('storage_probe').renameTo('no_room').execute()
    watch.onWriteRefused('full')
  }
  const empty = () => db.schema.alterTable('no_room').renameTo('storage_probe').execute()
  return { watch, told, state, fill, empty, dataDir, lines }
}

it.skipIf(!hasPostgres)('beside PostgreSQL, a new data folder is made and is no trouble', async () => {
  const { watch, dataDir, lines } = await watched('postgres')
  await watch.start()
  expect(existsSync(dataDir)).toBe(true)
  expect(lines).toEqual([])
})

it('a full database is told of before it counts as having room again', async () => {
  const { watch, told, state, fill, empty } = await watched()
  state.takesMessage = false
  await fill()
  await watch.look()
  expect(told).toEqual([])
  expect(watch.trouble()).toMatchObject({ state: 'full' })

  state.takesMessage = true
  await empty()
  await watch.look()
  expect(told).toMatchObject([{ state: 'full' }])
  expect(watch.trouble()).toBeUndefined()
})

it('a database that is full again and again is told of once, and again after it had room for ten minutes', async () => {
  const { watch, told, state, fill, empty } = await watched()
  const fillAndEmpty = async () => {
    await fill()
    await watch.look()
    expect(watch.trouble()).toMatchObject({ state: 'full' })
    await empty()
    await watch.look()
    expect(watch.trouble()).toBeUndefined()
  }
  for (let turn = 0; turn < 3; turn += 1) {
    await fillAndEmpty()
    state.now += 9 * 60_000
  }
  expect(told).toHaveLength(1)
  state.now += 60_000
  await fillAndEmpty()
  expect(told).toHaveLength(2)
})
