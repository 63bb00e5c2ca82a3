import { createRgbImage } from '@hedgerow/vision'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { decodeJpeg, encodeJpeg, lookedAtSize } from './decode.ts'

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 40, b: 90 } } })

test('the longer side becomes at most 640, the shape stays', () => {
  expect(lookedAtSize({ width: 1_920, height: 1_080 })).toEqual({ width: 640, height: 360 })
  expect(lookedAtSize({ width: 1_080, height: 1_920 })).toEqual({ width: 360, height: 640 })
  expect(lookedAtSize({ width: 320, height: 240 })).toEqual({ width: 320, height: 240 })
})

test('a JPEG is decoded to its colours, a grey and a progressive one too', async () => {
  const image = await decodeJpeg(await plain(1_280, 720).jpeg().toBuffer())
  expect([image.width, image.height]).toEqual([640, 360])
  for (const [channel, value] of [200, 40, 90].entries()) expect(Math.abs(image.data[channel]! - value)).toBeLessThan(6)
  const grey = await decodeJpeg(await plain(64, 64).greyscale().jpeg({ progressive: true }).toBuffer())
  expect(grey.data).toHaveLength(64 * 64 * 3)
  expect(grey.data[0]).toBe(grey.data[2])
})

test('the encoder makes a JPEG of the requested part', async () => {
  const image = createRgbImage(64, 32, new Uint8Array(64 * 32 * 3).fill(120))
  const part = await decodeJpeg(await encodeJpeg(image, { part: { left: 10, top: 4, width: 20, height: 18 } }))
  expect([part.width, part.height]).toEqual([20, 18])
})

test('bytes that are no JPEG, and a JPEG that is cut, huge or has a broken table are refused in words', async () => {
  const jpeg = await plain(320, 180).jpeg().toBuffer()
  await expect(decodeJpeg(Buffer.from('<html>'))).rejects.toThrow('no whole JPEG')
  await expect(decodeJpeg(jpeg.subarray(0, -100))).rejects.toThrow('no whole JPEG')
  const bomb = Buffer.from(jpeg)
  const frame = bomb.indexOf(Buffer.from([0xff, 0xc0]))
  bomb.writeUInt16BE(65_535, frame + 5)
  bomb.writeUInt16BE(65_535, frame + 7)
  await expect(decodeJpeg(bomb)).rejects.toThrow('no whole JPEG')
  const broken = Buffer.from(jpeg)
  const huffmanTable = broken.indexOf(Buffer.from([0xff, 0xc4]))
  broken.fill(0xff, huffmanTable + 4, huffmanTable + 21)
  await expect(decodeJpeg(broken)).rejects.toThrow('damaged')
})
