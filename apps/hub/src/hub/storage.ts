/** The first step: the database, which only this process uses, its facts, and the watch on its disk. */
import { join } from 'node:path'
import { openProgress } from '@hedgerow/http'
import { openDatabase } from '../database/database.ts'
import { lockDatabase } from '../database/lock.ts'
import { createStorageWatch, makeRoomToStart, type StorageWatch } from '../database/storage-watch.ts'
import { HUB, record } from '../facts/facts.ts'
import { openRecords } from '../followers/followers.ts'
import type { Base } from './base.ts'

export type Storage = Awaited<ReturnType<typeof openStorage>>

export async function openStorage({ config, log, clock, onTakenOver }: Base, stack: AsyncDisposableStack) {
  const { databaseUrl, dataDir, diskReserveBytes: reserveBytes } = config
  await makeRoomToStart({ databaseUrl, dataDir })
  const lock = await lockDatabase(databaseUrl, { onTakenOver })
  stack.defer(lock.release)
  let watch: StorageWatch | undefined
  const progress = openProgress((text) => log.info(text))
  const database = await openDatabase({
    url: databaseUrl,
    copiesDir: join(dataDir, 'backups'),
    progress,
    onWriteRefused: (refusal) => watch?.onWriteRefused(refusal),
  }).finally(progress.end)
  stack.defer(database.close)
  const { db } = database
  const facts = openRecords(db, { log })
  watch = createStorageWatch({
    db,
    databaseUrl,
    dataDir,
    reserveBytes,
    log,
    clock,
    onTrouble: (data) => record(db, { kind: 'storage.low', at: clock(), actor: HUB, data }),
  })
  stack.defer(watch.stop)
  return { db, facts, watch }
}
