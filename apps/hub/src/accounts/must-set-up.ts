import type { Db } from '../database/tables.ts'
import { readSettings } from '../settings/settings.ts'

/** Whether the hub asks everyone for two-factor and this user has none: then all that is left is to set it up. */
export async function mustSetUp(db: Db, user: { two_factor_secret: string | null }): Promise<boolean> {
  return user.two_factor_secret === null && (await readSettings(db)).twoFactorRequired
}
