import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { noiseJpeg } from '#testing/jpeg.ts'
import { expect, test } from 'vitest'
import { cleanJpeg } from './pictures.ts'

const GATEWAY = 'a'
const BOAR = readFileSync(join(import.meta.dirname, '../../../../scripts/demo-frames/boar.jpg'))

/** The same file with another size in its frame header (ITU-T T.81, B.2.2). */
function claiming(width: number, height: number): Buffer {
  const copy = Buffer.from(BOAR)
  let at = 2
  while (![0xc0, 0xc1, 0xc2].includes(copy[at + 1]!)) at += 2 + copy.readUInt16BE(at + 2)
  copy.writeUInt16BE(height, at + 5)
  copy.writeUInt16BE(width, at + 7)
  return copy
}

test('a picture stays the picture, and loses what is hidden in it', async () => {
  const page = Buffer.from('<script>alert(1)</script>')
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, page.length + 2]), page])
  const hiding = Buffer.concat([BOAR.subarray(0, 2), comment, BOAR.subarray(2), page])
  const clean = await cleanJpeg(GATEWAY, hiding)
  expect(clean?.includes('script')).toBe(false)
  const [before, after] = await Promise.all([BOAR, clean!].map((bytes) => sharp(bytes).metadata()))
  expect([after!.format, after!.width, after!.height]).toEqual(['jpeg', before!.width, before!.height])
})

/** All but how the file begins: tables, frame and scan. */
const content = (jpeg: Buffer | undefined) => jpeg?.subarray(jpeg.indexOf(Buffer.from([0xff, 0xdb])))

test('a plain picture is kept as the gateway encoded it', async () => {
  const plain = await sharp(BOAR).jpeg({ quality: 91 }).toBuffer()
  const clean = await cleanJpeg(GATEWAY, Buffer.concat([plain, Buffer.from('<script>alert(1)</script>')]))
  expect(content(clean)).toEqual(content(plain))
})

test.each([
  ['a progressive one', (picture: Sharp) => picture.jpeg({ progressive: true }), [320, 180]],
  ['one in CMYK', (picture: Sharp) => picture.toColourspace('cmyk').jpeg(), [320, 180]],
  ['one that has to be turned', (picture: Sharp) => picture.withMetadata({ orientation: 6 }).jpeg(), [180, 320]],
] as const)('%s is encoded anew, as a plain picture', async (_what, write, size) => {
  const clean = await cleanJpeg(GATEWAY, await write(sharp(BOAR)).toBuffer())
  const { width, height, space, orientation } = await sharp(clean).metadata()
  expect([width, height, space, orientation]).toEqual([...size, 'srgb', undefined])
  expect(content(await cleanJpeg(GATEWAY, clean!))).toEqual(content(clean))
})

test('a picture near the limit stays below it', async () => {
  const large = await noiseJpeg(290)
  expect(large.length).toBeGreaterThan(55_000)
  expect((await cleanJpeg(GATEWAY, large))?.length).toBeLessThanOrEqual(64 * 1024)
})

test.each([
  ['a page', Buffer.from('<html><script>alert(1)</script></html>')],
  ['a page behind the first bytes of a JPEG', Buffer.concat([BOAR.subarray(0, 3), Buffer.from('<script>')])],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
  ['half of a file', BOAR.subarray(0, BOAR.length / 2)],
  ['a claim of 65,000 by 65,000 pixels', claiming(65_000, 65_000)],
  ['a claim of 5,000 by 5,000 pixels', claiming(5_000, 5_000)],
  ['more than 64 KiB', Buffer.concat([BOAR, Buffer.alloc(70_000)])],
  ['nothing', Buffer.alloc(0)],
])('%s is none', async (_what, bytes) => {
  expect(await cleanJpeg(GATEWAY, bytes)).toBeUndefined()
})

test('many at once all come through, also beside broken ones', async () => {
  const asked = Array.from({ length: 40 }, (_, index) =>
    cleanJpeg(GATEWAY, index % 3 === 0 ? BOAR.subarray(0, 900) : BOAR),
  )
  const found = await Promise.all(asked)
  expect(found.map((jpeg) => jpeg !== undefined)).toEqual(Array.from({ length: 40 }, (_, index) => index % 3 !== 0))
})

test('a flood of one gateway delays another one by a few pictures', async () => {
  const order: string[] = []
  const ask = async (gatewayId: string) => {
    await cleanJpeg(gatewayId, BOAR)
    order.push(gatewayId)
  }
  await Promise.all([...Array.from({ length: 40 }, () => ask('flood')), ask('quiet')])
  expect(order.indexOf('quiet')).toBeLessThan(20)
})
