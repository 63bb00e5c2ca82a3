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

export type CsvRow = {
  /** Where it begins; the first line is 1. */
  line: number
  cells: string[]
}

/**
 * The rows of a file that a spreadsheet wrote, without empty ones. Commas, semicolons or tabs separate the cells,
 * whichever the first line has most of outside of quotation marks. `openQuoteAt`: the line of a mark that none closes.
 */
export function csvRows(text: string): { rows: CsvRow[]; openQuoteAt: number | undefined } {
  const source = text.startsWith(CSV_START) ? text.slice(1) : text
  const separator = separatorOf(source)
  const rows: CsvRow[] = []
  let row: CsvRow = { line: 1, cells: [] }
  let cell = ''
  let isBlank = true
  let quotedAt: number | undefined
  let line = 1
  const endCell = () => {
    row.cells.push(cell)
    cell = ''
    isBlank = true
  }
  const endRow = () => {
    endCell()
    if (row.cells.some((one) => one.trim() !== '')) rows.push(row)
    row = { line: line + 1, cells: [] }
  }
  for (let at = 0; at < source.length; at++) {
    const sign = source[at]!
    const isEnd = sign === '\n' || (sign === '\r' && source[at + 1] !== '\n')
    if (quotedAt !== undefined) {
      if (sign !== '"') cell += sign
      else if (source[at + 1] === '"') cell += source[at++]
      else quotedAt = undefined
    } else if (sign === '"' && isBlank) {
      cell = ''
      isBlank = false
      quotedAt = line
    } else if (sign === separator) endCell()
    else if (isEnd) endRow()
    else if (sign !== '\r') {
      cell += sign
      isBlank &&= sign === ' '
    }
    if (isEnd) line++
  }
  endRow()
  return { rows, openQuoteAt: quotedAt }
}

function separatorOf(text: string): string {
  const first = (text.split(/[\r\n]/).find((line) => line.trim() !== '') ?? '').replaceAll(/"[^"]*"/g, '')
  const counted = [',', ';', '\t'].map((sign) => ({ sign, count: first.split(sign).length }))
  return counted.reduce((most, one) => (one.count > most.count ? one : most)).sign
}
