import type { Kysely } from 'kysely'
import { lookAtBackups } from '../backups/backups.ts'
import type { Config } from '../config.ts'
import type { Tables } from '../database/tables.ts'
import type { Finding } from './finding.ts'

/** A backup that nobody can find does not count. */
export async function examineBackups(db: Kysely<Tables>, { backups }: Config): Promise<Finding> {
  if (!backups)
    return {
      check: 'backups',
      state: 'warn',
      text: 'none on a schedule: HUB_BACKUP_DIR is not set',
      remedy: 'Set it to a folder on another disk, or make backups yourself: hub backup FILE.',
    }
  const { dir, keep } = backups
  const { problem, age, isLate } = await lookAtBackups(db, backups, Date.now())
  const remedy = 'The log of the hub says why a backup failed. hub backup FILE makes one at once.'
  if (problem !== undefined)
    return {
      check: 'backups',
      state: 'FAIL',
      text: `${problem}; ${age ? `the newest is ${age} old` : 'there is none yet'}`,
      remedy: 'Mount its disk or make the folder, for the hub alone (chmod 700), or correct HUB_BACKUP_DIR.',
    }
  if (age === undefined)
    return { check: 'backups', state: 'warn', text: `none in ${dir} yet`, remedy: 'A hub that runs makes one.' }
  const text = `the newest is ${age} old; ${keep} are kept in ${dir}`
  return isLate ? { check: 'backups', state: 'FAIL', text, remedy } : { check: 'backups', state: 'ok', text }
}
