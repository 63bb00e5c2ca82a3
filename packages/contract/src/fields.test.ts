import { expect, test } from 'vitest'
import { cleanLine, emailAddress, oneLine } from './fields.ts'

test.each([
  ['a Persian word with its joiner', 'دوربین\u200cها'],
  ['a Malayalam word with its joiner', 'അവന്\u200d\u0d31െ'],
  ['a Hindi word with its joiner', 'क्\u200dष'],
  ['a family', '👨\u200d👩\u200d👧'],
  ['a farmer with a skin colour', '👩🏽\u200d🌾'],
  ['a pirate flag', '🏴\u200d☠\ufe0f'],
  ['a keycap', '1\ufe0f\u20e3'],
])('%s is a text, and stays as it is', (_what, text) => {
  expect(oneLine(50).parse(text)).toBe(text)
  expect(cleanLine(50).parse(text)).toBe(text)
})

test.each([
  'a\u200db',
  'аб\u200cв',
  'می\u200c',
  '\u200cمی',
  'می\u200c\u200cخ',
  '1\u200d2',
  '👨\u200d',
  'a\ufe0f',
  '門\u200d口',
])('the invisible character of %j is refused, and taken out of what a device reports', (text) => {
  expect(oneLine(50).safeParse(text).success).toBe(false)
  expect(cleanLine(50).parse(text)).toBe(text.replaceAll(/\u200c|\u200d|\ufe0f/g, ''))
})

test.each([
  'name@example.org',
  'name@xn--e1afmkfd.xn--p1ai',
  'name@пример.рф',
  'name@例子.中国',
  'name+cam@müller.de',
  'first.last@sub.domain.example.museum',
])('%s is an email address', (text) => expect(emailAddress.parse(` ${text} `)).toBe(text))

test.each([
  'name',
  'name@',
  '@example.org',
  'name@example',
  'name@пример',
  'name@127.0.0.1',
  'name@[127.0.0.1]',
  'name@example.org:25',
  'name@example.org/x',
  'name@exa mple.org',
  'name@exam%70le.org',
  'a@b@example.org',
  'имя@example.org',
  'name@-example.org',
])('%s is no email address', (text) => expect(emailAddress.safeParse(text).success).toBe(false))
