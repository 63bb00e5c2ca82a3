/**
 * Describes a hub for somebody who looks for a fault. It is an allow-list: anything that is not named here stays out.
 */
import { arch, cpus, release, totalmem } from 'node:os'
import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { variables } from '../read-config.ts'
import { openDatabase } from '../database/database.ts'
import { engineOf } from '../database/engine.ts'
import { installedVersion } from '../hub-update/hub-update.ts'
import { readSettings } from '../settings/settings.ts'
import { examine } from './doctor.ts'

/** Texts that people wrote, and addresses. */
const PRIVATE_SETTINGS = ['hubName', 'hubDescription', 'vpnNetwork'] as const

export async function describeHub(config: Config, environment: NodeJS.ProcessEnv = process.env) {
  return {
    madeAt: new Date().toISOString(),
    version: installedVersion(),
    node: process.version,
    system: { kernel: release(), processor: arch(), cores: cpus().length, memoryBytes: totalmem() },
    /** Names only: a value may be a secret. */
    variables: Object.keys(variables.shape).filter((name) => environment[name] ?? environment[`${name}_FILE`]),
    checks: (await examine(config)).map(({ check, state }) => ({ check, state })),
    database: await describeDatabase(config).catch((error: Error) => ({ problem: error.name })),
  }
}

async function describeDatabase({ databaseUrl: url }: Config) {
  const engine = engineOf(url)
  if (engine === 'sqlite' && !existsSync(url.slice('sqlite:'.length))) return { engine, tables: {} }
  const { db, close } = await openDatabase({ url, mayMigrate: false })
  try {
    const tables: Record<string, number> = {}
    for (const { name } of await db.introspection.getTables()) {
      const { rows } = await sql<{ count: number | string }>`select count(*) as count from ${sql.table(name)}`.execute(
        db,
      )
      tables[name] = Number(rows[0]?.count)
    }
    const settings = Object.entries(await readSettings(db)).filter(
      ([name]) => !(PRIVATE_SETTINGS as readonly string[]).includes(name),
    )
    return { engine, tables, settings: Object.fromEntries(settings) }
  } finally {
    await close()
  }
}
