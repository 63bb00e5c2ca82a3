import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

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
