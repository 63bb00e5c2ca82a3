import type { AuditEntry } from '@hedgerow/contract'

const COLUMNS = ['at', 'actor', 'action', 'target', 'sourceIp', 'result'] as const satisfies (keyof AuditEntry)[]

/** What a spreadsheet runs: some skip what is blank before it, and take the wide forms of East Asian keyboards too. */
const FORMULA = /^(\s|[=+\-@|%＝＋－＠])/u

/** The first line of the file: the names of the columns (RFC 4180). */
export const csvHeader = line(COLUMNS)

export function csvLine(entry: AuditEntry): string {
  return line(COLUMNS.map((column) => entry[column] ?? ''))
}

function line(values: readonly string[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/**
 * Names come from whoever tried to sign in, and spreadsheets run what looks like a formula: an apostrophe in front
 * makes it text there.
 */
function field(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}
