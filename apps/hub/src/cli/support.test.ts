import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig, variables } from '../read-config.ts'
import { openDatabase } from '../database/database.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { describeHub } from './support.ts'

const dir = mkdtempSync(join(tmpdir(), 'hub-support-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe.each(testEngines)('a description for support on %s', (engine) => {
  it('has what helps, and no secret, name or address that is planted anywhere', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const config = readConfig({
      HUB_DATA_DIR: dir,
      HUB_DATABASE_URL: url,
      HUB_PORT: '0',
      HUB_HTTPS_PORT: 'off',
      HUB_VPN_PORT: '0',
    })
    const { db, close } = await openDatabase({ url })
    for (const name of ['hubName', 'hubDescription', 'vpnNetwork', 'maxGateways'])
      await db
        .insertInto('settings')
        .values({ name, value: name === 'maxGateways' ? '7' : '"PLANTED"' })
        .execute()
    await sql`insert into secrets (name, value) values ('token-secret', 'PLANTED')`.execute(db)
    await close()
    // Every variable holds a secret; none of their values may be in the text.
    const environment = Object.fromEntries(Object.keys(variables.shape).map((name) => [name, 'PLANTED']))
    const description = await describeHub(config, environment)
    await remove()
    const text = JSON.stringify(description)
    expect(text).not.toContain('PLANTED')
    for (const secret of [dir, url, url.split('/').at(-1)!]) expect(text).not.toContain(secret)
    expect(description.variables).toContain('HUB_ADMIN_PASSWORD')
    expect(description.database).toMatchObject({
      engine: engine === 'postgres' ? 'postgres' : 'sqlite',
      tables: { secrets: expect.any(Number), gateways: 0 },
      settings: { maxGateways: 7 },
    })
    expect(description.checks).toContainEqual({ check: 'database', state: 'ok' })
  })
})
