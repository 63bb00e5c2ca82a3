import fc from 'fast-check'
import sharp, { type JpegOptions } from 'sharp'
import { expect, test } from 'vitest'
import { plainJpeg } from './plain-jpeg.ts'

const PIXELS_MAX = 4_000_000
const PAGE = Buffer.from('<script>alert(1)</script>')

type Shape = { width: number; height: number; channels: 1 | 3 }

/** Some smooth colours with noise, so that codes of all lengths occur. */
function drawn({ width, height, channels }: Shape, seed: number, options: JpegOptions): Promise<Buffer> {
  const raw = Buffer.alloc(width * height * channels)
  for (let at = 0, state = seed; at < raw.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    raw[at] = 128 + 100 * Math.sin(at / 97 + seed) + (state >>> 27)
  }
  const picture = sharp(raw, { raw: { width, height, channels } })
  return (channels === 1 ? picture.toColourspace('b-w') : picture).jpeg(options).toBuffer()
}

const pixels = (jpeg: Buffer) => sharp(jpeg, { failOn: 'warning' }).raw().toBuffer()
const take = (jpeg: Buffer) => plainJpeg(jpeg, PIXELS_MAX)

const PLAIN = await drawn({ width: 50, height: 35, channels: 3 }, 1, { quality: 80 })
/** With the usual tables of codes. */
const GREY = await drawn({ width: 50, height: 35, channels: 1 }, 2, { optimiseCoding: false })

/** Where the segment with this marker is, from its marker to its end. */
function segment(jpeg: Buffer, marker: number): { start: number; end: number } {
  for (let start = 2; ;) {
    const end = start + 2 + jpeg.readUInt16BE(start + 2)
    if (jpeg[start + 1] === marker) return { start, end }
    start = end
  }
}

const insert = (jpeg: Buffer, at: number, ...added: Buffer[]) =>
  Buffer.concat([jpeg.subarray(0, at), ...added, jpeg.subarray(at)])

const made = (marker: number, body: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255]), body])

/** The same picture with one byte of a segment set; `offset` counts from its marker. */
function changed(marker: number, offset: number, value: number, jpeg = PLAIN): Buffer {
  const copy = Buffer.from(jpeg)
  copy[segment(jpeg, marker).start + offset] = value
  return copy
}

/**
 * A grey bar, one block high: with the usual tables 00 says that a block is as bright as the one before, 1010 that it
 * has no more, and ones fill the byte. A restart marker follows each block.
 */
function restarting(blocks: number, marker = (block: number) => 0xd0 + (block & 7)): Buffer {
  const header = GREY.subarray(0, segment(GREY, 0xda).end)
  const sized = changed(0xc0, 0, 0xff, header)
  sized.writeUInt16BE(8, segment(header, 0xc0).start + 5)
  sized.writeUInt16BE(8 * blocks, segment(header, 0xc0).start + 7)
  const scan = Array.from({ length: blocks }, (_, block) => (block === 0 ? [0x2b] : [0xff, marker(block - 1), 0x2b]))
  return Buffer.concat([
    insert(sized, segment(sized, 0xda).start, made(0xdd, Buffer.from([0, 1]))),
    Buffer.from([...scan.flat(), 0xff, 0xd9]),
  ])
}

test('what encoders write is taken, with the same pixels', async () => {
  const shapes = fc.record({
    width: fc.integer({ min: 1, max: 70 }),
    height: fc.integer({ min: 1, max: 70 }),
    channels: fc.constantFrom(1 as const, 3 as const),
  })
  const options = fc.record({
    quality: fc.integer({ min: 1, max: 100 }),
    optimiseCoding: fc.boolean(),
    chromaSubsampling: fc.constantFrom('4:2:0', '4:4:4'),
  })
  await fc.assert(
    fc.asyncProperty(shapes, fc.nat(), options, async (shape, seed, option) => {
      const jpeg = await drawn(shape, seed, option)
      const taken = take(jpeg)
      expect(taken).toBeDefined()
      expect((await pixels(taken!)).equals(await pixels(jpeg))).toBe(true)
      expect(take(taken!)!.equals(taken!)).toBe(true)
    }),
    { numRuns: 40 },
  )
}, 60_000)

test('what is taken of a broken picture, another decoder reads without a warning, as the same pixels', async () => {
  const place = fc.double({ min: 0, max: 1, noNaN: true })
  const piece = fc.tuple(place, fc.integer({ min: 0, max: 12 }), fc.uint8Array({ maxLength: 6 }))
  let found = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(PLAIN, GREY, restarting(20)),
      fc.array(piece, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (jpeg, pieces, isSameLength) => {
        let bytes = jpeg
        for (const [where, removed, added] of pieces) {
          const at = Math.floor(where * bytes.length)
          const behind = at + (isSameLength ? added.length : removed)
          bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(behind)])
        }
        const taken = take(bytes)
        if (!taken) return
        found += 1
        expect((await pixels(taken)).equals(await pixels(bytes))).toBe(true)
      },
    ),
    { numRuns: 600 },
  )
  expect(found).toBeGreaterThan(0)
}, 60_000)

test('whatever bytes come, the reader ends without an error', () => {
  const starts = fc.constantFrom(...[2, 0xdb, 0xc0, 0xc4, 0xda].map((at) => (at === 2 ? 2 : segment(PLAIN, at).end)))
  fc.assert(
    fc.property(starts, fc.uint8Array({ maxLength: 300 }), (start, tail) => {
      expect(() => take(Buffer.concat([PLAIN.subarray(0, start), tail]))).not.toThrow()
    }),
    { numRuns: 500 },
  )
})

const { start: frameAt } = segment(PLAIN, 0xc0)

test.each([
  ['a page behind the end', Buffer.concat([PLAIN, PAGE])],
  ['an archive behind the end', Buffer.concat([PLAIN, Buffer.from('PK\x03\x04 <script>')])],
  ['another picture behind the end', Buffer.concat([PLAIN, insert(PLAIN, 2, made(0xfe, PAGE))])],
  ['a comment', insert(PLAIN, 2, made(0xfe, PAGE))],
  ['a comment before the scan', insert(PLAIN, segment(PLAIN, 0xda).start, made(0xfe, PAGE))],
  ['a thousand comments', insert(PLAIN, frameAt, ...Array.from({ length: 1_000 }, () => made(0xfe, PAGE)))],
  ['a second APP0', insert(PLAIN, frameAt, made(0xe0, Buffer.concat([Buffer.from('JFXX\0'), PAGE])))],
])('the picture is the same without %s', (_what, hiding) => {
  expect(take(hiding)!.equals(take(PLAIN)!)).toBe(true)
  expect(take(hiding)!.includes('script')).toBe(false)
})

test('restart markers stay, in their order', async () => {
  const bar = restarting(20)
  expect(take(bar)!.subarray(-60)).toEqual(bar.subarray(-60))
  expect((await pixels(take(bar)!)).equals(await pixels(bar))).toBe(true)
  expect(take(restarting(20, () => 0xd0))).toBeUndefined()
  expect(take(restarting(20, (block) => 0xd0 + ((block + 1) & 7)))).toBeUndefined()
})

test('no part of a picture is taken', () => {
  for (const jpeg of [PLAIN, restarting(20)])
    for (let length = 0; length < jpeg.length; length++) expect(take(jpeg.subarray(0, length))).toBeUndefined()
})

test('no segment may lie about its length', () => {
  for (const marker of [0xdb, 0xc0, 0xc4, 0xda]) {
    const { start, end } = segment(PLAIN, marker)
    for (const length of [0, 1, 2, 3, end - start - 3, end - start - 1, 0xffff]) {
      const lying = Buffer.from(PLAIN)
      lying.writeUInt16BE(length, start + 2)
      expect(take(lying)).toBeUndefined()
    }
  }
})

const scanAt = segment(PLAIN, 0xda)
const exif = Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0', 'latin1')
const unfilled = restarting(1)
unfilled[unfilled.length - 3] = 0x28
const dnl = made(0xdc, Buffer.from([0, 35]))

test.each([
  ['a progressive one', await drawn({ width: 50, height: 35, channels: 3 }, 1, { progressive: true })],
  ['one in CMYK', await sharp(PLAIN).toColourspace('cmyk').jpeg().toBuffer()],
  ['arithmetic codes', changed(0xc0, 1, 0xc9)],
  ['another kind of frame', changed(0xc0, 1, 0xc1)],
  ['12 bits', changed(0xc0, 4, 12)],
  ['a height that is told behind the scan', insert(changed(0xc0, 6, 0), PLAIN.length - 2, dnl)],
  ['a DNL', insert(PLAIN, PLAIN.length - 2, dnl)],
  ['a width of 0', changed(0xc0, 8, 0)],
  ['twice the height', changed(0xc0, 6, 70)],
  ['names of components as in RGB', changed(0xc0, 10, 0x52)],
  ['four times the resolution', changed(0xc0, 11, 0x41)],
  ['colours with more resolution than brightness', changed(0xc0, 14, 0x22)],
  ['an orientation', insert(PLAIN, 2, made(0xe1, exif))],
  ['a profile of its colours', insert(PLAIN, 2, made(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01')))],
  ['colours as Adobe says', insert(PLAIN, 2, made(0xee, Buffer.from('Adobe\0\x64\0\0\0\0\0')))],
  ['two starts', insert(PLAIN, 0, PLAIN.subarray(0, 2))],
  ['a second start behind the first segment', insert(PLAIN, frameAt, PLAIN.subarray(0, 2))],
  ['two frames', insert(PLAIN, frameAt, PLAIN.subarray(frameAt, segment(PLAIN, 0xc0).end))],
  ['bytes between segments', insert(PLAIN, frameAt, Buffer.from([0xff]))],
  ['a table of zeros', changed(0xdb, 5, 0)],
  ['tables that no component needs, thousands of times', insert(PLAIN, 2, ...Array(1_000).fill(made(0xdb, PAGE)))],
  ['one table twice', insert(PLAIN, 2, PLAIN.subarray(segment(PLAIN, 0xdb).start, segment(PLAIN, 0xdb).end))],
  ['more codes than bits', changed(0xc4, 5, 3)],
  ['the code of ones', changed(0xc4, 5, 2)],
  ['a table that is not there', changed(0xda, 6, 0x22)],
  ['a scan of some coefficients', changed(0xda, scanAt.end - scanAt.start - 2, 5)],
  ['a byte more than the picture has', insert(PLAIN, PLAIN.length - 2, Buffer.from([0xff, 0]))],
  ['zeros that fill the last byte', unfilled],
  ['thousands of scans', insert(PLAIN, PLAIN.length - 2, ...Array(4_000).fill(PLAIN.subarray(scanAt.start)))],
])('%s: not taken as it is', (_what, jpeg) => {
  expect(take(PLAIN)).toBeDefined()
  expect(take(jpeg)).toBeUndefined()
})

test('pixels are bounded', () => {
  expect(plainJpeg(PLAIN, 50 * 35)).toBeDefined()
  expect(plainJpeg(PLAIN, 50 * 35 - 1)).toBeUndefined()
})

test('the longest reads end soon', async () => {
  const white = sharp({ create: { width: 2_000, height: 2_000, channels: 3, background: 'white' } })
  const flat = await white.jpeg({ chromaSubsampling: '4:4:4' }).toBuffer()
  const stuffed = insert(PLAIN, scanAt.end, Buffer.from('ff00'.repeat(130_000), 'hex'))
  const comments = insert(PLAIN, 2, ...Array<Buffer>(60_000).fill(made(0xfe, Buffer.alloc(0))))
  // Processor time, because a busy machine takes longer.
  const before = process.threadCpuUsage()
  expect(take(flat)).toBeDefined()
  expect(take(stuffed)).toBeUndefined()
  expect(take(comments)).toBeDefined()
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(2_000)
})
