import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** Matches rows that contain `text` in one of the columns, ignoring case; no character is a pattern. */
export function holding(text: string, columns: readonly string[]): RawBuilder<SqlBool> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`
  const tests = columns.map((column) => sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`)
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}
