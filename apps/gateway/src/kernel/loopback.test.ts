import { expect, test } from 'vitest'
import { plainAddress } from './loopback.ts'

test.for([
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8::ffff:7', '2001:db8::ffff:7'],
  ['::ffff:c000:207', '::ffff:c000:207'],
])('%s is written %s', ([address, plain]) => {
  expect(plainAddress(address!)).toBe(plain)
})
