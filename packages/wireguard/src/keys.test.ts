import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyBytes, parsePresharedKey, parsePrivateKey, parsePublicKey } from './keys.ts'

const parsers = [parsePublicKey, parsePrivateKey, parsePresharedKey]

test.each([
  ['', 'nothing'],
  ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'no padding'],
  ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=', 'unused bits set'],
  ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n', 'a line feed after it'],
  [' AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'a space'],
  ['-_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'the URL alphabet'],
  ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==', '33 bytes'],
  ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==', '31 bytes'],
])('%j is not a key: %s', (text) => {
  for (const parse of parsers) expect(parse(text)).toBeUndefined()
})

test('every 32 bytes have one text, and it is read back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      for (const parse of parsers) {
        expect(parse(text)).toBe(text)
        expect(keyBytes(parse(text)!)).toEqual(bytes)
      }
    }),
  )
})

test('no text makes a parser throw, and an accepted text decodes to 32 bytes', () => {
  const text = fc.oneof(fc.string(), fc.base64String({ minLength: 44, maxLength: 44 }))
  fc.assert(
    fc.property(text, (candidate) => {
      const key = parsePublicKey(candidate)
      expect(key === undefined ? 32 : keyBytes(key).length).toBe(32)
    }),
  )
})
