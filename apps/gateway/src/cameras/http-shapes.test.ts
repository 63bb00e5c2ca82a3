/** Cameras as they are: plain sockets that send exact bytes, in shapes that real cameras were reported to send. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { deflateSync, gzipSync } from 'node:zlib'
import { pino } from 'pino'
import sharp from 'sharp'
import { beforeAll, describe, test, type TestContext } from 'vitest'
import { openCamera, type Frame } from './camera.ts'
import { createJpegFinder } from './jpeg-finder.ts'
import { unpackedParts } from './packed-parts.ts'
import { camerasSettings } from './schema.ts'

const SOON = { timeout: 15_000 }
let jpeg: Buffer
let thumbnailed: Buffer
let progressive: Buffer
let grey: Buffer
let cmyk: Buffer

beforeAll(async () => {
  const drawing =
    '<svg width="160" height="120"><circle cx="60" cy="50" r="30" fill="#d28"/><rect x="90" y="60" width="40" ' +
    'height="40" fill="#3a5"/></svg>'
  const scene = sharp(Buffer.from(drawing)).flatten({ background: '#9ab' })
  jpeg = await scene.clone().jpeg().toBuffer()
  progressive = await scene.clone().jpeg({ progressive: true }).toBuffer()
  grey = await scene.clone().greyscale().jpeg().toBuffer()
  cmyk = await scene.clone().toColourspace('cmyk').jpeg().toBuffer()
  const thumbnail = await scene.clone().resize(16, 12).jpeg().toBuffer()
  const segment = Buffer.concat([Buffer.from('Exif\0\0'), thumbnail])
  thumbnailed = Buffer.concat([jpeg.subarray(0, 2), segmentOf(0xe1, segment), jpeg.subarray(2)])
})

function segmentOf(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

/** The same picture without the segments of a marker. */
function without(marker: number, picture: Buffer): Buffer {
  const kept: Buffer[] = [picture.subarray(0, 2)]
  let at = 2
  for (; picture[at + 1] !== 0xda; at += 2 + picture.readUInt16BE(at + 2))
    if (picture[at + 1] !== marker) kept.push(picture.subarray(at, at + 2 + picture.readUInt16BE(at + 2)))
  return Buffer.concat([...kept, picture.subarray(at)])
}

/** A fill byte before each marker of the head. */
function filled(picture: Buffer): Buffer {
  const parts: Buffer[] = [picture.subarray(0, 2)]
  let at = 2
  for (; picture[at + 1] !== 0xda; at += 2 + picture.readUInt16BE(at + 2))
    parts.push(Buffer.from([0xff, 0xff]), picture.subarray(at, at + 2 + picture.readUInt16BE(at + 2)))
  return Buffer.concat([...parts, Buffer.from([0xff]), picture.subarray(at)])
}

type Piece = string | Buffer
const joined = (...pieces: Piece[]) => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string, 'latin1')))
const chunk = (bytes: Buffer, end = '\r\n') => joined(`${bytes.length.toString(16)}${end}`, bytes, end)

/** A camera that answers each connection with `answer`; `more` is sent every 40 ms after it. */
async function serve(
  { onTestFinished }: TestContext,
  answer: (request: string, index: number) => Piece | { bytes: Piece; more?: Piece; isOpen?: boolean },
): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let request = ''
    socket.on('data', (bytes) => {
      const isWhole = request.includes('\r\n\r\n')
      request += bytes.toString()
      if (isWhole || !request.includes('\r\n\r\n')) return
      requests.push(request)
      const told = answer(request, requests.length - 1)
      const { bytes: first, more, isOpen } = typeof told === 'string' || Buffer.isBuffer(told) ? { bytes: told } : told
      socket.write(Buffer.from(first as string, 'latin1'))
      if (more === undefined) {
        if (!isOpen) socket.end()
        return
      }
      const timer = setInterval(() => socket.write(Buffer.from(more as string, 'latin1')), 40)
      socket.on('close', () => clearInterval(timer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/video?x=1`, requests }
}

function open({ onTestFinished }: TestContext, url: string) {
  const frames: Frame[] = []
  let skippedMs = 0
  let looks = 0
  let failures = 0
  const failed = { write: (line: string) => void (failures += line.includes('a camera gives no pictures') ? 1 : 0) }
  const camera = openCamera({
    name: 'yard',
    settings: { ...camerasSettings.parse({ yard: { url, framesPerSecond: 20 } })['yard']!, url },
    log: pino({ level: 'warn' }, failed),
    clock() {
      looks++
      return performance.now() + skippedMs
    },
    onFrame: (frame) => void frames.push(frame),
  })
  onTestFinished(camera.stop)
  return { camera, frames, advance: (ms: number) => (skippedMs += ms), looks: () => looks, failures: () => failures }
}

const MULTIPART = 'HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n'
const HEADERS = 'Content-Type: image/jpeg\r\n\r\n'
const PACKED = 'Content-Type: image/jpeg\r\nContent-Encoding: gzip\r\nX-Time: 1\r\n\r\n'

/** A gzip file with a name in its head. */
const named = (bytes: Buffer) =>
  joined(bytes.subarray(0, 3), '\x08', bytes.subarray(4, 10), 'picture.jpg\0', bytes.subarray(10))

describe.concurrent('a stream', () => {
  /** `part`: what comes again and again. */
  const shapes: Record<string, () => { head?: string; preamble?: Piece; part: Piece }> = {
    'as the standards say': () => ({ part: joined('--frame\r\n', HEADERS, jpeg, '\r\n') }),
    'with a boundary of `=--x`': () => ({
      head: 'HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=--x\r\n\r\n',
      part: joined('--x\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with a boundary without dashes': () => ({ part: joined('frame\r\n', HEADERS, jpeg, '\r\n') }),
    'with another boundary than declared': () => ({ part: joined('--other\r\n', HEADERS, jpeg, '\r\n') }),
    'without a declared boundary': () => ({
      head: 'HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n',
      part: joined('--b\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with a boundary in quotes, with spaces and signs': () => ({
      head:
        'HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary="gc0p4Jq0M2Yt08 ' +
        'jU534c0p(.*)"\r\n\r\n',
      part: joined('--gc0p4Jq0M2Yt08 jU534c0p(.*)\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'of pictures and nothing else': () => ({ part: jpeg }),
    'with LF only': () => ({ part: joined('--frame\nContent-Type: image/jpeg\n\n', jpeg, '\n') }),
    'with headers on the line of the boundary': () => ({
      part: joined('--frameContent-type: image/jpeg\r\n\r\n', jpeg),
    }),
    'that begins with headers instead of a boundary': () => ({
      preamble: HEADERS,
      part: joined(jpeg, '\r\n--frame\r\n', HEADERS),
    }),
    'with text before it': () => ({
      preamble: 'This is a stream of pictures.\r\n\r\n',
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with lengths that are too short': () => ({ part: joined('--frame\r\nContent-Length: 10\r\n\r\n', jpeg, '\r\n') }),
    'with lengths that are too long': () => ({ part: joined('--frame\r\nContent-Length: 9999999\r\n\r\n', jpeg) }),
    'with a length for all of it': () => ({
      head:
        'HTTP/1.1 200 OK\r\nContent-Length: 4096\r\nContent-Type: multipart/x-mixed-replace; ' +
        'boundary=frame\r\n\r\n',
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with a closing boundary and empty parts between pictures': () => ({
      part: joined('--frame--\r\n--frame\r\nContent-Length: 0\r\n\r\n\r\n--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with sound between pictures': () => ({
      part: joined(
        '--frame\r\nContent-Type: audio/basic\r\n\r\n',
        Buffer.alloc(800, 0xd5),
        '\r\n--frame\r\n',
        HEADERS,
        jpeg,
      ),
    }),
    'with zeros and text after each picture': () => ({
      part: joined('--frame\r\n', HEADERS, jpeg, Buffer.alloc(900), 'trailer\xff\r\n'),
    }),
    'without end markers': () => ({ part: joined('--frame\r\n', HEADERS, jpeg.subarray(0, -2), '\r\n') }),
    'without end markers and without boundaries': () => ({ part: jpeg.subarray(0, -2) }),
    'with two start markers': () => ({ part: joined('--frame\r\n', HEADERS, '\xff\xd8', jpeg, '\r\n') }),
    'with a thumbnail in each picture': () => ({ part: joined('--frame\r\n', HEADERS, thumbnailed, '\r\n') }),
    'with fill bytes before markers': () => ({ part: joined('--frame\r\n', HEADERS, filled(jpeg), '\r\n') }),
    'without the usual tables': () => ({ part: joined('--frame\r\n', HEADERS, without(0xc4, jpeg), '\r\n') }),
    'of progressive pictures': () => ({ part: joined('--frame\r\n', HEADERS, progressive, '\r\n') }),
    'of grey pictures': () => ({ part: joined('--frame\r\n', HEADERS, grey, '\r\n') }),
    'of CMYK pictures': () => ({ part: joined('--frame\r\n', HEADERS, cmyk, '\r\n') }),
    'in chunks': () => ({
      head: `${MULTIPART.slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n`,
      part: joined(
        chunk(joined('--frame\r\n', HEADERS, jpeg.subarray(0, 99))),
        chunk(joined(jpeg.subarray(99), '\r\n')),
      ),
    }),
    'in chunks that end with LF': () => ({
      head: `${MULTIPART.slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n`,
      part: chunk(joined('--frame\r\n', HEADERS, jpeg), '\n'),
    }),
    'that says chunked and is not': () => ({
      head: `${MULTIPART.slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n`,
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'of packed parts': () => ({ part: joined('--frame\r\n', PACKED, gzipSync(jpeg), '\r\n') }),
    'of packed parts with lengths, and with a name in each': () => ({
      part: joined('--frame\r\nCONTENT-ENCODING:x-gzip\r\nContent-Length: 99\r\n\r\n', named(gzipSync(jpeg))),
    }),
    'of parts that are packed in other ways, and of plain ones': () => ({
      part: joined(
        '--frame\n',
        PACKED.replace('gzip', 'deflate').replaceAll('\r', ''),
        deflateSync(jpeg),
        '--frame\r\n',
        HEADERS,
        jpeg,
        '\r\n--frame\r\n',
        PACKED,
        gzipSync(thumbnailed),
        '\r\n',
      ),
    }),
    'of parts that say that they are packed and are not': () => ({
      part: joined('--frame\r\n', PACKED, jpeg, '\r\n'),
    }),
    'that is packed as a whole on its way': () => ({
      head: `${MULTIPART.slice(0, -2)}Transfer-Encoding: gzip, chunked\r\n\r\n`,
      part: chunk(gzipSync(joined('--frame\r\n', HEADERS, jpeg, '\r\n'))),
    }),
    'called application/octet-stream': () => ({
      head: 'HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n',
      part: jpeg,
    }),
    'called video/x-motion-jpeg': () => ({
      head: 'HTTP/1.0 200 OK\r\nContent-Type: video/x-motion-jpeg\r\n\r\n',
      part: joined('--b\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'called multipart/mixed': () => ({
      head: 'HTTP/1.0 200 OK\r\nContent-Type: multipart/mixed; boundary=frame\r\n\r\n',
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with `ICY 200 OK`': () => ({
      head: 'ICY 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n',
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'with no head at all': () => ({ head: '', part: joined('--frame\r\n', HEADERS, jpeg, '\r\n') }),
    'with a continued line in its head': () => ({
      head:
        'HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;\r\n ' +
        'boundary=frame\r\nServer:\r\n\tcam\r\n\r\n',
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
    'after an interim answer': () => ({
      head: `HTTP/1.1 100 Continue\r\n\r\n${MULTIPART}`,
      part: joined('--frame\r\n', HEADERS, jpeg, '\r\n'),
    }),
  }
  test.for(Object.keys(shapes))('%s', async (name, context) => {
    const { expect } = context
    const { head = MULTIPART, preamble = '', part } = shapes[name]!()
    const { url, requests } = await serve(context, () => ({ bytes: joined(head, preamble, part), more: part }))
    const { camera, frames } = open(context, url)
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(3)
    expect(frames.every(({ image }) => image.width === 160 && image.height === 120)).toBe(true)
    expect(camera.problems()).toEqual([])
    expect(requests).toHaveLength(1)
  })

  test('of packed parts is the same in whatever pieces it comes', async ({ expect }) => {
    const part = joined('--frame\r\n', PACKED, named(gzipSync(jpeg)), '\r\n--frame\r\n', HEADERS, progressive)
    for (const length of [1, 2, 13, 100]) {
      const finder = createJpegFinder()
      const found: Buffer[] = []
      const pieces = joined(part, part)
      async function* cut() {
        for (let at = 0; at < pieces.length; at += length) yield pieces.subarray(at, at + length)
      }
      for await (const bytes of unpackedParts(cut())) found.push(...finder.take(bytes).map((one) => one.jpeg))
      expect(found).toEqual([jpeg, progressive, jpeg, progressive])
    }
  })

  test('gives each picture when it ends, not when the next one begins', async (context) => {
    const { expect } = context
    const part = joined('--frame\r\n', HEADERS, jpeg)
    const { url } = await serve(context, () => ({ bytes: joined(MULTIPART, part), isOpen: true }))
    const { frames } = open(context, url)
    await expect.poll(() => frames.length, SOON).toBe(1)
  })

  test('that is cut in pictures without end markers loses those that are not whole', async (context) => {
    const { expect } = context
    const bad = joined('--frame\r\n', HEADERS, jpeg.subarray(0, jpeg.length - 300), '\r\n')
    const { url } = await serve(context, () => ({ bytes: joined(MULTIPART, bad), more: bad }))
    const { camera, frames } = open(context, url)
    await expect.poll(camera.problems, SOON).toEqual(['Camera yard: it sends damaged pictures.'])
    expect(frames).toEqual([])
  })
})

describe.concurrent('a snapshot', () => {
  const shapes: Record<string, () => Piece | { bytes: Piece; isOpen: boolean }> = {
    'as the standards say': () =>
      joined(`HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`, jpeg),
    'called image/pjpeg': () => joined('HTTP/1.1 200 OK\r\nContent-Type: image/pjpeg\r\n\r\n', jpeg),
    'called application/octet-stream': () =>
      joined('HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n', jpeg),
    'called text/html': () => joined('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n', jpeg),
    'called nothing': () => joined('HTTP/1.0 200 OK\r\n\r\n', jpeg),
    'with bytes after its end': () =>
      joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', jpeg, '\r\n\0\0', Buffer.alloc(500)),
    'with another picture after its end': () =>
      joined(`HTTP/1.1 200 OK\r\nContent-Length: ${jpeg.length + cmyk.length}\r\n\r\n`, jpeg, cmyk),
    'with bytes before its start': () =>
      joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', '\r\n\xff', jpeg),
    'without an end marker': () => joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', jpeg.subarray(0, -2)),
    'with LF only': () => joined('HTTP/1.1 200 OK\nContent-Type: image/jpeg\n\n', jpeg),
    'with a line that is no field': () =>
      joined(
        'HTTP/1.1 200 OK\r\nServer: GoaHead\r\nTue, 12 Jun 2012 01:56:34 GMT\r\n<no ' +
          'field>\r\nContent-Type:image/jpeg\r\n\r\n',
        jpeg,
      ),
    'with odd signs in fields': () =>
      joined('HTTP/1.1 200 OK\r\nX-Na me\x01: \xe9\x00\x07\r\nContent-Type : image/jpeg\r\n\r\n', jpeg),
    'with a length that is no number': () => joined('HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n', jpeg),
    'with two lengths': () => joined('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n', jpeg),
    'with a length that is too short': () => joined('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', jpeg),
    'with a length that is too long, on a connection that stays open': () => ({
      bytes: joined('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', jpeg),
      isOpen: true,
    }),
    'without a length, on a connection that stays open': () => ({
      bytes: joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', jpeg),
      isOpen: true,
    }),
    'without an end marker, on a connection that stays open': () => ({
      bytes: joined(`HTTP/1.1 200 OK\r\nContent-Length: ${jpeg.length - 2}\r\n\r\n`, jpeg.subarray(0, -2)),
      isOpen: true,
    }),
    'with a length and chunks': () =>
      joined('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', chunk(jpeg), '0\r\n\r\n'),
    'with no reason': () => joined('HTTP/1.1 200\r\nContent-Type: image/jpeg\r\n\r\n', jpeg),
    'with no empty line before it': () => joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n', jpeg),
    'with no head at all': () => jpeg,
    'compressed, though nobody asked for it': () =>
      joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Encoding: gzip\r\n\r\n', gzipSync(jpeg)),
    'as the only part of a multipart answer': () =>
      joined(MULTIPART, '--frame\r\n', HEADERS, jpeg, '\r\n--frame--\r\n'),
  }
  test.for(Object.keys(shapes))('%s', async (name, context) => {
    const { expect } = context
    const { url, requests } = await serve(context, () => shapes[name]!())
    const { camera, frames } = open(context, url)
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(2)
    expect(frames.every(({ image }) => image.width === 160 && image.height === 120)).toBe(true)
    expect(camera.problems()).toEqual([])
    expect(requests.length).toBeGreaterThanOrEqual(frames.length)
  })
})

describe.concurrent('a redirect', () => {
  const redirect = (to: string) => `HTTP/1.1 302 Found\r\nLocation: ${to}\r\n\r\n`
  const snapshot = () => joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', jpeg)

  test('within the camera is followed', async (context) => {
    const { expect } = context
    const { url, requests } = await serve(context, (request) =>
      request.startsWith('GET /new ') ? snapshot() : redirect('/new'),
    )
    const { frames } = open(context, url)
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(0)
    expect(requests[1]).toMatch(/^GET \/new HTTP/)
  })

  test('to another host, port or scheme is not, so no password leaves', async (context) => {
    const { expect } = context
    const other = await serve(context, snapshot)
    const { port } = new URL(other.url)
    for (const to of [other.url, `//127.0.0.1:${port}/`, `http://viewer@127.0.0.1:${port}/`, 'https://127.0.0.1/']) {
      const { url } = await serve(context, (request) =>
        request.includes('Authorization')
          ? redirect(to)
          : 'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="c"\r\n\r\n',
      )
      const { camera } = open(context, url.replace('//', '//viewer:secret@'))
      await expect
        .poll(camera.problems, SOON)
        .toEqual(['Camera yard gives no pictures: it redirects to another address, which is not followed.'])
    }
    expect(other.requests).toEqual([])
  })

  test('that leads round in circles ends', async (context) => {
    const { expect } = context
    const { url, requests } = await serve(context, () => redirect('/again'))
    const { camera } = open(context, url)
    await expect.poll(() => camera.problems()[0], SOON).toContain('it redirects')
    expect(requests.length).toBeLessThan(20)
  })
})

describe.concurrent('a hostile answer', () => {
  test.for([
    ['an endless head', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`, 'its answer is not HTTP'],
    ['endless interim answers', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2_000), 'its answer is not HTTP'],
    ['noise', 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3 and more of the same noise\r\n\r\n', 'its answer is not HTTP'],
    [
      'a page',
      'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>',
      'it sends text/html and neither MJPEG nor JPEG',
    ],
    ['nothing', 'HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', 'its answer is empty'],
    ['a connection without an answer', '', 'it ends the connection without an answer'],
  ] as const)('%s', async ([_what, bytes, words], context) => {
    const { expect } = context
    const { url } = await serve(context, () => bytes)
    const { camera } = open(context, url)
    await expect.poll(camera.problems, SOON).toEqual([`Camera yard gives no pictures: ${words}.`])
  })

  test('a bomb as one packed part is cut off', async (context) => {
    const { expect } = context
    const bomb = gzipSync(Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(64 * 1024 * 1024)]))
    const { url } = await serve(context, () => joined(MULTIPART, '--frame\r\n', PACKED, bomb))
    const { camera } = open(context, url)
    await expect
      .poll(camera.problems, SOON)
      .toEqual(['Camera yard gives no pictures: it sends a picture of more than 8 MB.'])
  })

  test('a compressed bomb is cut off', async (context) => {
    const { expect } = context
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const { url } = await serve(context, () => joined('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n', bomb))
    const { camera } = open(context, url)
    await expect
      .poll(camera.problems, SOON)
      .toEqual(['Camera yard gives no pictures: it sends neither MJPEG nor JPEG.'])
  })
})

describe.concurrent('signing in', () => {
  const snapshot = () => joined('HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n', jpeg)
  const refusal = (...fields: string[]) =>
    `HTTP/1.1 401 Unauthorized\r\n${fields.map((one) => `WWW-Authenticate: ${one}\r\n`).join('')}\r\n`

  test('after a wrong password it waits a minute, 5 and 15 minutes, and says so', async (context) => {
    const { expect } = context
    let isRight = false
    const { url, requests } = await serve(context, (request) =>
      isRight && request.includes('Authorization') ? snapshot() : refusal('Basic realm="c"'),
    )
    const { camera, frames, advance, looks, failures } = open(context, url.replace('//', '//viewer:wrong@'))
    const tries = () => requests.filter((one) => one.includes('Authorization')).length
    for (const [index, [minutes, words]] of (
      [
        [1, 'a minute'],
        [5, '5 minutes'],
        [15, '15 minutes'],
        [15, '15 minutes'],
      ] as const
    ).entries()) {
      // The answer has arrived: what it says may still be the words of the wait before.
      await expect.poll(failures, SOON).toBe(index + 1)
      await expect
        .poll(camera.problems, SOON)
        .toEqual([
          'Camera yard gives no pictures: it refuses the user name or the password of its address. It is asked ' +
            `again after ${words}, because cameras lock an account.`,
        ])
      expect(tries()).toBe(index + 1)
      // The clock goes on by itself too, and a busy machine may take a while.
      advance(minutes * 60_000 - 45_000)
      // It looked at the clock again and found that it is too early.
      const before = looks()
      await expect.poll(looks, SOON).toBeGreaterThan(before + 2)
      expect(tries()).toBe(index + 1)
      isRight = index === 3
      advance(45_000)
      await expect.poll(tries, SOON).toBe(index + 2)
    }
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(0)
    expect(camera.problems()).toEqual([])
  })

  test('a password that was changed is refused once: the same answer to Basic is not sent again', async (context) => {
    const { expect } = context
    let isChanged = false
    let refused = 0
    const { url } = await serve(context, (request) => {
      if (!isChanged && request.includes('Authorization')) return snapshot()
      if (request.includes('Authorization')) refused++
      return refusal('Basic realm="c"')
    })
    const { camera, frames } = open(context, url.replace('//', '//viewer:secret@'))
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(0)
    isChanged = true
    await expect.poll(camera.problems, SOON).toEqual([expect.stringContaining('It is asked again after a minute')])
    expect(refused).toBe(1)
  })

  describe('the channels of a recorder', () => {
    /** A recorder that refuses the channels of `refused`; each channel is a path. */
    async function recorder(context: TestContext, refused: () => boolean | string) {
      const { url, requests } = await serve(context, (request) => {
        const isRefused = refused() === true || request.startsWith(`GET /${String(refused())} `)
        return !isRefused && request.includes('Authorization') ? snapshot() : refusal('Basic realm="c"')
      })
      const address = url.replace('//', '//viewer:wrong@').replace(/video.*/, '')
      const channels = ['1', '2', '3', '4', '5', '6', '7', '8'].map((path) => open(context, address + path))
      return {
        channels,
        address,
        advance: (ms: number) => channels.forEach((one) => one.advance(ms)),
        problems: () => channels.map(({ camera }) => camera.problems()),
        /** With a password. */
        tries: () => requests.filter((one) => one.includes('Authorization')),
      }
    }
    const asked = (after: string) => [
      'Camera yard gives no pictures: it refuses the user name or the password of its address. It is asked again ' +
        `after ${after}, because cameras lock an account.`,
    ]

    test('share one wait after a wrong password, in turns, also with a preview that begins later', async (context) => {
      const { expect } = context
      const { channels, address, advance, problems, tries } = await recorder(context, () => true)
      await expect.poll(problems, SOON).toEqual(channels.map(() => asked('a minute')))
      expect(tries()).toHaveLength(1)
      const preview = open(context, `${address}9`)
      await expect.poll(preview.camera.problems, SOON).toEqual(asked('a minute'))
      preview.advance(60_000)
      advance(60_000)
      await expect.poll(problems, SOON).toEqual(channels.map(() => asked('5 minutes')))
      expect(tries()).toHaveLength(2)
    })

    test('all go on soon after one of them was let in', async (context) => {
      const { expect } = context
      let isRefused = true
      const { channels, advance, problems, tries } = await recorder(context, () => isRefused)
      await expect.poll(problems, SOON).toEqual(channels.map(() => asked('a minute')))
      isRefused = false
      advance(60_000)
      await expect.poll(() => channels.every(({ frames }) => frames.length > 1), SOON).toBe(true)
      expect(problems()).toEqual(channels.map(() => []))
      // The password is changed while snapshots come: what is on its way is refused, and nothing after it.
      isRefused = true
      const before = tries().length
      await expect.poll(problems, SOON).toEqual(channels.map(() => asked('a minute')))
      expect(tries().length).toBeLessThanOrEqual(before + channels.length)
    })

    test('wait alone where the account may see the others', async (context) => {
      const { expect } = context
      const { channels, problems, tries, advance } = await recorder(context, () => '1')
      await expect.poll(problems, SOON).toEqual(channels.map(() => asked('a minute')))
      advance(60_000)
      await expect.poll(() => channels.filter(({ frames }) => frames.length > 1).length, SOON).toBe(7)
      await expect.poll(() => problems()[0], SOON).toEqual(asked('a minute'))
      expect(tries().filter((one) => one.startsWith('GET /1 '))).toHaveLength(2)
    })

    test('with another password are another account, which is tried at once', async (context) => {
      const { expect } = context
      const { channels, address, problems, tries } = await recorder(context, () => true)
      await expect.poll(problems, SOON).toEqual(channels.map(() => asked('a minute')))
      open(context, `${address.replace('wrong', 'other')}1`)
      await expect.poll(() => tries().length, SOON).toBe(2)
    })
  })

  test('a camera that wants a password and has none in its address says so, and is asked on', async (context) => {
    const { expect } = context
    const { url, requests } = await serve(context, () => refusal('Basic realm="c"'))
    const { camera } = open(context, url)
    await expect
      .poll(camera.problems, SOON)
      .toEqual(['Camera yard gives no pictures: it wants a user name and a password in its address.'])
    await expect.poll(() => requests.length, SOON).toBeGreaterThan(1)
    expect(requests.join('')).not.toContain('Authorization')
  })

  test('a way of signing in that is not known is told apart from a wrong password', async (context) => {
    const { expect } = context
    const { url } = await serve(context, () => refusal('Bearer realm="c"'))
    const { camera } = open(context, url.replace('//', '//viewer:secret@'))
    await expect
      .poll(camera.problems, SOON)
      .toEqual(['Camera yard gives no pictures: it wants a way of signing in that the gateway does not know.'])
  })

  test('an expired challenge is answered anew, also for the first request', async (context) => {
    const { expect } = context
    const { url } = await serve(context, (request, index) => {
      if (index > 1 && request.includes(`nonce="n${index - 1}"`)) return snapshot()
      return refusal(
        'Basic realm="c"',
        `Digest realm="c", qop="auth", nonce="n${index}"${index > 0 ? ', stale=true' : ''}`,
      )
    })
    const { camera, frames } = open(context, url.replace('//', '//viewer:secret@'))
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(0)
    expect(camera.problems()).toEqual([])
  })

  test('a camera whose challenges are always stale is not asked for ever', async (context) => {
    const { expect } = context
    const { url, requests } = await serve(context, () =>
      refusal('Digest realm="c", qop="auth", nonce="n", stale="true"'),
    )
    const { camera } = open(context, url.replace('//', '//viewer:secret@'))
    await expect.poll(() => camera.problems()[0], SOON).toContain('it refuses the user name or the password')
    expect(requests).toHaveLength(3)
  })

  test('a user name and a password in UTF-8', async (context) => {
    const { expect } = context
    const { url, requests } = await serve(context, (request) =>
      request.includes('username="jörg"') ? snapshot() : refusal('Digest realm="c", nonce="n"'),
    )
    const { frames } = open(
      context,
      url.replace('//', `//${encodeURIComponent('jörg')}:${encodeURIComponent('pä#/?@:ß')}@`),
    )
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(0)
    expect(requests.every((one) => !one.includes('pä'))).toBe(true)
  })
})
