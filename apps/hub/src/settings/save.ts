/**
 * Changes the hub's settings: checks conditions across rows, writes the differences, and records one fact. The caller
 * applies the change to running parts of the hub.
 */
import type { HubSettings } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { by, HUB, record, type Act } from '../facts/facts.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import { gatewayAddresses } from '../tunnel/tunnel.ts'
import { readSettings, settingChanges } from './settings.ts'

/** Throws `invalid_request` for an invalid network, `vpn_network_in_use` and `changed_meanwhile`. */
export function saveSettings(
  db: Kysely<Tables>,
  change: Change<HubSettings>,
  act: Act,
): Promise<{ before: HubSettings; after: HubSettings }> {
  return inTransaction(db, async (transaction) => {
    const before = await readSettings(transaction)
    const after = edited(before, change)
    const changed = (Object.keys(after) as (keyof HubSettings)[]).filter((name) => after[name] !== before[name])
    if (changed.length === 0) return { before, after }
    if (changed.includes('vpnNetwork')) await checkNetwork(transaction, after.vpnNetwork)

    for (const name of changed) await writeSetting(transaction, name, after[name])
    await record(transaction, {
      kind: 'settings.changed',
      ...by(act),
      target: changed.join(' '),
      data: {
        changes: Object.fromEntries(changed.map((name) => [name, after[name]])),
        words: settingChanges(before, after),
      },
    })
    if (after.sessionTimeout < before.sessionTimeout) await shortenSessions(transaction, after.sessionTimeout, act.now)
    return { before, after }
  })
}

/** Restores the VPN's old settings after the new ones failed, and records that. */
export function restoreVpnSettings(
  db: Kysely<Tables>,
  values: Pick<HubSettings, 'enableVpn' | 'vpnNetwork'>,
  now: number,
): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const before = await readSettings(transaction)
    for (const [name, value] of Object.entries(values)) await writeSetting(transaction, name, value)
    const words = settingChanges(before, { ...before, ...values })
    const target = Object.keys(values).join(' ')
    await record(transaction, {
      kind: 'settings.restored',
      at: now,
      actor: HUB,
      target,
      data: { changes: values, words },
    })
  })
}

async function writeSetting(transaction: Transaction<Tables>, name: string, setting: unknown): Promise<void> {
  const value = JSON.stringify(setting)
  await transaction
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Runs in the transaction of the change, so that no gateway gets an address meanwhile. */
async function checkNetwork(transaction: Transaction<Tables>, cidr: string): Promise<void> {
  const addresses = gatewayAddresses(cidr)
  if (!addresses) {
    const message = 'Enter an IPv4 network of /8 to /30 from its first address, as in 10.100.0.0/16'
    throw new HubError('invalid_request', { message, fieldErrors: { vpnNetwork: message } })
  }
  const gateways = await transaction.selectFrom('gateways').select(['name', 'address']).orderBy('name_key').execute()
  const outside = gateways.filter(({ address }) => !addresses.has(address))
  const [first] = outside
  if (!first) return
  const example = `"${first.name}" has ${first.address}`
  const message =
    outside.length === 1
      ? `A gateway in use would be outside that network: ${example}.`
      : `${outside.length} gateways in use would be outside that network: ${example}, for one.`
  throw new HubError('vpn_network_in_use', { message, fieldErrors: { vpnNetwork: message } })
}

/** Shortens sessions to the new timeout. */
async function shortenSessions(transaction: Transaction<Tables>, timeoutSeconds: number, now: number): Promise<void> {
  const latest = now + timeoutSeconds * 1_000
  await transaction.updateTable('sessions').set({ expires_at: latest }).where('expires_at', '>', latest).execute()
}
