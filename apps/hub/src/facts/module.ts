/** The database, which only this process uses, and the watch on its disk. */
import { join } from 'node:path'
import { openProgress } from '@hedgerow/http'
import { openDatabase } from '../database/database.ts'
import { lockDatabase } from '../database/lock.ts'
import { createStorageWatch, makeRoomToStart, type StorageWatch } from '../database/storage-watch.ts'
import { HUB, record } from './facts.ts'
import type { Base } from './room.ts'

export async function lock({ config, onTakenOver }: Base & { onTakenOver?: () => void }) {
  await makeRoomToStart(config)
  const { release } = await lockDatabase(config.databaseUrl, { onTakenOver })
  return { stop: release }
}

export async function open({ config, log, clock }: Base) {
  const { databaseUrl, dataDir, diskReserveBytes: reserveBytes } = config
  let watch: StorageWatch | undefined
  const progress = openProgress((text) => log.info(text))
  const { db, close } = await openDatabase({
    url: databaseUrl,
    copiesDir: join(dataDir, 'backups'),
    progress,
    onWriteRefused: (refusal) => watch?.onWriteRefused(refusal),
  }).finally(progress.end)
  const onTrouble: Parameters<typeof createStorageWatch>[0]['onTrouble'] = (data) =>
    record(db, { kind: 'storage.low', at: clock(), actor: HUB, data })
  watch = createStorageWatch({ db, databaseUrl, dataDir, reserveBytes, log, clock, onTrouble })
  return { gives: { db, watch }, tasks: [{ stop: watch.stop }], stop: close }
}
