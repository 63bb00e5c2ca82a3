import type { Progress } from '@hedgerow/http'
import { sql, type Kysely, type Transaction } from 'kysely'
import { ConfigError } from '../config.ts'
import * as first from './migrations/001-first.ts'
import * as facts from './migrations/002-facts.ts'
import * as clocks from './migrations/003-clocks.ts'
import * as codeGuesses from './migrations/004-code-guesses.ts'
import * as detectionQuota from './migrations/005-detection-quota.ts'
import * as heldRegistrations from './migrations/006-held-registrations.ts'
import * as incidents from './migrations/007-incidents.ts'
import * as commands from './migrations/008-commands.ts'
import * as alertRules from './migrations/009-alert-rules.ts'
import * as thumbnails from './migrations/010-thumbnails.ts'
import * as alerts from './migrations/011-alerts.ts'
import * as reviews from './migrations/012-reviews.ts'
import * as tellingPeople from './migrations/013-telling-people.ts'
import * as alertKinds from './migrations/014-alert-kinds.ts'
import * as targetsAndViews from './migrations/015-targets-and-views.ts'
import * as learning from './migrations/016-learning.ts'
import * as secondLooks from './migrations/017-second-looks.ts'
import * as updates from './migrations/018-updates.ts'
import * as deliveryLog from './migrations/019-delivery-log.ts'
import * as homeAssistant from './migrations/020-home-assistant.ts'
import * as learningCommands from './migrations/021-learning-commands.ts'
import * as applications from './migrations/022-applications.ts'
import * as pushSessions from './migrations/023-push-sessions.ts'
import * as gatewayTags from './migrations/024-gateway-tags.ts'
import * as incidentCameras from './migrations/025-incident-cameras.ts'
import * as siteUpdates from './migrations/030-site-updates.ts'
import * as formerReviews from './migrations/031-former-reviews.ts'
import * as reasonsAndCounts from './migrations/032-reasons-and-counts.ts'
import * as backups from './migrations/033-backups.ts'
import * as invitedDescriptions from './migrations/034-invited-descriptions.ts'
import * as countsByGateway from './migrations/035-counts-by-gateway.ts'
import * as disarmEnds from './migrations/036-disarm-ends.ts'
import * as channels from './migrations/037-channels.ts'
import * as invitedGateways from './migrations/038-invited-gateways.ts'
import * as threatsAreIncidents from './migrations/039-threats-are-incidents.ts'
import * as signInProviders from './migrations/041-sign-in-providers.ts'
import * as apiTokens from './migrations/042-api-tokens.ts'
import * as sites from './migrations/043-sites.ts'
import * as snoozes from './migrations/044-snoozes.ts'
import type { Engine } from './engine.ts'

export type Migration = { name: string; up: (db: Kysely<unknown>, engine: Engine) => Promise<void> }

export const MIGRATIONS: readonly Migration[] = [
  { name: '001-first', up: first.up },
  { name: '002-facts', up: facts.up },
  { name: '003-clocks', up: clocks.up },
  { name: '004-code-guesses', up: codeGuesses.up },
  { name: '005-detection-quota', up: detectionQuota.up },
  { name: '006-held-registrations', up: heldRegistrations.up },
  { name: '007-incidents', up: incidents.up },
  { name: '008-commands', up: commands.up },
  { name: '009-alert-rules', up: alertRules.up },
  { name: '010-thumbnails', up: thumbnails.up },
  { name: '011-alerts', up: alerts.up },
  { name: '012-reviews', up: reviews.up },
  { name: '013-telling-people', up: tellingPeople.up },
  { name: '014-alert-kinds', up: alertKinds.up },
  { name: '015-targets-and-views', up: targetsAndViews.up },
  { name: '016-learning', up: learning.up },
  { name: '017-second-looks', up: secondLooks.up },
  { name: '018-updates', up: updates.up },
  { name: '019-delivery-log', up: deliveryLog.up },
  { name: '020-home-assistant', up: homeAssistant.up },
  { name: '021-learning-commands', up: learningCommands.up },
  { name: '022-applications', up: applications.up },
  { name: '023-push-sessions', up: pushSessions.up },
  { name: '024-gateway-tags', up: gatewayTags.up },
  { name: '025-incident-cameras', up: incidentCameras.up },
  { name: '030-site-updates', up: siteUpdates.up },
  { name: '031-former-reviews', up: formerReviews.up },
  { name: '032-reasons-and-counts', up: reasonsAndCounts.up },
  { name: '033-backups', up: backups.up },
  { name: '034-invited-descriptions', up: invitedDescriptions.up },
  { name: '035-counts-by-gateway', up: countsByGateway.up },
  { name: '036-disarm-ends', up: disarmEnds.up },
  { name: '037-channels', up: channels.up },
  { name: '038-invited-gateways', up: invitedGateways.up },
  { name: '039-threats-are-incidents', up: threatsAreIncidents.up },
  { name: '041-sign-in-providers', up: signInProviders.up },
  { name: '042-api-tokens', up: apiTokens.up },
  { name: '043-sites', up: sites.up },
  { name: '044-snoozes', up: snoozes.up },
]

type Applied = { migrations: { name: string; applied_at: number } }
/** A database that no hub has started on: it has none of the tables. */
export class EmptyDatabaseError extends ConfigError {
  constructor() {
    super(['The database is empty: start the hub on it once, which makes its tables.'])
  }
}

/** Any constant works, but every hub must use the same. */
const POSTGRES_LOCK = 4_831_207

/**
 * Migrates the schema in one transaction, so that a crash leaves the old one. `beforeMigrating` is called inside the
 * transaction, with the migrations already applied, before an existing schema changes. Refuses a database that a newer
 * hub has migrated.
 */
export async function migrate(
  db: Kysely<unknown>,
  engine: Engine,
  options: {
    migrations?: readonly Migration[]
    mayMigrate: boolean
    progress: Progress
    beforeMigrating: (transaction: Transaction<unknown>, applied: readonly Migration[]) => Promise<void>
  },
): Promise<void> {
  const { migrations = MIGRATIONS } = options
  await db.transaction().execute(async (transaction) => {
    if (engine === 'postgres') await sql`select pg_advisory_xact_lock(${POSTGRES_LOCK})`.execute(transaction)
    await transaction.schema
      .createTable('migrations')
      .ifNotExists()
      .addColumn('name', 'text', (c) => c.primaryKey())
      .addColumn('applied_at', 'double precision', (c) => c.notNull())
      .execute()
    const ledger = transaction.withTables<Applied>()
    const applied = new Set((await ledger.selectFrom('migrations').select('name').execute()).map((row) => row.name))
    const unknown = [...applied].find((name) => !migrations.some((migration) => migration.name === name))
    if (unknown) {
      throw new ConfigError([`The database is of a newer hub (${unknown}). Use that version.`])
    }
    if (!options.mayMigrate && applied.size === 0) throw new EmptyDatabaseError()
    if (!options.mayMigrate && applied.size < migrations.length)
      throw new ConfigError(['The database is of an older hub. Start this one on it first, or use that version.'])
    if (applied.size > 0 && applied.size < migrations.length)
      await options.beforeMigrating(
        transaction,
        migrations.filter(({ name }) => applied.has(name)),
      )
    const missing = migrations.filter(({ name }) => !applied.has(name))
    for (const [index, { name, up }] of missing.entries()) {
      if (applied.size > 0) options.progress.show('Migrating the database', `step ${index + 1} of ${missing.length}`)
      await up(transaction, engine)
      await ledger.insertInto('migrations').values({ name, applied_at: Date.now() }).execute()
    }
  })
}
