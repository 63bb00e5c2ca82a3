import { join } from 'node:path'
import { editHubSettings, readHubSettings, type Role } from '@hedgerow/contract'
import { createPasswords } from '../../apps/hub/src/accounts/passwords.ts'
import { createUser } from '../../apps/hub/src/accounts/accounts.ts'
import { openDatabase } from '../../apps/hub/src/database/database.ts'
import type { Db } from '../../apps/hub/src/database/tables.ts'
import { insertGatewayRow } from '../../apps/hub/testing/gateway.ts'
import type { Credentials, Hub } from './hub.ts'

/** Opens a hub's SQLite file, while the hub runs or after it ended, for changes that no call of the contract makes. */
export async function withDatabase<T>(hub: Hub, work: (db: Db) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url: `sqlite:${join(hub.dataDir, 'hub.sqlite')}` })
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

/** Changes rows of gateways behind a running hub, which then reads its fleet again, as after a change of settings. */
export async function changeFleet<T>(hub: Hub, work: (db: Db) => Promise<T>): Promise<T> {
  const result = await withDatabase(hub, work)
  const { hubDescription } = await hub.api(readHubSettings)
  for (const text of [`${hubDescription}.`, hubDescription])
    await hub.api(editHubSettings, { body: { hubDescription: text } })
  return result
}

/** A person with this role, who can sign in at once. */
export async function addPerson(hub: Hub, person: { username: string; role: Role }): Promise<Credentials> {
  const credentials = { username: person.username, password: `the password of ${person.username}` }
  await withDatabase(hub, (db) => createUser(db, createPasswords(), { ...credentials, role: person.role }))
  return credentials
}

/** Changes a user directly in the database: their sessions stay. */
export async function changeUser(hub: Hub, username: string, change: { active?: 0 | 1; role?: Role }): Promise<void> {
  await withDatabase(hub, (db) => db.updateTable('users').set(change).where('username', '=', username).execute())
}

const HOUR_MS = 3_600_000

/**
 * The load and traffic of a gateway's last day as the hub would have written them, up to the current hour: a load of
 * 0.2 rising to 0.6 and falling again, 2 MB an hour from it and 100 kB to it, and nothing six to eight hours ago.
 */
export async function addDayOfHistory(hub: Hub, gatewayId: string): Promise<void> {
  const newest = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const hours = Array.from({ length: 24 }, (_, ago) => ago).filter((ago) => ago < 6 || ago > 8)
  const rows = hours.map((ago) => {
    const load = 0.2 + 0.4 * Math.sin((ago / 23) * Math.PI) ** 2
    return {
      gateway_id: gatewayId,
      hour: newest - ago * HOUR_MS,
      heartbeats: 120,
      load_sum: load * 120,
      load_max: load + 0.15,
      memory_sum: 0.45 * 120,
      memory_max: 0.5,
      disk_sum: 0.3 * 120,
      disk_max: 0.3,
      temperatures: 120,
      temperature_sum: 48 * 120,
      temperature_max: 55,
      received_bytes: 2_000_000,
      sent_bytes: 100_000,
    }
  })
  await withDatabase(hub, async (db) => {
    await db.deleteFrom('gateway_hours').where('gateway_id', '=', gatewayId).execute()
    await db.insertInto('gateway_hours').values(rows).execute()
  })
}

type Seen = readonly { id: string }[]

/** What a gateway that has learned says of incidents: it holds some back, and asks about others. */
export async function markAsLearned(
  hub: Hub,
  { heldBack, doubtful }: { heldBack: Seen; doubtful: Seen },
): Promise<void> {
  const ids = (seen: Seen) => seen.map(({ id }) => id)
  await withDatabase(hub, async (db) => {
    for (const [column, seen] of [
      ['suppressed', heldBack],
      ['doubtful', doubtful],
    ] as const) {
      await db
        .updateTable('incidents')
        .set({ [column]: 1 })
        .where('id', 'in', ids(seen))
        .execute()
      await db
        .updateTable('detections')
        .set({ [column]: 1 })
        .where('incident_id', 'in', ids(seen))
        .execute()
    }
  })
}

/** Runs `work` while the hub also has `count` gateways named "Field 1" and so on, which never connected. */
export async function withFields(hub: Hub, count: number, work: () => Promise<void>): Promise<void> {
  const fields = Array.from({ length: count }, (_, index) => ({
    name: `Field ${index + 1}`,
    address: `10.100.200.${index + 1}`,
  }))
  const ids = await changeFleet(hub, (db) => Promise.all(fields.map((field) => insertGatewayRow(db, field))))
  try {
    await work()
  } finally {
    await changeFleet(hub, (db) => db.deleteFrom('gateways').where('id', 'in', ids).execute())
  }
}

/** Automatic updates to a release that began two hours ago, with a request to this gateway. */
export async function addOldRollout(
  hub: Hub,
  gatewayId: string,
  release: { number: number; version: string },
): Promise<void> {
  const at = Date.now() - 2 * HOUR_MS
  const rollout = { ...release, state: 'running', message: '', started_at: at } as const
  const request = { gateway_id: gatewayId, ...release, attempt: at, state: 'asked', message: '', asked_at: at } as const
  await withDatabase(hub, async (db) => {
    await db.insertInto('rollouts').values(rollout).execute()
    await db.insertInto('gateway_updates').values(request).execute()
  })
}
