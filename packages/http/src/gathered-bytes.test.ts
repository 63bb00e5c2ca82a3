import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatheredBytes } from './gathered-bytes.ts'

test('gathered bytes are those of the pieces since the last call, whatever their lengths', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 30_000 }), { maxLength: 5 })
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 3 }), (rounds) => {
      const gathered = new GatheredBytes()
      for (const round of rounds) {
        for (const piece of round) gathered.add(piece)
        const whole = Buffer.concat(round)
        expect(gathered.length).toBe(whole.length)
        expect(gathered.take().equals(whole)).toBe(true)
      }
    }),
  )
})
