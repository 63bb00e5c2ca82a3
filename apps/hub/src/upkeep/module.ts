/** What keeps the hub itself well: its disk, backups, old rows, audit, newer versions. */
import { createAuditLogLines } from '../audit/log-lines.ts'
import { createRefusedCalls } from '../audit/refused-calls.ts'
import { auditRoutes } from '../audit/routes.ts'
import { createBackups } from '../backups/backups.ts'
import { checkDatabase } from '../database/database.ts'
import type { App, Gives, Ground } from '../facts/room.ts'
import { retentionChanges } from '../followers/retention.ts'
import { healthRoutes } from '../http/health.ts'
import { createHubUpdate } from '../hub-update/hub-update.ts'
import { createRetention } from '../retention/retention.ts'
import type { Tunnel } from '../tunnel/module.ts'
import { checkVpn } from '../tunnel/tunnel.ts'

export type Upkeep = Gives<typeof open>

export function open(hub: Ground & Tunnel) {
  const { db, config, log, watch } = hub
  const backups = createBackups(hub)
  const retention = createRetention(hub)
  const isWhole = config.logAudit
  const auditLines = createAuditLogLines({ db, log: isWhole ? log.child({}, { level: 'info' }) : log, isWhole })
  const hubUpdate = createHubUpdate({ ...hub, source: config.updates, dataDir: config.dataDir })
  return {
    gives: { backups, retention, hubUpdate, recordRefusal: createRefusedCalls(hub) },
    follows: [retentionChanges(retention)],
    // The database's room stops the watch.
    tasks: [{ start: watch.start, stop: () => {} }, backups, retention, auditLines, hubUpdate],
    routes(app: App) {
      auditRoutes(app, { db })
      healthRoutes(app, [() => checkDatabase(db), watch.checkStorage, () => checkVpn(hub.vpn)])
    },
  }
}
