/**
 * Reads the one scan of a baseline JPEG (ITU-T T.81, F.2) to its last bit, without computing a pixel: each code must be
 * in its table, each block must have 64 coefficients, each restart interval its marker. It takes time in proportion to
 * the bytes, and holds a copy of them.
 */
export type Component = { blocks: number; dc: HuffmanTable; ac: HuffmanTable }

/** `mcus` minimum coded units follow each other, with a restart marker after each `interval` of them, 0 for none. */
export type Scan = { components: readonly Component[]; mcus: number; interval: number }

/**
 * A code of at most `FAST_BITS` is found by the bits that come next: the bits of the code and of the value behind it,
 * times 256, and what the symbol means. Longer codes are found by `limits` and `offsets`, as in T.81, F.2.2.3.
 */
export type HuffmanTable = { fast: Uint16Array; limits: Int32Array; offsets: Int32Array; meanings: Uint16Array }

export type TableClass = 'dc' | 'ac'

const FAST_BITS = 9
const LONGEST_CODE = 16
const COEFFICIENTS = 64
/** The step of a code after which only zeros follow: more than any other step takes a block. */
const END_OF_BLOCK = 2 * COEFFICIENTS
const ZEROS_16 = 0xf0
const DC_BITS_MAX = 11
const AC_BITS_MAX = 10
/** Values of 8 bits, in blocks of 64, have DC coefficients of 12 bits at most. */
const DC_MAX = 2_047
/** What one MCU of six blocks may read beyond the end, before that is noticed. */
const MCU_BYTES_MAX = Math.ceil((6 * COEFFICIENTS * (LONGEST_CODE + AC_BITS_MAX)) / 8) + 4
const EOI = 0xd9
const FIRST_RST = 0xd0
const TABLES_REMEMBERED = 32

/** Most cameras use the four tables of T.81, annex K. */
const remembered = new Map<string, HuffmanTable>()

/** `counts`: how many codes there are of 1 to 16 bits; undefined for a table that no baseline JPEG may have. */
export function huffmanTable(kind: TableClass, counts: Buffer, symbols: Buffer): HuffmanTable | undefined {
  const key = kind + counts.toString('latin1') + symbols.toString('latin1')
  const remembrance = remembered.get(key)
  if (remembrance) return remembrance
  const table = makeTable(kind, counts, symbols)
  if (remembered.size >= TABLES_REMEMBERED) remembered.clear()
  if (table) remembered.set(key, table)
  return table
}

function makeTable(kind: TableClass, counts: Uint8Array, symbols: Uint8Array): HuffmanTable | undefined {
  const fast = new Uint16Array(1 << FAST_BITS)
  const limits = new Int32Array(LONGEST_CODE + 1)
  const offsets = new Int32Array(LONGEST_CODE + 1)
  const meanings = new Uint16Array(symbols.length)
  let code = 0
  let index = 0
  for (let length = 1; length <= LONGEST_CODE; length++) {
    offsets[length] = index - code
    for (const last = index + counts[length - 1]!; index < last; index++, code++) {
      const meaning = meaningOf(kind, symbols[index]!)
      // No code consists of 1 bits only: such bits fill the last byte.
      if (meaning === undefined || code >= (1 << length) - 1) return undefined
      meanings[index] = meaning
      if (length <= FAST_BITS) {
        const spare = FAST_BITS - length
        fast.fill(meaning + (length << 8), code << spare, (code + 1) << spare)
      }
    }
    limits[length] = code
    code <<= 1
  }
  return { fast, limits, offsets, meanings }
}

/** The bits of the value behind a code, times 256, and its step: to the next coefficient, or of a DC value its bits. */
function meaningOf(kind: TableClass, symbol: number): number | undefined {
  const size = symbol & 15
  if (kind === 'dc') return symbol <= DC_BITS_MAX ? (symbol << 8) + symbol : undefined
  if (symbol === 0) return END_OF_BLOCK
  if (symbol === ZEROS_16) return 16
  return size >= 1 && size <= AC_BITS_MAX ? (size << 8) + (symbol >> 4) + 1 : undefined
}

/** Where the scan that begins at `start` ends, which is where EOI is; undefined when it is not a whole one. */
export function readScan(bytes: Buffer, start: number, { components, mcus, interval }: Scan): number | undefined {
  const coded = new Uint8Array(bytes.length - start + MCU_BYTES_MAX)
  let at = start
  for (let done = 0, restarts = 0; ; restarts++) {
    let length = 0
    for (; ; at++) {
      const byte = bytes[at]
      if (byte === undefined) return undefined
      if (byte === 0xff && bytes[++at] !== 0) break
      coded[length++] = byte
    }
    const count = interval === 0 ? mcus : Math.min(interval, mcus - done)
    if (!hasUnits(coded, length, components, count)) return undefined
    done += count
    if (done === mcus) return bytes[at] === EOI ? at - 1 : undefined
    if (bytes[at++] !== FIRST_RST + (restarts & 7)) return undefined
  }
}

/** Whether the `length` bytes are exactly so many MCUs, and 1 bits fill the last byte. */
function hasUnits(coded: Uint8Array, length: number, components: readonly Component[], mcus: number): boolean {
  const end = length * 8
  const former = components.map(() => 0)
  let at = 0
  for (let mcu = 0; mcu < mcus; mcu++) {
    for (let own = 0; own < components.length; own++) {
      const { blocks, dc, ac } = components[own]!
      for (let block = 0; block < blocks; block++) {
        let next = peek(coded, at)
        let found = dc.fast[next >>> (32 - FAST_BITS)]! || longCode(dc, next)
        if (found === 0) return false
        at += found >> 8
        const size = found & 255
        if (size > 0) {
          const bits = peek(coded, at - size) >>> (32 - size)
          const value = former[own]! + (bits >> (size - 1) === 0 ? bits - (1 << size) + 1 : bits)
          if (value > DC_MAX || value < -DC_MAX) return false
          former[own] = value
        }
        let coefficient = 1
        while (coefficient < COEFFICIENTS) {
          next = peek(coded, at)
          found = ac.fast[next >>> (32 - FAST_BITS)]! || longCode(ac, next)
          if (found === 0) return false
          at += found >> 8
          coefficient += found & 255
        }
        if (coefficient > COEFFICIENTS && coefficient < END_OF_BLOCK) return false
      }
    }
    if (at > end) return false
  }
  const rest = end - at
  return rest < 8 && (rest === 0 || peek(coded, at) >>> (32 - rest) === (1 << rest) - 1)
}

/** The next 25 bits or more, from the highest one on. */
function peek(coded: Uint8Array, at: number): number {
  const byte = at >> 3
  const word = (coded[byte]! << 24) | (coded[byte + 1]! << 16) | (coded[byte + 2]! << 8) | coded[byte + 3]!
  return word << (at & 7)
}

function longCode({ limits, offsets, meanings }: HuffmanTable, next: number): number {
  for (let length = FAST_BITS + 1; length <= LONGEST_CODE; length++) {
    const code = next >>> (32 - length)
    if (code < limits[length]!) return meanings[offsets[length]! + code]! + (length << 8)
  }
  return 0
}
