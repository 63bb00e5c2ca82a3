import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '#testing/databases.ts'
import { openDatabase } from './database.ts'
import { createStorageWatch, type StorageTrouble } from './storage-watch.ts'

it('a full database is told of before it counts as having room again', async () => {
  const { url, remove } = await createTestDatabase('sqlite')
  const { db, close } = await openDatabase({ url })
  const dataDir = mkdtempSync(join(tmpdir(), 'hedgerow-storage-watch-'))
  const told: StorageTrouble[] = []
  let takesMessage = false
  const watch = createStorageWatch({
    db,
    databaseUrl: url,
    dataDir,
    reserveBytes: 0,
    log: pino({ level: 'silent' }),
    onTrouble: async (trouble) => {
      if (!takesMessage) throw new Error('database is full')
      told.push(trouble)
    },
  })
  onTestFinished(async () => {
    await watch.stop()
    await close()
    await remove()
    rmSync(dataDir, { recursive: true })
  })

  // Without its table the probe fails, as it does in a full database.
  await db.schema.alterTable('storage_probe').renameTo('no_room').execute()
  watch.onFull()
  await watch.look()
  expect(told).toEqual([])
  expect(watch.trouble()).toMatchObject({ state: 'full' })

  takesMessage = true
  await db.schema.alterTable('no_room').renameTo('storage_probe').execute()
  await watch.look()
  expect(told).toMatchObject([{ state: 'full' }])
  expect(watch.trouble()).toBeUndefined()
})
