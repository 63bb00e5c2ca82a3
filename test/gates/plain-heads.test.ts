import { expect, it } from 'vitest'
import { createRandom } from '../../packages/wireguard/fuzz/mutate.ts'
import { compare, makeHead } from '../fuzz/http/heads.ts'

it(
  'reads what it takes as Node’s parser does, to the byte where the next request begins',
  { timeout: 60_000 },
  async () => {
    const random = createRandom(7)
    let taken = 0
    for (let heads = 0; heads < 6_000; heads++) if (await compare(makeHead(random))) taken++
    expect(taken).toBeGreaterThan(1_000)
  },
)
