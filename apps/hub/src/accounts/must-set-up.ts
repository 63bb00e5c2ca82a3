import type { Db } from '../database/tables.ts'
import { readSetting } from '../settings/settings.ts'

/** Whether the hub requires two-factor and this user has none: then the session may only set it up. */
export async function mustSetUp(db: Db, user: { two_factor_secret: string | null }): Promise<boolean> {
  return user.two_factor_secret === null && (await readSetting(db, 'twoFactorRequired'))
}
