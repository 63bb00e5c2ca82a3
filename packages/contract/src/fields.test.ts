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
  ['a Latin word with a Persian ending', 'iPhone\u200cها'],
  ['a Persian digit with an ending', '۵\u200cام'],
  ['a number with a Persian ending', '10\u200cها'],
  ['a Malayalam word that ends with a joiner', 'അവന\u0d4d\u200d'],
  ['a Malayalam word with its joiner before a blank', 'അവന\u0d4d\u200d 2'],
  ['a Hindi word that ends with a visible virama', 'श्रीमान\u094d\u200c जी'],
  ['the flag of England', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ['the flag of Texas', '🏴\u{e0075}\u{e0073}\u{e0074}\u{e0078}\u{e007f} ranch'],
  ['an ideograph with its variant', '葛\u{e0100}城'],
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
  'iPhone\u200cs',
  'iPhone\u200dها',
  '۵\u200d5',
  '10\u200c',
  '-\u200cها',
  '\u200c',
  '\u200d',
  'a\u{e0067}\u{e0062}\u{e0065}\u{e007f}',
  '🏴\u{e0067}\u{e0062}\u{e0065}',
  '🏴\u{e007f}',
  '🐑\u{e0067}\u{e0062}\u{e0065}\u{e007f}',
  'a\u{e0100}',
  '\u{e0100}葛',
  'گ\u{e0100}',
  '葛\u{e0041}',
  'ها\u202eبا',
])('the invisible character of %j is refused, and taken out of what a device reports', (text) => {
  expect(oneLine(50).safeParse(text).success).toBe(false)
  expect(cleanLine(50).parse(text)).toBe(text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''))
})

test('a second joiner after a virama is refused', () => {
  expect(oneLine(50).safeParse('ന\u0d4d\u200d\u200d').success).toBe(false)
})

test.each([
  'name@example.org',
  'name@xn--e1afmkfd.xn--p1ai',
  'name@пример.рф',
  'name@例子.中国',
  'name+cam@müller.de',
  'first.last@sub.domain.example.museum',
  'ada&x@example.net',
  'ada+a=b@example.net',
  "!#$%&'*+-/=?^_`{|}~@example.net",
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
  '.a@example.org',
  'a.@example.org',
  'a..b@example.org',
  'a b@example.org',
  'a,b@example.org',
  'a<b@example.org',
  '"a"@example.org',
  'a\n@example.org',
  'name@-example.org',
])('%s is no email address', (text) => expect(emailAddress.safeParse(text).success).toBe(false))
