/** Reads the file of a sheet of labels: one gateway a line, with name, site, tags and owner. */
import { gatewayName, gatewayTags, oneLine, username, type ErrorCode } from '@hedgerow/contract'
import { csvRows } from '@hedgerow/contract/csv'
import { LABELS_MAX } from '@hedgerow/contract/constants'
import { z } from 'zod'
import { ownerNamed } from '../access/objects.ts'
import type { Db } from '../database/tables.ts'
import type { Act } from '../facts/facts.ts'
import { HubError } from '../kernel/hub-error.ts'
import { nameKey } from '../kernel/name-key.ts'

const COLUMNS = ['name', 'site', 'tags', 'owner'] as const
type Column = (typeof COLUMNS)[number]

const label = z.object({
  name: gatewayName,
  site: oneLine(200),
  tags: z
    .string()
    .transform((text) => text.split(/[\s,;]+/).filter((tag) => tag !== ''))
    .pipe(gatewayTags),
  owner: z.union([z.literal('').transform(() => null), username]),
})

type Label = { name: string; location: string; tags: string[]; owner: Awaited<ReturnType<typeof ownerNamed>> }

/** Throws `labels_invalid` with an error for each wrong line; a line is counted as an editor counts it. */
export async function readLabels(db: Db, csv: string, act: Act): Promise<Label[]> {
  const errors: Record<string, string> = {}
  const wrong = (line: number, code: ErrorCode, message: string) => (errors[`line ${line}`] ??= `${code}: ${message}`)
  const { columns, rows } = withColumns(csv, wrong)
  if (rows.length === 0) wrong(1, 'invalid_request', 'No line has a gateway.')
  if (rows.length > LABELS_MAX)
    wrong(rows[LABELS_MAX]!.line, 'invalid_request', `A file has at most ${LABELS_MAX} gateways.`)
  const lineOf = new Map<string, number>()
  const labels: Label[] = []
  for (const { line, cells } of rows.slice(0, LABELS_MAX)) {
    const read = label.safeParse(cellsByColumn(columns, cells))
    const extra = cells.slice(columns.length).some((cell) => cell.trim() !== '')
    if (extra) wrong(line, 'invalid_request', `The line has more than ${columns.length} columns.`)
    else if (!read.success) {
      const [{ path, message }] = read.error.issues as [z.core.$ZodIssue]
      wrong(line, 'invalid_request', `${String(path[0])}: ${message}`)
    } else {
      const { name, site, tags, owner } = read.data
      const before = lineOf.get(nameKey(name))
      lineOf.set(nameKey(name), before ?? line)
      if (before !== undefined) wrong(line, 'gateway_name_taken', `Line ${before} has this name.`)
      else {
        const found = await ownerNamed(db, owner, act.actor).catch((error: unknown) => {
          if (!(error instanceof HubError)) throw error
          wrong(line, error.code, error.message)
        })
        if (found) labels.push({ name, location: site, tags, owner: found })
      }
    }
  }
  for (const name of await takenNames(db, [...lineOf.keys()]))
    wrong(lineOf.get(name)!, 'gateway_name_taken', 'A gateway has this name already.')
  if (Object.keys(errors).length > 0) throw new HubError('labels_invalid', { fieldErrors: errors })
  return labels
}

type Wrong = (line: number, code: ErrorCode, message: string) => void

/** The first line names the columns if one of its cells is `name`. */
function withColumns(csv: string, wrong: Wrong) {
  const { rows, openQuoteAt } = csvRows(csv)
  if (openQuoteAt !== undefined) wrong(openQuoteAt, 'invalid_request', 'A quotation mark is not closed.')
  const names = rows[0]?.cells.map((cell) => cell.trim().toLowerCase()) ?? []
  if (!names.includes('name')) return { columns: COLUMNS as readonly Column[], rows }
  for (const [index, name] of names.entries()) {
    const isTwice = names.indexOf(name) !== index
    if (isTwice || !COLUMNS.some((column) => column === name))
      wrong(1, 'invalid_request', `A column is ${COLUMNS.join(', ')}, each once.`)
  }
  return { columns: names as Column[], rows: rows.slice(1) }
}

const cellsByColumn = (columns: readonly Column[], cells: readonly string[]) =>
  Object.fromEntries(COLUMNS.map((column) => [column, cells[columns.indexOf(column)] ?? '']))

async function takenNames(db: Db, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const rows = await db.selectFrom('gateways').select('name_key').where('name_key', 'in', keys).execute()
  return rows.map(({ name_key }) => name_key)
}
