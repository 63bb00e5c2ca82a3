import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_DEPTH_MAX, JSON_GAP_MAX, JSON_NAME_MAX, JSON_VALUES_MAX, readJson } from './bounded-json.ts'

const MIB = 1024 * 1024
const read = (text: string) => readJson(Buffer.from(text))
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('JSON from an untrusted sender', () => {
  it('has the same value as with JSON.parse', () => {
    const value = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(value, fc.nat(2), (sent, indent) => {
        fc.pre(!/"(__proto__|constructor)":/.test(JSON.stringify(sent)))
        const text = JSON.stringify(sent, undefined, indent)
        expect(read(text)).toEqual({ value: JSON.parse(text) as unknown })
      }),
    )
  })

  it('has that value or a problem, for any bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc
        .array(fc.constantFrom('[', ']', '{', '}', '"', ',', ':', '\\', '1', 'a', ' ', 'é'))
        .map((parts) => Buffer.from(parts.join(''))),
    )
    fc.assert(
      fc.property(bytes, (sent) => {
        const result = readJson(sent)
        const isRight = () => isDeepStrictEqual(result, { value: JSON.parse(Buffer.from(sent).toString()) as unknown })
        expect(result.problem !== undefined || isRight()).toBe(true)
      }),
    )
  })

  it.each([
    ['at the greatest depth', nested(JSON_DEPTH_MAX)],
    ['with the greatest number of values', `[${'1,'.repeat(JSON_VALUES_MAX - 3)}1]`],
    ['with the longest name', `{"${'n'.repeat(JSON_NAME_MAX)}":1}`],
    ['with brackets, commas and names inside of a text', JSON.stringify({ text: '[{,:"\\'.repeat(MIB / 8) })],
    ['with the same name in two objects', '{"a":{"x":1},"b":{"x":1}}'],
  ])('is accepted %s', (_case, text) => {
    expect(read(text)).toEqual({ value: JSON.parse(text) as unknown })
  })

  it.each([
    ['one level more', nested(JSON_DEPTH_MAX + 1)],
    ['47 MiB of brackets', '['.repeat(47 * MIB)],
    ['a million objects', `[${'{},'.repeat(MIB)}{}]`],
    ['a million nested objects', '{"a":'.repeat(MIB)],
    ['a million numbers', `[${'0,'.repeat(MIB)}0]`],
    ['too many names', `{${Array.from({ length: JSON_VALUES_MAX }, (_, i) => `"${i}":0`).join(',')}}`],
    ['a name that is too long', `{"${'n'.repeat(JSON_NAME_MAX + 1)}":1}`],
    ['a number of a million digits', `[${'1'.repeat(MIB)}]`],
    ['a million spaces', `[1${' '.repeat(MIB)}]`],
    ['only spaces', ' '.repeat(JSON_GAP_MAX + 1)],
  ])('is refused with %s', (_case, text) => {
    expect(read(text)).toEqual({ problem: 'too-complex' })
  })

  it.each([
    ['a name twice', '{"a":1,"b":2,"a":3}'],
    ['a name twice, once escaped', String.raw`{"a":1,"\u0061":2}`],
    ['__proto__', '{"__proto__":{"role":"admin"}}'],
    ['__proto__, escaped', String.raw`[{"x":{"\u005f_proto__":1}}]`],
    ['constructor', '{"constructor":{"prototype":{"role":"admin"}}}'],
  ])('is refused with %s', (_case, text) => {
    expect(read(text)).toEqual({ problem: 'ambiguous' })
  })

  it.each([
    '',
    ' ',
    '{',
    '{"a"}',
    '{"a":}',
    '[1,]',
    'NaN',
    '[Infinity]',
    '01',
    "{'a':1}",
    '"\\',
    '"',
    '{"\\x":1}',
    '{:1}',
    '\u0000',
  ])('is refused as malformed: %j', (text) => {
    expect(read(text)).toEqual({ problem: 'malformed' })
  })

  it('is refused when its bytes are not UTF-8', () => {
    expect(readJson(Buffer.from([0x22, 0xff, 0x22]))).toEqual({ problem: 'malformed' })
    expect(readJson(Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]))).toEqual({ problem: 'malformed' })
  })
})
