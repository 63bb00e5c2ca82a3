/**
 * Finds JPEG files in the bytes of a camera, whatever stands between them: other boundaries than declared, headers of
 * parts in any form, wrong lengths, padding, or nothing. It follows each file's own structure (ITU-T T.81, annex B), so
 * a thumbnail inside of a picture is a part of it. It looks at each byte once, whatever a hostile camera sends.
 */
import { GatheredBytes } from '@hedgerow/http'
import { CameraError } from './camera-error.ts'

/** `isCut`: it came without an end marker and got one here. Some cameras send none; most such pictures are damaged. */
export type FoundJpeg = { jpeg: Buffer; isCut: boolean }

export type JpegFinder = {
  /** Takes bytes as they come, and returns each picture as soon as it ends. Throws CameraError. */
  take(bytes: Buffer): FoundJpeg[]
  /** The picture that has no end when the camera ends its answer. */
  rest(): FoundJpeg[]
  /** Whether a picture has begun and not ended. */
  isInside(): boolean
  /** Bytes since the last picture that belong to none. */
  outsideBytes(): number
}

export const PICTURE_BYTES_MAX = 8 * 1024 * 1024
/** In one second, or in one piece. The fastest cameras send as many in some seconds, which may come all at once. */
export const PICTURES_MAX = 1_000
/** After a picture without an end marker, at most these bytes are searched for the headers of the next part. */
const TEXT_BYTES_MAX = 2_048
const START = Buffer.from([0xff, 0xd8])
const END = Buffer.from([0xff, 0xd9])
const [SOI, EOI, SOS] = [0xd8, 0xd9, 0xda]

export function tooManyPictures(): CameraError {
  return new CameraError('it sends more than 1,000 pictures a second')
}

export function createJpegFinder(): JpegFinder {
  const picture = new GatheredBytes()
  let where: 'outside' | 'marker' | 'code' | 'length' | 'segment' | 'scan' | 'scan-code' = 'outside'
  /** How many bytes of FF D8 FF have come: the beginning of a picture. */
  let begun = 0
  let outside = 0
  let marker = 0
  /** The first byte of a segment's length; undefined before it came. */
  let lengthByte: number | undefined
  /** Bytes of the segment that are still to come. */
  let left = 0
  /** Since the last call of `take`. */
  let bytes: Buffer = Buffer.alloc(0)
  let at = 0
  /** Where the bytes begin that belong to the picture and are not in `picture` yet. */
  let from = 0
  let found: FoundJpeg[] = []

  /** `next`: the first byte after its FF D8. */
  function begin(next: number): void {
    picture.add(START)
    from = next
    outside = 0
  }

  function end(before: number, isCut: boolean): void {
    picture.add(bytes.subarray(from, before))
    const all = picture.take()
    if (found.length === PICTURES_MAX) throw tooManyPictures()
    found.push({ jpeg: isCut ? Buffer.concat([withoutText(all), END]) : all, isCut })
    where = 'outside'
    begun = 0
  }

  function toPicture(): void {
    const isEmpty = picture.length + at - from <= START.length + 1
    if (isEmpty) picture.take()
    else end(at, true)
    begin(at + 1)
    where = 'marker'
  }

  function afterSegment(): void {
    where = marker === SOS ? 'scan' : 'marker'
  }

  function takeCode(code: number): void {
    if (code === SOI) toPicture()
    else if (code === EOI) end(at + 1, false)
    else if (code === 0x00) end(at, true)
    else if (code === 0x01 || isRestart(code)) where = 'marker'
    // Others are fill bytes, of which any number may stand before a marker.
    else if (code !== 0xff) {
      marker = code
      lengthByte = undefined
      where = 'length'
    }
  }

  function takeLength(byte: number): void {
    if (lengthByte === undefined) {
      lengthByte = byte
      return
    }
    left = lengthByte * 256 + byte - 2
    if (left < 0) end(at, true)
    else if (left === 0) afterSegment()
    else where = 'segment'
  }

  function takeOutside(byte: number): void {
    if (begun === 2 && byte === 0xff) {
      begin(at)
      where = 'code'
    } else if (begun === 1 && byte === SOI) begun = 2
    else begun = byte === 0xff ? 1 : 0
  }

  /** Takes one byte, or all up to the next that matters. */
  function step(): void {
    const byte = bytes[at]!
    if (where === 'outside' && begun === 0) {
      const next = bytes.indexOf(0xff, at)
      const to = next < 0 ? bytes.length : next
      outside += to - at
      at = to
      if (next >= 0) begun = 1
    } else if (where === 'segment') {
      const taken = Math.min(left, bytes.length - at)
      left -= taken
      at += taken - 1
      if (left === 0) afterSegment()
    } else if (where === 'scan') {
      const next = bytes.indexOf(0xff, at)
      at = next < 0 ? bytes.length : next
      if (next >= 0) where = 'scan-code'
    } else if (where === 'outside') takeOutside(byte)
    else if (where === 'marker') {
      if (byte === 0xff) where = 'code'
      else end(at, true)
    } else if (where === 'code') takeCode(byte)
    else if (where === 'length') takeLength(byte)
    else if (byte === SOI || byte === EOI || isSegment(byte)) takeCode(byte)
    else if (byte !== 0xff) where = 'scan'
    at++
  }

  return {
    take(piece) {
      bytes = piece
      found = []
      from = 0
      for (at = 0; at < bytes.length;) step()
      if (where !== 'outside') picture.add(bytes.subarray(from))
      if (picture.length > PICTURE_BYTES_MAX) throw new CameraError('it sends a picture of more than 8 MB')
      return found
    },
    rest() {
      found = []
      bytes = Buffer.alloc(0)
      from = 0
      if (picture.length > 0) end(0, true)
      return found
    },
    isInside: () => picture.length > 0,
    outsideBytes: () => outside,
  }
}

/** RST0 to RST7 have no length. */
function isRestart(code: number): boolean {
  return code >= 0xd0 && code <= 0xd7
}

/** The markers that may follow a scan: tables, the next scan of a progressive picture, APPn, comments. */
function isSegment(code: number): boolean {
  return (
    code === 0xc4 || code === 0xcc || (code >= SOS && code <= 0xdd) || (code >= 0xe0 && code <= 0xef) || code === 0xfe
  )
}

/** Leaves out the boundary and the headers that follow a picture without an end marker, and half of the next one's. */
function withoutText(bytes: Buffer): Buffer {
  const whole = bytes.at(-1) === 0xff ? bytes.subarray(0, -1) : bytes
  let text = whole.length
  while (text > 0 && whole.length - text < TEXT_BYTES_MAX && isText(whole[text - 1]!)) text--
  const lineBreak = whole.subarray(text).findIndex((byte) => byte === 0x0a || byte === 0x0d)
  return lineBreak < 0 ? whole : whole.subarray(0, text + lineBreak)
}

function isText(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d
}
