import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine, csvRows } from './csv.ts'

test.each([
  ['plain', '"plain"'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['a=b', '"a=b"'],
  [-0.5, '-0.5'],
  [null, '""'],
])('a field with %j is %s', (value, text) => expect(csvLine([value, 1])).toBe(`${text},1\r\n`))

test.each([
  '=1+1',
  '+1',
  '-1+1',
  '@cmd',
  '|x',
  '%x',
  '＝1',
  '＋1',
  '－1',
  '＠sum',
  '｜x',
  '％x',
  '\t=1',
  ' =1',
  '\u00a0=1',
  '\r1',
  '\n1',
])('a spreadsheet takes %j as text', (text) => expect(csvLine([text])).toBe(`"'${text}"\r\n`))

test('what is written is read again, whatever the texts are', () => {
  const text = fc
    .string({ unit: fc.constantFrom('a', ' ', ',', ';', '\t', '"', '\n', '\r', 'ü') })
    .map((end) => `x${end}`)
  fc.assert(
    fc.property(fc.array(fc.array(text, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }), (rows) => {
      const file = rows.map((row) => csvLine(row)).join('')
      // The first line tells the separator, so it needs one.
      const head = csvLine(['name', 'site'])
      expect(csvRows(head + file).rows.map(({ cells }) => cells)).toEqual([['name', 'site'], ...rows])
    }),
  )
})

test.each([
  [
    'a;b\nc;"d;e"',
    [
      ['a', 'b'],
      ['c', 'd;e'],
    ],
  ],
  ['a\tb\tc,d', [['a', 'b', 'c,d']]],
  ['\r\n\r\na,b\r\n', [['a', 'b']]],
  ['a,"b', [['a', 'b']]],
  ['a"b,c', [['a"b', 'c']]],
  ['', []],
])('reads %j', (text, rows) => expect(csvRows(text).rows.map(({ cells }) => cells)).toEqual(rows))

test('counts lines as an editor does, also within quotation marks', () => {
  expect(csvRows('a,b\r\n\n"c\nd",e\nf').rows.map(({ line }) => line)).toEqual([1, 3, 5])
  expect(csvRows('a\nb,"c\n\n').openQuoteAt).toBe(2)
})

test('reads a long line of blanks and marks at once', { timeout: 5_000 }, () => {
  expect(csvRows(`${' '.repeat(100_000)}x${'"'.repeat(100_000)}`).rows).toHaveLength(1)
})
