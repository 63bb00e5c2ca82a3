import { randomBytes } from 'node:crypto'
import { generateKeyPair, generatePresharedKey } from '@hedgerow/wireguard/node'
import type { Insertable, Kysely } from 'kysely'
import type { Db, Tables } from '../src/database/tables.ts'
import { factsOf } from '../src/facts/facts.ts'
import { newGatewayId } from '../src/fleet/fleet.ts'
import { nameKey } from '../src/kernel/name-key.ts'

let made = 0

/** Inserts a gateway's row as approval writes it, with the given columns changed. Returns the gateway's id. */
export async function insertGatewayRow(db: Db, change: Partial<Insertable<Tables['gateways']>> = {}): Promise<string> {
  const id = newGatewayId()
  made++
  const name = change.name ?? `Gateway ${made}`
  await db
    .insertInto('gateways')
    .values({
      id,
      kind: 'enrolled',
      name,
      name_key: nameKey(name),
      location: '',
      description: '',
      device_token: `DT-${randomBytes(6).toString('hex').toUpperCase()}`,
      wireguard_public_key: generateKeyPair().publicKey,
      preshared_key: generatePresharedKey(),
      address: `10.100.${1 + Math.floor(made / 250)}.${1 + (made % 250)}`,
      created_at: Date.now(),
      ...change,
    })
    .execute()
  return change.id ?? id
}

/** The same through a hub's own database: the hub reads its fleet again. */
export async function insertTestGateway(...[db, change]: Parameters<typeof insertGatewayRow>): Promise<string> {
  const id = await insertGatewayRow(db, change)
  if (!db.isTransaction) await forgetFleet(db)
  return id
}

/** After gateways' rows were written past the hub: it reads them again. */
export async function forgetFleet(db: Kysely<Tables>): Promise<void> {
  for (const follower of factsOf(db).followers())
    if (follower.name === 'fleet' && 'afterCommit' in follower) await follower.afterCommit([])
}
