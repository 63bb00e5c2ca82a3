/**
 * The parts of a `multipart/x-mixed-replace` stream (RFC 2046 §5.1), as MJPEG cameras send it. Lengths that a part
 * claims are a hint: a part ends where the next delimiter begins. A part or a header that is too long throws, so that
 * it cannot fill the memory.
 */
import { GatheredBytes } from '@hedgerow/http'
import { CameraError } from './camera-error.ts'

export const PART_BYTES_MAX = 8 * 1024 * 1024
const HEADER_BYTES_MAX = 8 * 1024
const HEADER_END = Buffer.from('\r\n\r\n')

/** The delimiter that a `content-type` names; undefined when it is not a stream of parts. */
export function delimiterOf(contentType: string | undefined): string | undefined {
  if (contentType === undefined || !/^multipart\/x-mixed-replace\b/i.test(contentType)) return undefined
  const named = /boundary=(?:"([^"]{1,100})"|([^;\s]{1,100}))/i.exec(contentType)
  const boundary = named?.[1] ?? named?.[2]
  // Many cameras write the two hyphens of the delimiter into the boundary as well.
  return boundary === undefined ? undefined : `--${boundary.replace(/^--/, '')}`
}

/** Takes bytes as they come, and returns the body of each complete part. Throws CameraError. */
export function createPartReader(delimiter: string): (bytes: Buffer) => Buffer[] {
  const mark = Buffer.from(delimiter)
  const waiting = new GatheredBytes()
  /** The last bytes, in which a delimiter may begin. */
  let tail = Buffer.alloc(0)

  return (bytes) => {
    waiting.add(bytes)
    const edge = Buffer.concat([tail, bytes])
    tail = edge.subarray(1 - mark.length)
    if (!edge.includes(mark)) return checkLength([], waiting.length)
    const bodies: Buffer[] = []
    let all: Buffer = waiting.take()
    for (let at = all.indexOf(mark); at >= 0; at = all.indexOf(mark)) {
      const body = bodyOf(all.subarray(0, at))
      if (body) bodies.push(body)
      all = all.subarray(at + mark.length)
    }
    waiting.add(all)
    return checkLength(bodies, waiting.length)
  }
}

function checkLength(bodies: Buffer[], waitingBytes: number): Buffer[] {
  if (waitingBytes > PART_BYTES_MAX) throw new CameraError('it sends a picture of more than 8 MB')
  return bodies
}

/** The content after the headers of a part; undefined before the first delimiter. */
function bodyOf(part: Buffer): Buffer | undefined {
  const head = part.subarray(0, HEADER_BYTES_MAX)
  const end = head.indexOf(HEADER_END)
  if (end < 0) {
    if (part.length > HEADER_BYTES_MAX) throw new CameraError('it sends parts without headers')
    return undefined
  }
  const claimed = Number(/content-length:\s*(\d{1,8})/i.exec(head.toString('latin1', 0, end))?.[1])
  const body = part.subarray(end + HEADER_END.length)
  // Removes the line break that belongs to the delimiter.
  const whole = body.subarray(0, body.length - (body.subarray(-2).equals(LINE_BREAK) ? 2 : 0))
  return claimed > 0 && claimed <= whole.length ? whole.subarray(0, claimed) : whole
}

const LINE_BREAK = Buffer.from('\r\n')
