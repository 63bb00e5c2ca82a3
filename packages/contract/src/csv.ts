/**
 * What spreadsheets run as a formula or a command, also after blanks: `=1`, `@SUM`, and the full-width forms that they
 * read the same.
 */
const FORMULA = /^[\s\p{Cc}]*[=+\-@|%＝＋－＠｜％]|^[\t\r\n]/u

/** A byte order mark, because spreadsheets take a file without one for an older encoding. */
export const CSV_START = '\uFEFF'

export type CsvValue = string | number | null

/**
 * One line of a file as RFC 4180 has it, with its end. Names come from anyone who tried to sign in, so an apostrophe
 * makes a text of what would be a formula.
 */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: CsvValue): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}
