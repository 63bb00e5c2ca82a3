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

/**
 * The named secret; `make` creates it when there is none. When another process (the command line, or a hub that is
 * being replaced) creates it at the same time, both get the one that was stored first.
 */
export async function readOrCreateSecret(
  db: Db,
  name: SecretName,
  make: () => string | Promise<string>,
): Promise<string> {
  const read = () => db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst()
  const existing = await read()
  if (existing) return existing.value
  await db
    .insertInto('secrets')
    .values({ name, value: await make() })
    .onConflict((c) => c.doNothing())
    .execute()
  const stored = await read()
  if (!stored) throw new Error(`The secret ${name} could not be stored`)
  return stored.value
}

export async function replaceSecret(db: Db, name: SecretName, value: string): Promise<void> {
  await db.updateTable('secrets').set({ value }).where('name', '=', name).execute()
}
