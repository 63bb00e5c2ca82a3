import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainOf, readYaml } from './yaml.ts'

const SIZE = 256 * 1024
const many = (one: (index: number) => string, count: number, between: string) =>
  Array.from({ length: count }, (_, index) => one(index)).join(between)
const full = (unit: string, before = '', after = '') => before + unit.repeat((SIZE - 10) / unit.length) + after
const told = (text: string) => readYaml(text).errors?.map(({ line, column, message }) => `${line}:${column} ${message}`)

test.each<[string, string, string]>([
  ['larger than 256 KB', 'a'.repeat(SIZE + 1), '1:1 The file is larger than 256 KB.'],
  ['20,000 different keys', many((index) => `k${index}: 1`, 20_000, '\n'), 'The file has too many values.'],
  ['20,000 keys between braces', `{${many((index) => `k${index}: 1`, 20_000, ', ')}}`, 'The file has too many values.'],
  ['brackets in brackets', full('['), '1:31 The file is nested too deep.'],
  ['braces in braces', full('{'), '1:31 The file is nested too deep.'],
  ['lists in lists', full('- '), '1:60 The file is nested too deep.'],
  ['keys in keys', full('? '), '1:60 The file is nested too deep.'],
  ['groups in groups', many((index) => `${' '.repeat(index)}a:`, 700, '\n'), '30:31 The file is nested too deep.'],
  ['documents', full('---\n'), '2:1 A second document begins here'],
  ['aliases', `[&a 1, ${many(() => '*a', 5_000, ', ')}]`, 'The file uses too many aliases.'],
  ['comments', full('#\n'), 'The file has too many values.'],
  ['tabs', full('\t\n'), 'The file has too many values.'],
  ['quotation marks', full('"'), 'The file has too many values.'],
  ['anchors', full('&a '), 'The file has too many values.'],
])('%s are refused before they are values', (_what, text, words) => {
  expect(told(text)).toEqual([expect.stringContaining(words)])
})

test.each<[string, string]>([
  ['a: 1\n<<: *b\nc: &b {}', '2:1 YAML 1.2 has no `<<`: write the keys out, or use `*name` for the whole group.'],
  ['a: 1\nb: 2\na: 3', '3:1 This key is there twice: line 1 has it too.'],
  ['? !file keys.json\n: 1', '1:9 A key cannot come from a file.'],
  ['"${HOME}": 1', '1:1 A key cannot come from a variable.'],
  ['? [a, b]\n: 1', '1:3 A key must be text.'],
  ['\u00a0 a: 1', '1:1 This key has an unusual space (U+00A0). Write a usual one.'],
  ['a:\n\tb: 1', '2:1 This line begins with a tab. Write spaces.'],
  ['---\na: 1\n---\nb: 1', '3:1 A second document begins here (`---`); the file is one document.'],
  ['a: \u00ef\ufffd', '1:5 This is not UTF-8. Save the file as UTF-8.'],
  ['\ufffd\ufffda\0:\0', '1:1 This is not UTF-8. Save the file as UTF-8.'],
  ['a: "b', '1:6 The closing quotation mark is missing.'],
  ['a: *b', '1:4 There is no anchor of this name before this alias.'],
  ['a: !secret b', '1:4 This ! word is not known; there is only !file.'],
  ['a: !!secret b', '1:4 This ! word is not known; there is only !file.'],
  ['cameras: {b: !!binary aGk=}', '1:14 !!binary is not known; there is only !file.'],
  ['a:\n  - !!set {x, y}', '2:5 !!set is not known; there is only !file.'],
  ['a: [!!omap [x: 1]]', '1:5 !!omap is not known; there is only !file.'],
  ['a: !!pairs\n  - x: 1', '1:4 !!pairs is not known; there is only !file.'],
  ['a: !!timestamp 2001-12-14', '1:4 !!timestamp is not known; there is only !file.'],
  ['!!binary a: 5', '1:1 !!binary is not known; there is only !file.'],
  ['a: !<tag:yaml.org,2002:binary> aGk=', '1:4 This ! word is not known; there is only !file.'],
  ['a: @b', '1:4 A text that begins with this sign needs quotation marks.'],
])('%j is refused in words', (text, words) => {
  expect(told(text)).toContain(words)
})

test('what one bracket makes unexpected is told once', () => {
  const words = 'This is not expected here. Is a bracket or a quotation mark missing before it?'
  expect(told('a: 1\n]\nb: ]\nc: }\n')).toEqual([`2:1 ${words}`])
  expect(told('{ "a": 1 }, "b": { "c": @d } }')).toContain(`1:11 ${words}`)
})

test('no error of YAML repeats what is written, which may be a secret', () => {
  for (const text of [
    'a: "hunter2" hunter2',
    '"a": "\\hunter2"',
    'a: *hunter2',
    'a: !hunter2 b',
    'hunter2',
    'a: [hunter2',
  ])
    expect(JSON.stringify(readYaml(text).errors ?? '')).not.toContain('hunter2')
})

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [key, ...keysOf(each)])
}

const sign = fc.constantFrom(
  ...'{}[],:?-*&!|>#%@`"\'\\\n\t a1$~',
  ': ',
  '- ',
  '? ',
  '\n  ',
  '<<',
  '!file ',
  '${A}',
  '---\n',
)

test('any text is read or refused, and what is read has plain, different keys', () => {
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 60 }), (signs) => {
      const { yaml, errors } = readYaml(signs.join(''))
      const keys = yaml ? keysOf(plainOf(yaml.document)?.value) : []
      expect(errors).not.toEqual([])
      expect(keys.join(' ')).not.toContain('${')
    }),
    { numRuns: 2_000 },
  )
})

test('a file as large as a device needs is read', () => {
  const zones = `{ ${many((index) => `zone ${index}: [[0.123, 0.4], [1, 0.4], [1, 1], [0, 1], [0, 0.7]]`, 10, ', ')} }`
  const cameras = many((index) => `  camera ${index}: { url: "http://10.0.0.1/${index}", zones: ${zones} }`, 64, '\n')
  expect(Object.keys(readYaml(`cameras:\n${cameras}\n`).yaml?.document.toJS() as object)).toEqual(['cameras'])
})
