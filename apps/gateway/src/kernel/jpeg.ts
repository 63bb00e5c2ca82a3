/** Enough for any camera; larger pictures are attacks on the memory of programs that open them. */
const SIDE_MAX = 8_192
const PIXELS_MAX = 34_000_000

/**
 * Width and height in pixels of a JPEG file that has the parts of a whole one: its segments up to the scan, a frame
 * header, and the end marker (ITU-T T.81, annex B). Undefined for anything else, and for sizes that no camera has. The
 * picture itself is not decoded.
 */
export function jpegSize(bytes: Uint8Array): { width: number; height: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.byteLength < 4 || view.getUint16(0) !== SOI || view.getUint16(view.byteLength - 2) !== EOI) return undefined
  let size: { width: number; height: number } | undefined
  let at = 2
  while (at + 4 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    // Fill bytes may stand before a marker (T.81, B.1.1.2).
    if (marker === 0xff) {
      at++
      continue
    }
    const length = view.getUint16(at + 2)
    if (length < 2 || at + 2 + length > view.byteLength) return undefined
    if (isFrameHeader(marker)) {
      if (size || length < 8) return undefined
      size = { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    }
    if (marker === SOS) return size && isPlausible(size) ? size : undefined
    at += 2 + length
  }
  return undefined
}

const SOI = 0xffd8
const EOI = 0xffd9
const SOS = 0xda

/** SOF0 to SOF15 without the tables and extensions between them (T.81, table B.1). */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function isPlausible({ width, height }: { width: number; height: number }): boolean {
  return width > 0 && height > 0 && width <= SIDE_MAX && height <= SIDE_MAX && width * height <= PIXELS_MAX
}
