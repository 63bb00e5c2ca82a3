import type { Db } from './tables.ts'

/** Secrets of one database, and so of one hub. */
export type SecretName =
  | 'identity-seed'
  | 'wireguard-private-key'
  | 'token-secret'
  | 'two-factor-key'
  | 'certificate-authority'
  | 'tls-certificate'
  | 'alert-link-key'
  | 'push-keys'
  | 'channel-key'

/**
 * The named secret; `make` creates it when there is none. When another process (the command line, or a hub that is
 * being replaced) creates it at the same time, both get the one that was stored first.
 */
export async function readOrCreateSecret(
  db: Db,
  name: SecretName,
  make: () => string | Promise<string>,
): Promise<string> {
  const existing = await readSecret(db, name)
  if (existing !== undefined) return existing
  await db
    .insertInto('secrets')
    .values({ name, value: await make() })
    .onConflict((c) => c.doNothing())
    .execute()
  const stored = await readSecret(db, name)
  if (stored === undefined) throw new Error(`The secret ${name} could not be stored`)
  return stored
}

/** Undefined before the hub has made it. */
export async function readSecret(db: Db, name: SecretName): Promise<string | undefined> {
  const row = await db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value
}

export async function replaceSecret(db: Db, name: SecretName, value: string): Promise<void> {
  await db.updateTable('secrets').set({ value }).where('name', '=', name).execute()
}
