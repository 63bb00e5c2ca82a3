import type { Kysely } from 'kysely'
import { lookAtBackups } from '../backups/backups.ts'
import type { Config } from '../config.ts'
import type { Tables } from '../database/tables.ts'
import type { Finding } from './finding.ts'

/** A backup that nobody can find does not count. Without a database only the folder is known. */
export async function examineBackups(config: Config, db?: Kysely<Tables>): Promise<Finding> {
  const { backups } = config
  const check = 'backups'
  if (!backups)
    return {
      check,
      state: 'warn',
      text: 'none on a schedule: HUB_BACKUP_DIR is not set',
      remedy: 'Set it to a folder on another disk, or make backups yourself: hub backup FILE.',
    }
  const { dir, keep } = backups
  const { ofFolder, looked } = await lookAtBackups({ ...config, backups }, db)
  const newest = looked && (looked.age ? `the newest is ${looked.age} old` : 'there is none yet')
  const fail = (text: string, remedy: string): Finding => ({ check, state: 'FAIL', text, remedy })
  if (ofFolder !== undefined)
    return fail(
      newest ? `${ofFolder}; ${newest}` : ofFolder,
      'Mount its disk or make the folder, for the hub alone (chmod 700), or correct HUB_BACKUP_DIR.',
    )
  if (!looked) return { check, state: 'ok', text: `${dir} can be used` }
  const { ofRoom, failure, isLate, count } = looked
  if (ofRoom !== undefined)
    return fail(`${ofRoom}; ${newest}`, 'Make room there, or name a folder on another disk with HUB_BACKUP_DIR.')
  const remedy = 'The log of the hub says more. hub backup FILE makes one at once.'
  if (failure !== undefined) return fail(`${failure.replace(/\.$/, '')} (said by the hub); ${newest}`, remedy)
  if (count === 0) return { check, state: 'warn', text: `none in ${dir} yet`, remedy: 'A hub that runs makes one.' }
  const text = `${newest}; ${count} of at most ${keep} in ${dir}`
  return isLate ? fail(text, remedy) : { check, state: 'ok', text }
}
