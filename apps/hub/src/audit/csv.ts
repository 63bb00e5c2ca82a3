import type { AuditEntry } from '@hedgerow/contract'

type Line = Omit<AuditEntry, 'subject'>

const COLUMNS = ['at', 'actor', 'action', 'target', 'sourceIp', 'result', 'reason'] as const satisfies (keyof Line)[]

/**
 * Texts that spreadsheets run as a formula: some programs skip blanks before it and also accept East Asian full-width
 * forms.
 */
const FORMULA = /^(\s|[=+\-@|%＝＋－＠])/u

/** The first line of the file: the names of the columns (RFC 4180). */
export const csvHeader = line(COLUMNS)

export function csvLine(entry: Line): string {
  return line(COLUMNS.map((column) => entry[column] ?? ''))
}

function line(values: readonly string[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/**
 * Names come from anyone who tried to sign in, and spreadsheets run formulas: an apostrophe in front makes them text.
 */
function field(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}
