/** Unpacks the parts of a stream that say in their own headers that they are packed. The rest passes as it comes. */
import { createInflate, createInflateRaw } from 'node:zlib'
import { CameraError } from './camera-error.ts'
import { PICTURE_BYTES_MAX } from './jpeg-finder.ts'

/** The longest headers of a part after the field, and the longest head of gzip. */
const HEAD_MAX = 1_024
const FIELD = /content-encoding[ \t]{0,9}:[ \t]{0,9}(?:x-)?(?:gzip|deflate)/i
const HEAD_END = /\n\r?\n/

export async function* unpackedParts(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let unpacker: Unpacker | undefined
  /** The newest bytes that were passed on: headers may have begun in them. */
  let before: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    for (let bytes = piece; bytes.length > 0;) {
      if (unpacker) {
        const { unpacked, rest } = await unpacker(bytes)
        yield* unpacked
        if (!rest) break
        unpacker = undefined
        bytes = rest
        continue
      }
      const seen = Buffer.concat([before, bytes])
      const body = packedBody(seen)
      const passed = body === undefined ? bytes.length : body - before.length
      before = body === undefined ? seen.subarray(-HEAD_MAX) : Buffer.alloc(0)
      if (body !== undefined) unpacker = createUnpacker()
      yield bytes.subarray(0, passed)
      bytes = bytes.subarray(passed)
    }
  }
}

/** Where the body of the first packed part begins. */
function packedBody(bytes: Buffer): number | undefined {
  // Compared with the expression, this takes next to no time.
  if (!bytes.includes('ncoding') && !bytes.includes('NCODING')) return undefined
  const text = bytes.toString('latin1')
  const field = FIELD.exec(text)
  const end = field && HEAD_END.exec(text.slice(field.index))
  return end ? field.index + end.index + end[0].length : undefined
}

/** Takes a packed body piece by piece; `rest` is what follows its end, or a body that is not packed after all. */
type Unpacker = (bytes: Buffer) => Promise<{ unpacked: Buffer[]; rest?: Buffer }>

function createUnpacker(): Unpacker {
  let inflate: ReturnType<typeof createInflateRaw> | undefined
  let head = Buffer.alloc(0)
  let unpacked: Buffer[] = []
  let size = 0
  let failure: unknown
  let proceed = () => {}

  function open(isGzip: boolean) {
    return (isGzip ? createInflateRaw() : createInflate())
      .on('error', (error) => (failure ??= error))
      .on('close', () => proceed())
      .on('data', (bytes: Buffer) => {
        size += bytes.length
        if (size > PICTURE_BYTES_MAX)
          inflate?.destroy((failure = new CameraError('it sends a picture of more than 8 MB')))
        else unpacked.push(bytes)
      })
  }

  return async (piece) => {
    let bytes = piece
    if (!inflate) {
      head = Buffer.concat([head, bytes])
      const isGzip = head[0] === 0x1f
      if (!isGzip && head[0] !== 0x78) return { unpacked: [], rest: head }
      const length = isGzip ? gzipHeadLength(head) : 0
      if (length === undefined) return head.length > HEAD_MAX ? { unpacked: [], rest: head } : { unpacked: [] }
      inflate = open(isGzip)
      bytes = head.subarray(length)
    }
    const stream = inflate
    const taken = stream.bytesWritten
    unpacked = []
    await new Promise<void>((resolve) => {
      proceed = resolve
      stream.write(bytes, () => resolve())
    })
    if (failure instanceof CameraError) throw failure
    const consumed = failure === undefined ? stream.bytesWritten - taken : 0
    if (failure === undefined && consumed === bytes.length) return { unpacked }
    stream.destroy()
    return { unpacked, rest: bytes.subarray(consumed) }
  }
}

/** RFC 1952, section 2.3. Undefined while it is not whole. */
function gzipHeadLength(bytes: Buffer): number | undefined {
  const flags = bytes[3] ?? 0
  let length = 10
  if ((flags & 4) !== 0 && bytes.length >= 12) length += 2 + bytes.readUInt16LE(10)
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue
    const end = bytes.indexOf(0, length)
    if (end < 0) return undefined
    length = end + 1
  }
  if ((flags & 2) !== 0) length += 2
  return bytes.length > length ? length : undefined
}
