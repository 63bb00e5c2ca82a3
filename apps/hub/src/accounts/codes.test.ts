import { expect, test } from 'vitest'
import { hashCode, plainCode } from './codes.ts'

test.each([
  ['123 456'],
  ['123\u00a0456'],
  ['123-456'],
  ['123–456'],
  ['123−456'],
  ['１２３４５６'],
  ['١٢٣٤٥٦'],
  ['۱۲۳۴۵۶'],
  ['१२३४५६'],
  ['𝟙𝟚𝟛𝟜𝟝𝟞'],
  ['\u200e123456\u200b'],
  ['\u202a123456\u202c\n'],
  ['\ufeff123\u2060456'],
])('%j is the code 123456', (text) => expect(plainCode(text)).toBe('123456'))

test.each(['12345', '1234567', '½23456', '12三456'])('%j is another code', (text) => {
  expect(plainCode(text)).not.toBe('123456')
})

test.each(['0a1b-cd3f', '0A1B–CD3F', 'O A I B C D 3 F', '\u200e0A1B\u2011CD3F', '٠A١BCD٣F', '０Ａ１ＢＣＤ３Ｆ'])(
  '%j is the recovery code 0A1B-CD3F',
  (text) => expect(hashCode(text)).toBe(hashCode('0A1BCD3F')),
)
