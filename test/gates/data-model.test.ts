import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openDatabase } from '../../apps/hub/src/database/database.ts'

it('docs/data-model.md names every table of a new database once, and no other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-model-'))
  try {
    const file = join(folder, 'hub.sqlite')
    await (await openDatabase({ url: `sqlite:${file}` })).close()
    const database = new DatabaseSync(file)
    const tables = database.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
    const page = readFileSync(join(import.meta.dirname, '../../docs/data-model.md'), 'utf8')
    const rows = [...page.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, names]) => [...names!.matchAll(/`(\w+)`/g)])
    expect(rows.map(([, name]) => name!).toSorted()).toEqual(
      tables
        .all()
        .map(({ name }) => String(name))
        .toSorted(),
    )
    database.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
