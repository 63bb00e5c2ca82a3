/**
 * Takes a plain JPEG as it is, without what is hidden in it: baseline, in grey or YCbCr, with one scan, as cameras
 * write it (ITU-T T.81, annex B). All of what is returned was read to the last bit; comments, what APP0 holds and what
 * is behind the end are left out. This reader refuses every other picture, broken or not.
 */
import { huffmanTable, readScan, type HuffmanTable, type Scan } from './jpeg-scan.ts'

const SOF0 = 0xc0
const DHT = 0xc4
const SOI = 0xd8
const SOS = 0xda
const DQT = 0xdb
const DRI = 0xdd
const APP0 = 0xe0
const COM = 0xfe
/** SOI, and an APP0 of JFIF 1.02: square pixels, no thumbnail. */
const START = Buffer.from('ffd8ffe000104a46494600010200000100010000', 'hex')
const END = Buffer.from('ffd9', 'hex')
/** How a baseline scan ends its header: all 64 coefficients, with all their bits. */
const WHOLE = Buffer.from([0, 63, 0])
const QUANTITIES = 64
const BLOCK = 8
const TABLES = 2

type Frame = { width: number; height: number; components: { across: number; down: number; quantities: number }[] }
type Header = {
  pixelsMax: number
  frame?: Frame
  interval?: number
  quantities: Set<number>
  /** By class and number: DC 0 and 1, then AC 0 and 1. */
  codes: Map<number, HuffmanTable>
}

/** Each returns false for what a plain picture does not have, and for what it has twice. */
const READERS: Record<number, (body: Buffer, header: Header) => boolean> = {
  [SOF0]: readFrame,
  [DHT]: readCodes,
  [DQT]: readQuantities,
  [DRI]: readInterval,
}

/** The picture and nothing else; undefined when it is not a plain one, or has more than `pixelsMax`. */
export function plainJpeg(bytes: Buffer, pixelsMax: number): Buffer | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== SOI) return undefined
  const header: Header = { pixelsMax, quantities: new Set(), codes: new Map() }
  const parts: Buffer[] = [START]
  for (let at = 2; at + 4 <= bytes.length;) {
    const next = at + 2 + bytes.readUInt16BE(at + 2)
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff || next < at + 4 || next > bytes.length) return undefined
    const body = bytes.subarray(at + 4, next)
    if (marker === SOS) {
      const scan = scanOf(body, header)
      const end = scan && readScan(bytes, next, scan)
      return end === undefined ? undefined : Buffer.concat([...parts, bytes.subarray(at, end), END])
    }
    if (marker !== APP0 && marker !== COM) {
      if (!READERS[marker]?.(body, header)) return undefined
      parts.push(bytes.subarray(at, next))
    }
    at = next
  }
  return undefined
}

function readFrame(body: Buffer, header: Header): boolean {
  const [precision, , , , , count] = body
  if (header.frame || precision !== 8 || (count !== 1 && count !== 3) || body.length !== 6 + 3 * count) return false
  const [height, width] = [body.readUInt16BE(1), body.readUInt16BE(3)]
  // A height of 0 means that the height follows the scan.
  if (height === 0 || width === 0 || width * height > header.pixelsMax) return false
  const components: Frame['components'] = []
  for (let own = 0; own < count; own++) {
    const [id, sampling, quantities] = body.subarray(6 + 3 * own) as unknown as [number, number, number]
    const across = sampling >> 4
    const down = sampling & 15
    // Colours have half the resolution of the brightness or the same; a picture in grey has nothing to compare with.
    const most = count === 3 && own === 0 ? 2 : 1
    if (id !== own + 1 || across < 1 || across > most || down < 1 || down > most) return false
    components.push({ across, down, quantities })
  }
  header.frame = { width, height, components }
  return true
}

function readQuantities(body: Buffer, { quantities }: Header): boolean {
  for (let at = 0; at < body.length; at += 1 + QUANTITIES) {
    const number = body[at]!
    const table = body.subarray(at + 1, at + 1 + QUANTITIES)
    if (number > 3 || quantities.has(number) || table.length < QUANTITIES || table.includes(0)) return false
    quantities.add(number)
  }
  return true
}

function readCodes(body: Buffer, { codes }: Header): boolean {
  for (let at = 0; at < body.length;) {
    const key = body[at]!
    const counts = body.subarray(at + 1, at + 17)
    const symbols = at + 17 + counts.reduce((sum, count) => sum + count, 0)
    if ((key & 15) >= TABLES || key >> 4 > 1 || codes.has(key) || symbols > body.length) return false
    const table = huffmanTable(key >> 4 === 0 ? 'dc' : 'ac', counts, body.subarray(at + 17, symbols))
    if (!table) return false
    codes.set(key, table)
    at = symbols
  }
  return true
}

function readInterval(body: Buffer, header: Header): boolean {
  if (header.interval !== undefined || body.length !== 2) return false
  header.interval = body.readUInt16BE(0)
  return true
}

/** The only scan, of all components. */
function scanOf(body: Buffer, { frame, interval = 0, quantities, codes }: Header): Scan | undefined {
  if (!frame) return undefined
  const count = frame.components.length
  if (body[0] !== count || !body.subarray(1 + 2 * count).equals(WHOLE)) return undefined
  const components: Scan['components'][number][] = []
  for (const [own, component] of frame.components.entries()) {
    const [id, tables] = body.subarray(1 + 2 * own) as unknown as [number, number]
    const dc = codes.get(tables >> 4)
    const ac = codes.get(0x10 + (tables & 15))
    if (id !== own + 1 || tables >> 4 >= TABLES || !dc || !ac || !quantities.has(component.quantities)) return undefined
    components.push({ blocks: component.across * component.down, dc, ac })
  }
  const [{ across, down }] = frame.components as [Frame['components'][number]]
  const mcus = Math.ceil(frame.width / (BLOCK * across)) * Math.ceil(frame.height / (BLOCK * down))
  return { components, mcus, interval }
}
