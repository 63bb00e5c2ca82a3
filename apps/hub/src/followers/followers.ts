import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { openFacts, type Facts } from '../facts/facts.ts'
import { activity } from './activity.ts'
import { audit } from './audit.ts'
import { pushSubscriptions } from './push-subscriptions.ts'

/**
 * Opens a database's facts with the followers that need only the transaction, for every program that changes something:
 * the hub and its command line.
 */
export function openRecords(db: Kysely<Tables>, { log }: { log: Logger }): Facts {
  const facts = openFacts(db, { log })
  facts.follow(audit)
  facts.follow(activity)
  facts.follow(pushSubscriptions)
  return facts
}
