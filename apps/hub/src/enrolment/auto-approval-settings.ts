import { AUTO_APPROVAL_DEFAULTS, autoApprovalSettings, type AutoApprovalSettings } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { edited, type Change } from '../kernel/edited.ts'
import { HubError } from '../kernel/hub-error.ts'
import { by, record, type Act } from '../facts/facts.ts'
import { canonicalIp, canonicalRange, isSameRange } from './trusted-sources.ts'

/** The row of `settings` that holds all auto-approval settings, as JSON. */
const ROW = 'autoApproval'

/** The saved settings or the defaults. Unreadable settings approve nothing. */
export async function readAutoApproval(db: Db): Promise<AutoApprovalSettings> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', ROW).executeTakeFirst()
  if (row === undefined) return AUTO_APPROVAL_DEFAULTS
  const stored = parseJson(row.value)
  // An older hub stored fewer settings.
  const saved = autoApprovalSettings.safeParse(
    typeof stored === 'object' ? { ...AUTO_APPROVAL_DEFAULTS, ...stored } : stored,
  )
  return saved.success ? saved.data : { ...AUTO_APPROVAL_DEFAULTS, enabled: false }
}

/** Throws `changed_meanwhile`, and `invalid_request` that names the first duplicate entry. */
export async function saveAutoApproval(
  db: Kysely<Tables>,
  change: Change<AutoApprovalSettings>,
  act: Act,
): Promise<AutoApprovalSettings> {
  const lists = {
    ...(change.ipWhitelist && {
      ipWhitelist: canonical(change.ipWhitelist, {
        field: 'ipWhitelist',
        spell: canonicalIp,
        isSame: (a, b) => a === b,
        twice: 'IP already in whitelist',
      }),
    }),
    ...(change.networkRanges && {
      networkRanges: canonical(change.networkRanges, {
        field: 'networkRanges',
        spell: canonicalRange,
        isSame: isSameRange,
        twice: 'Network range already exists',
      }),
    }),
  }
  return inTransaction(db, async (transaction) => {
    const saved = edited(await readAutoApproval(transaction), { ...change, ...lists })
    const value = JSON.stringify(saved)
    await transaction
      .insertInto('settings')
      .values({ name: ROW, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
    await record(transaction, {
      kind: 'auto-approval.changed',
      ...by(act),
      data: {},
    })
    return saved
  })
}

type EntryForm = {
  field: 'ipWhitelist' | 'networkRanges'
  spell: (text: string) => string | undefined
  isSame: (one: string, other: string) => boolean
  twice: string
}

function canonical(entries: readonly string[], { field, spell, isSame, twice }: EntryForm): string[] {
  const spelled: string[] = []
  for (const [index, entry] of entries.entries()) {
    if (entry === '') continue
    const text = spell(entry)
    if (text === undefined) throw new Error(`The schema of ${field} accepts an invalid value`)
    if (spelled.some((before) => isSame(before, text)))
      throw new HubError('invalid_request', { message: twice, fieldErrors: { [`${field}.${index}`]: twice } })
    spelled.push(text)
  }
  return spelled
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
