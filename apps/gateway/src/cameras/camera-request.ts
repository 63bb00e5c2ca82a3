/** One GET to a camera, on a connection of its own, with a lenient reader of its answer. */
import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { connect as connectTls } from 'node:tls'
import { constants, createUnzip } from 'node:zlib'
import { HEAD_BYTES_MAX, readHead, type AnswerHead } from './answer-head.ts'
import { CameraError, networkFailure } from './camera-error.ts'

export type CameraAnswer = AnswerHead & {
  /** What the camera sends after its head. Rejects with CameraError. */
  body: AsyncIterable<Buffer>
  /** Ends the body when nothing more comes for this time, instead of waiting for the camera. */
  endWhenSilentFor(ms: number): void
  close(): void
}

const ANSWER_MS = 10_000
const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]{0,100}(?:;[^\n]{0,200})?\r?\n/i
/** The longest line with the size of a chunk. */
const CHUNK_LINE_MAX = 320

export async function requestFromCamera(
  url: URL,
  { authorization, signal }: { authorization: string | undefined; signal: AbortSignal },
): Promise<CameraAnswer> {
  const socket = connect(url)
  let failure: unknown
  let isSilent = false
  const fail = (error: unknown): void => {
    failure ??= error
    socket.destroy()
  }
  const abort = () => fail(signal.reason)
  signal.addEventListener('abort', abort)
  socket.once('close', () => signal.removeEventListener('abort', abort))
  socket.on('error', (error) => (failure ??= error))
  socket.setTimeout(ANSWER_MS, () => fail(new CameraError('it does not answer')))
  const failed = (error: unknown): CameraError => {
    socket.destroy()
    const reason = failure ?? error
    return reason instanceof CameraError ? reason : networkFailure(reason)
  }
  try {
    if (signal.aborted) abort()
    await once(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect', { signal })
    socket.write(requestOf(url, authorization))
    const pieces = socket.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
    const { head, rest } = await readAnswer(pieces)
    const body = decoded(head, framed(head, continued(rest, pieces)))
    return {
      ...head,
      body: ending(body, { isSilent: () => isSilent, failed, failure: () => failure }),
      endWhenSilentFor(ms) {
        socket.removeAllListeners('timeout')
        socket.setTimeout(ms, () => {
          isSilent = true
          socket.destroy()
        })
      },
      close: () => void socket.destroy(),
    }
  } catch (error) {
    throw failed(error)
  }
}

function connect({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (protocol !== 'https:') return connectTcp({ host, port: Number(port || 80) })
  return connectTls({ host, port: Number(port || 443), ...(isIP(host) === 0 && { servername: host }) })
}

/** Many cameras send their digest's user name as UTF-8, and no camera wants it as anything else. */
function requestOf({ host, pathname, search }: URL, authorization: string | undefined): Buffer {
  const fields = [
    `Host: ${host}`,
    'Accept: multipart/x-mixed-replace, image/jpeg, */*',
    'Accept-Encoding: identity',
    'User-Agent: Hedgerow',
    'Connection: close',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization.replaceAll(/\p{Cc}/gu, '')}`]),
  ]
  return Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
}

async function readAnswer(pieces: AsyncIterator<Buffer>): Promise<{ head: AnswerHead; rest: Buffer }> {
  let bytes = Buffer.alloc(0)
  for (let taken = 0; taken < HEAD_BYTES_MAX;) {
    const read = readHead(bytes)
    if (read) {
      bytes = bytes.subarray(read.length)
      // An interim answer, such as 100 Continue: the real one follows.
      if (read.head.status >= 200) return { head: read.head, rest: bytes }
      taken += read.length
      continue
    }
    const piece = await pieces.next()
    if (piece.done)
      throw new CameraError(bytes.length === 0 ? 'it ends the connection without an answer' : 'its answer has no end')
    bytes = Buffer.concat([bytes, piece.value])
  }
  throw new CameraError('its answer is not HTTP')
}

async function* continued(rest: Buffer, pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (rest.length > 0) yield rest
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) yield piece.value
}

/** Without the sizes of chunks. From a wrong size on everything is passed on: a picture is found in it anyway. */
async function* framed(head: AnswerHead, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isChunked = head.all('transfer-encoding').some((value) => /chunked/i.test(value))
  /** What remains of the chunk; undefined before its size. */
  let left: number | undefined
  let line: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    let bytes = line.length > 0 ? Buffer.concat([line, piece]) : piece
    line = Buffer.alloc(0)
    while (isChunked && bytes.length > 0) {
      if (left !== undefined && left > 0) {
        const part = bytes.subarray(0, left)
        left -= part.length
        bytes = bytes.subarray(part.length)
        yield part
        continue
      }
      const start = bytes.subarray(0, CHUNK_LINE_MAX).toString('latin1')
      // The line break after the last chunk.
      const before = left === 0 ? (/^\r?\n/.exec(start)?.[0].length ?? 0) : 0
      const size = CHUNK_SIZE.exec(start.slice(before))
      if (size) {
        left = Number.parseInt(size[1]!, 16)
        if (left === 0) return
        bytes = bytes.subarray(before + size[0].length)
      } else if (start.length < CHUNK_LINE_MAX && !start.slice(before).includes('\n')) {
        line = bytes
        bytes = bytes.subarray(bytes.length)
      } else isChunked = false
    }
    if (bytes.length > 0) yield bytes
  }
}

/** A camera may compress without being asked. The caller limits what comes out of it. */
async function* decoded(head: AnswerHead, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const codings = [...head.all('content-encoding'), ...head.all('transfer-encoding')]
  if (!codings.some((value) => /gzip|deflate/i.test(value))) {
    yield* pieces
    return
  }
  const unzip = createUnzip({ finishFlush: constants.Z_SYNC_FLUSH })
  const done = pipeline(Readable.from(pieces), unzip).catch(() => {})
  for await (const piece of unzip) yield piece as Buffer
  await done
}

/** Ends as `endWhenSilentFor` says, and rejects with CameraError only. */
async function* ending(
  pieces: AsyncIterable<Buffer>,
  { isSilent, failed, failure }: { isSilent(): boolean; failed(error: unknown): CameraError; failure(): unknown },
): AsyncGenerator<Buffer> {
  try {
    yield* pieces
  } catch (error) {
    if (!isSilent()) throw failed(error)
  }
  // A destroyed connection may end its bytes as if the camera had.
  if (failure() !== undefined) throw failed(failure())
}
