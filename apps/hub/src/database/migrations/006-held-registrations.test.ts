import { expect, test, describe } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { readAutoApproval } from '../../enrolment/auto-approval-settings.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from '../migrations.ts'

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '006-held-registrations'),
)
const user = {
  id: 'u1',
  username: 'rosa',
  username_key: 'rosa',
  email: 'rosa@example.org',
  first_name: '',
  last_name: '',
  role: 'admin',
  active: 1,
  password_hash: 'x',
  created_at: 0,
} as const

describe.each(testEngines)('auto-approval of an older hub on %s', (engine) => {
  async function migrated(inhabit: (db: Awaited<ReturnType<typeof openDatabase>>['db']) => Promise<unknown>) {
    const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
    const old = await openDatabase({ url, migrations: before })
    await inhabit(old.db)
    await old.close()
    const { db, close } = await openDatabase({ url })
    const settings = await readAutoApproval(db)
    await close()
    await remove()
    return settings
  }

  test('stays off when the hub has users and nobody saved the setting', async () => {
    const settings = await migrated((db) =>
      db
        .insertInto('users')
        .values(user as never)
        .execute(),
    )
    expect(settings).toMatchObject({ enabled: false, autoApproveWithInvitation: true, requireAdminApproval: true })
  })

  test('stays as it was saved', async () => {
    const value = JSON.stringify({ enabled: true, requireAdminApproval: false, ipWhitelist: ['198.51.100.7'] })
    const settings = await migrated(async (db) => {
      await db
        .insertInto('users')
        .values(user as never)
        .execute()
      await db.insertInto('settings').values({ name: 'autoApproval', value }).execute()
    })
    expect(settings).toMatchObject(JSON.parse(value))
  })

  test('is on when the hub has no user yet', async () => {
    expect(await migrated(async () => {})).toMatchObject({ enabled: true, ipWhitelist: [], networkRanges: [] })
  })
})
