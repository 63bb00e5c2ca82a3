/**
 * Pictures in memory. A picture may be a window into a larger one: rows begin `stride` bytes after each other, and
 * bytes beyond a row's pixels are not part of it.
 */

/** One byte a pixel: luma, 0 (black) to 255. Pixel (x, y) is `data[y * stride + x]`. */
export type Plane = {
  readonly width: number
  readonly height: number
  /** Bytes from the beginning of a row to that of the next; at least `width`. */
  readonly stride: number
  readonly data: Uint8Array
}

/** Three bytes a pixel: red, green, blue. Pixel (x, y) begins at `data[y * stride + 3 * x]`. */
export type RgbImage = {
  readonly width: number
  readonly height: number
  /** Bytes from the beginning of a row to that of the next; at least `3 * width`. */
  readonly stride: number
  readonly data: Uint8Array
}

/** Width and height in pixels. */
export type Size = { readonly width: number; readonly height: number }

/** A plane of rows without gaps over `data`, or over new zeros. Throws RangeError when `data` is too short. */
export function createPlane(width: number, height: number, data = new Uint8Array(width * height)): Plane {
  checkLength(data, width, width, height)
  return { width, height, stride: width, data }
}

/** A colour picture of rows without gaps over `data`, or over new zeros. Throws RangeError when `data` is too short. */
export function createRgbImage(width: number, height: number, data = new Uint8Array(width * height * 3)): RgbImage {
  checkLength(data, width * 3, width, height)
  return { width, height, stride: width * 3, data }
}

/** Luma of ITU-R BT.601 in steps of 1/256, full range. */
export function lumaOf(image: RgbImage, into = createPlane(image.width, image.height)): Plane {
  const { width, height, stride, data } = image
  const { data: luma } = into
  for (let y = 0; y < height; y++) {
    let from = y * stride
    let to = y * into.stride
    for (const end = to + width; to < end; to++, from += 3)
      luma[to] = (data[from]! * 77 + data[from + 1]! * 150 + data[from + 2]! * 29) >> 8
  }
  return into
}

function checkLength(data: Uint8Array, stride: number, width: number, height: number): void {
  if (!(width > 0 && height > 0 && Number.isInteger(width) && Number.isInteger(height)))
    throw new RangeError(`a picture has whole pixels, not ${width} x ${height}`)
  if (data.length < stride * height)
    throw new RangeError(`a picture of ${width} x ${height} takes ${stride * height} bytes, not ${data.length}`)
}
