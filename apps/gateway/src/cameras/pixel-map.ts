/**
 * Pictures as portable pixel maps (`man 5 ppm`, type P6), one after the other, as FFmpeg's `image2pipe` writes them:
 * each has its own size in its header, so a camera may change it.
 */
import { createRgbImage, type RgbImage } from '@hedgerow/vision'
import { CameraError } from './camera-error.ts'

const HEADER = /^P6\s+(\d{1,5})\s+(\d{1,5})\s+255\s/
const HEADER_BYTES_MAX = 40
const SIDE_MAX = 4_096

/** Takes bytes as they come, and returns each complete picture. Throws CameraError for anything else. */
export function createPixelMapReader(): (bytes: Buffer) => RgbImage[] {
  let waiting: Buffer[] = []
  let length = 0
  /** The number of bytes that complete the next picture. */
  let wanted = 1

  return (bytes) => {
    waiting.push(bytes)
    length += bytes.length
    const pictures: RgbImage[] = []
    while (length >= wanted) {
      const all = Buffer.concat(waiting, length)
      const header = HEADER.exec(all.toString('latin1', 0, HEADER_BYTES_MAX))
      if (!header) {
        if (all.length >= HEADER_BYTES_MAX) throw new CameraError('FFmpeg gives no pictures')
        wanted = all.length + 1
        waiting = [all]
        break
      }
      const [width, height] = [Number(header[1]), Number(header[2])]
      if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX)
        throw new CameraError(`FFmpeg gives pictures of ${width} x ${height}`)
      const size = header[0].length + width * height * 3
      if (length < size) {
        waiting = [all]
        wanted = size
        break
      }
      pictures.push(createRgbImage(width, height, all.subarray(header[0].length, size)))
      waiting = [all.subarray(size)]
      length -= size
      wanted = 1
    }
    return pictures
  }
}
