import { Readable } from 'node:stream'
import { listAudit, type AuditEntry } from '@hedgerow/contract'
import { CSV_START, csvLine } from '@hedgerow/contract/csv'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { mount } from '../http/mount.ts'
import { pageFrom, sendCursor } from '../http/pagination.ts'
import { auditPages, findAudit } from './audit.ts'
import { withSubjects } from './subjects.ts'

const PAGE_LENGTH = 100

export function auditRoutes(app: FastifyInstance, { db }: { db: Kysely<Tables> }): void {
  mount(app, listAudit, async ({ query, raw, reply }) => {
    const { format, limit, cursor, ...wanted } = query
    const filter = { ...wanted, after: pageFrom({ cursor }, ['number', 'number']).after }
    if (format === 'csv' || /\btext\/csv\b/.test(raw.headers.accept ?? '')) {
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="audit.csv"')
      return Readable.from(csvOf(db, { ...filter, limit: limit ?? Infinity }))
    }
    const { entries, next } = await findAudit(db, { ...filter, limit: limit ?? PAGE_LENGTH })
    if (next) sendCursor(reply, next)
    return withSubjects(db, entries)
  })
}

const COLUMNS = ['at', 'actor', 'action', 'target', 'sourceIp', 'result', 'reason'] as const satisfies readonly Exclude<
  keyof AuditEntry,
  'subject'
>[]

async function* csvOf(db: Kysely<Tables>, wanted: Parameters<typeof auditPages>[1]): AsyncGenerator<string> {
  yield CSV_START + csvLine(COLUMNS)
  for await (const entries of auditPages(db, wanted))
    yield entries.map((entry) => csvLine(COLUMNS.map((column) => entry[column] ?? null))).join('')
}
