/** A process that makes one backup: copying a large database would keep the hub from its other work. */
import { setPriority } from 'node:os'
import { ConfigError } from '../config.ts'
import { backupDatabase } from '../database/backup.ts'
import { writeRefusal } from '../database/storage-errors.ts'

export type BackupWork = { url: string; file: string }
export type BackupAnswer = { problem?: string }

const PRIORITY = 10

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || writeRefusal(error) === 'full') return 'the disk of the backups is full'
  return error instanceof ConfigError || code === undefined ? message.replace(/\.$/, '') : `${message} (${code})`
}

process.once('disconnect', () => process.exit(1))
process.once('message', async ({ url, file }: BackupWork) => {
  setPriority(PRIORITY)
  const answer: BackupAnswer = await backupDatabase(url, file).then(
    () => ({}),
    (error: unknown) => ({ problem: reasonOf(error) }),
  )
  process.send?.(answer, () => process.exit(0))
})
