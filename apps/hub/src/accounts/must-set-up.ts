import type { Db } from '../database/tables.ts'
import { readSetting } from '../settings/settings.ts'

/**
 * Whether the hub requires two-factor and this user has none: then the session may only set it up. A provider that
 * opened the session requires a second factor itself.
 */
export async function mustSetUp(
  db: Db,
  user: { two_factor_secret: string | null },
  providerLinkId: string | null = null,
): Promise<boolean> {
  return providerLinkId === null && user.two_factor_secret === null && (await readSetting(db, 'twoFactorRequired'))
}
