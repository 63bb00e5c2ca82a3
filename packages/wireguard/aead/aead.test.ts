import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { compile } from './build.ts'

const committed = new Uint8Array(readFileSync(join(import.meta.dirname, 'chacha20-poly1305.wasm')))
const FIRST = 64
const DATA = 1152

type Module = {
  memory: WebAssembly.Memory
  seal(low: number, high: number, adLength: number, length: number): void
  open(low: number, high: number, adLength: number, length: number): number
}

function instantiate() {
  const module = new WebAssembly.Instance(new WebAssembly.Module(committed)).exports as Module
  return { module, memory: new Uint8Array(module.memory.buffer) }
}

test('a rebuild gives the committed bytes', { timeout: 60_000 }, async () => {
  const rebuilt = await compile()
  expect(Buffer.compare(rebuilt, committed)).toBe(0)
})

test('the module asks for nothing and can grow nothing', () => {
  const module = new WebAssembly.Module(committed)
  expect(WebAssembly.Module.imports(module)).toEqual([])
  expect(WebAssembly.Module.exports(module).map(({ name }) => name)).toEqual(['seal', 'open', 'memory'])
  const { memory } = instantiate().module
  expect(() => memory.grow(1)).toThrow(RangeError)
})

test('nothing but the data stays in memory after a call', () => {
  const { module, memory } = instantiate()
  const key = Uint8Array.from({ length: 32 }, (_, i) => i + 1)
  for (const [index, length] of [0, 1, 15, 16, 191, 192, 193, 1420, 65_535].entries()) {
    const adLength = [0, 32, 128][index % 3]!
    memory.fill(0)
    memory.set(key)
    memory.fill(0xbb, DATA - adLength, DATA)
    memory.fill(0xaa, DATA, DATA + length)
    module.seal(1, 2, adLength, length)
    const end = DATA + length + 16
    expect(memory.subarray(0, DATA).some((byte) => byte !== 0)).toBe(false)
    expect(memory.subarray(end).some((byte) => byte !== 0)).toBe(false)

    memory.set(key)
    memory.fill(0xbb, DATA - adLength, DATA)
    expect(module.open(1, 2, adLength, length)).toBe(1)
    expect(memory.subarray(0, DATA).some((byte) => byte !== 0)).toBe(false)
    expect(memory.subarray(DATA, DATA + length).every((byte) => byte === 0xaa)).toBe(true)
    expect(memory.subarray(DATA + length).some((byte) => byte !== 0)).toBe(false)
  }
})

test('a forged message is not decrypted', () => {
  const { module, memory } = instantiate()
  memory.set(
    Uint8Array.from({ length: 64 }, (_, i) => i),
    DATA,
  )
  expect(module.open(0, 0, 0, 48)).toBe(0)
  expect(Array.from(memory.subarray(DATA, DATA + 48))).toEqual(Array.from({ length: 48 }, (_, i) => i))
})

/** RFC 8439 §2.5 with the integers of the language, over whole blocks. */
function referenceTag(r: bigint, s: bigint, blocks: bigint[]): bigint {
  const clamped = r & 0x0ffffffc0ffffffc0ffffffc0fffffffn
  let h = 0n
  for (const block of blocks) h = ((h + block + (1n << 128n)) * clamped) % ((1n << 130n) - 5n)
  return (h + s) & ((1n << 128n) - 1n)
}

test(
  'Poly1305 is that of RFC 8439, also where carries run through and where the last subtraction decides',
  { timeout: 60_000 },
  async () => {
    type Poly = {
      memory: WebAssembly.Memory
      polyBegin(): void
      polyBlocks(at: number, end: number): void
      polyEnd(tag: number): void
    }
    const poly = new WebAssembly.Instance(new WebAssembly.Module(await compile('poly1305'))).exports as Poly
    const view = new DataView(poly.memory.buffer)
    const write = (at: number, value: bigint) => {
      view.setBigUint64(at, value & 0xffffffffffffffffn, true)
      view.setBigUint64(at + 8, value >> 64n, true)
    }
    const ones = (1n << 128n) - 1n
    const word = fc.oneof(
      fc.bigInt(0n, ones),
      fc.constantFrom(
        0n,
        1n,
        2n,
        4n,
        5n,
        ones,
        ones - 1n,
        ones - 2n,
        ones - 4n,
        ones - 5n,
        ones - 6n,
        1n << 127n,
        (ones << 64n) & ones,
      ),
    )
    fc.assert(
      fc.property(word, word, fc.array(word, { maxLength: 8 }), (r, s, blocks) => {
        write(FIRST, r)
        write(FIRST + 16, s)
        for (const [i, block] of blocks.entries()) write(DATA + i * 16, block)
        poly.polyBegin()
        poly.polyBlocks(DATA, DATA + blocks.length * 16)
        poly.polyEnd(0)
        expect(view.getBigUint64(0, true) | (view.getBigUint64(8, true) << 64n)).toBe(referenceTag(r, s, blocks))
      }),
      {
        numRuns: 3000,
        examples: [
          [2n, 0n, [ones]],
          [2n, ones, [2n]],
          [2n, 0n, [ones - 2n]],
          [1n, 0n, [ones, ones - 15n, 17n]],
          [1n, 0n, [ones - 4n]],
        ],
      },
    )
  },
)
