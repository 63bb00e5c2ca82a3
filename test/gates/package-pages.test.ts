import { expect, it } from 'vitest'
import { mistakesInPackagePage } from '../../scripts/package-pages.ts'

const mistakesIn = (text: string) => mistakesInPackagePage(text, 'packages/wireguard')

it('accepts a page whose files, names and titles exist', () => {
  expect(
    mistakesIn(
      '| `timers.ts` (`isDueForSending`, `isDueForReceiving`) | `timers.test.ts` ("a responder does not renew after 120 s") | ' +
        '`fuzz/target.ts` `bench/tunnel.ts`, not `this` and "that"',
    ),
  ).toEqual([])
})

it('names a missing file, and a missing name and title in a file', () => {
  expect(
    mistakesIn('`nowhere.ts`, `timers.ts` (`isDueForSend`, `traversed`), `timers.test.ts` ("a title of nothing")'),
  ).toEqual(['there is no nowhere.ts', 'timers.ts has no isDueForSend', 'timers.test.ts has no "a title of nothing"'])
})
