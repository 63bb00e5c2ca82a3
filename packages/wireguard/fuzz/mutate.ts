/** Changes to inputs, from a seeded source so that a run repeats. */

export type Random = (below: number) => number

/** xorshift32: small, and the same everywhere. `below` is at least 1. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const INTERESTING = [0, 1, 2, 3, 4, 0x2e, 0x2f, 0x30, 0x3a, 0x45, 0x60, 0x7f, 0x80, 0xff]
const MAX_BYTES = 2_000

/** One to four changes: a byte, a bit, an end cut off, something grown, or a piece of another input. */
export function mutate(original: Uint8Array, other: Uint8Array, random: Random, maxBytes = MAX_BYTES): Uint8Array {
  let data = Uint8Array.from(original)
  for (let changes = 1 + random(4); changes > 0; changes--) data = change(data, other, random)
  return data.subarray(0, maxBytes)
}

function change(data: Uint8Array<ArrayBuffer>, other: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  const at = random(data.length + 1)
  const how = random(6)
  if (how === 0) return data.slice(0, at)
  if (how === 1) return Uint8Array.from([...data, ...Array.from({ length: 1 + random(64) }, () => random(256))])
  if (how === 2) return Uint8Array.from([...data.subarray(0, at), ...other.subarray(random(other.length + 1))])
  if (at === data.length) return data
  if (how === 3) data[at] = random(256)
  if (how === 4) data[at] = INTERESTING[random(INTERESTING.length)] ?? 0
  if (how === 5) data[at] = (data[at] ?? 0) ^ (1 << random(8))
  return data
}
