import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { pino } from 'pino'
import sharp from 'sharp'
import { describe, expect, test, type TestContext } from 'vitest'
import { cameraInWords } from './camera-error.ts'
import { createPace, openCamera, type Camera, type Frame } from './camera.ts'
import { camerasSettings } from './schema.ts'

/** What ends with a test. The tests of this file wait side by side, so each has its own. */
type Life = Pick<TestContext, 'onTestFinished'>

const jpegOf = (shade: number, width = 320, height = 180) =>
  sharp({ create: { width, height, channels: 3, background: { r: shade, g: shade, b: shade } } })
    .jpeg()
    .toBuffer()

async function listen({ onTestFinished }: Life, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

/** A port at which nothing listens. */
async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A camera whose answers the test writes. */
const serve = async (life: Life, answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  `http://127.0.0.1:${await listen(life, createServer(answer))}/`

type Opened = { camera: Camera; frames: Frame[]; now(): number; advance(ms: number): void }

function open(life: Life, url: string, settings: object = {}, onFrame?: () => Promise<void>): Opened {
  const frames: Frame[] = []
  let skippedMs = 0
  const now = () => performance.now() + skippedMs
  const camera = openCamera({
    name: 'orchard',
    settings: { ...camerasSettings.parse({ orchard: { url, ...settings } })['orchard']!, url },
    log: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    clock: now,
    async onFrame(frame) {
      frames.push(frame)
      await onFrame?.()
    },
  })
  life.onTestFinished(camera.stop)
  return { camera, frames, now, advance: (ms) => (skippedMs += ms) }
}

function streamTo(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
  return (jpeg: Buffer, length = jpeg.length) => {
    response.write(`--frame\r\ncontent-type: image/jpeg\r\ncontent-length: ${length}\r\n\r\n`)
    response.write(jpeg)
    response.write('\r\n--frame\r\n')
  }
}

describe.concurrent('pictures', () => {
  test('of an MJPEG stream, with the picture as it came', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120, 720, 405)
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg), 30)
      response.on('close', () => clearInterval(timer))
    })
    const { camera, frames } = open(context, url)
    await expect.poll(() => frames.length).toBeGreaterThan(3)
    expect([frames[0]!.image.width, frames[0]!.luma.height]).toEqual([640, 360])
    const own = await frames[0]!.own!()
    expect([own.width, own.height], 'at its own resolution').toEqual([720, 405])
    expect((await camera.latest())?.jpeg).toEqual(jpeg)
    expect(camera.state()).toMatchObject({ name: 'orchard', state: 'online' })
    expect(camera.problems()).toEqual([])
  })

  test('of snapshots, asked for with user and password', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(90)
    const seen: (string | undefined)[] = []
    const url = await serve(context, (request, response) => {
      seen.push(request.headers.authorization)
      const isKnown = request.headers.authorization !== undefined
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'image/jpeg', 'www-authenticate': 'Basic realm="c"' })
      response.end(isKnown ? jpeg : '')
    })
    const { frames } = open(context, url.replace('//', '//viewer:p%40ss@'), { framesPerSecond: 20 })
    await expect.poll(() => frames.length).toBeGreaterThan(2)
    const basic = `Basic ${Buffer.from('viewer:p@ss').toString('base64')}`
    expect(seen.slice(0, 3)).toEqual([undefined, basic, basic])
  })

  test('of snapshots from a camera that wants Digest, never with the password in it', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(90)
    const seen: string[] = []
    let nonce = 1
    const url = await serve(context, (request, response) => {
      const { authorization = '' } = request.headers
      seen.push(authorization)
      // A nonce is valid for three requests.
      const [, count] = /nc=0*(\d+)/.exec(authorization) ?? []
      if (authorization.includes(`nonce="n${nonce}"`) && Number(count) <= 3) {
        response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpeg)
        return
      }
      nonce++
      const offered = `Digest realm="camera", nonce="n${nonce}", qop="auth", algorithm=MD5`
      response.writeHead(401, { 'www-authenticate': ['Basic realm="camera"', offered] }).end()
    })
    const { camera, frames } = open(context, url.replace('//', '//viewer:p%40ss@'), { framesPerSecond: 20 })
    await expect.poll(() => frames.length, { timeout: 10_000 }).toBeGreaterThan(6)
    expect(camera.problems()).toEqual([])
    expect(seen.every((one) => one === '' || one.startsWith('Digest username="viewer", realm="camera"'))).toBe(true)
  })

  test('that come too fast are dropped undecoded', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    let sent = 0
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => {
        send(jpeg)
        sent++
      }, 5)
      response.on('close', () => clearInterval(timer))
    })
    const { frames } = open(context, url, { framesPerSecond: 1 })
    await expect.poll(() => sent).toBeGreaterThan(150)
    expect(frames.length).toBeGreaterThan(0)
    expect(frames.length).toBeLessThan(sent / 10)
  })

  test('that come while the last one is processed are dropped, and the device says it is too slow', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg), 10)
      response.on('close', () => clearInterval(timer))
    })
    let release = () => {}
    const { camera, frames } = open(
      context,
      url,
      { framesPerSecond: 30 },
      () => new Promise<void>((resolve) => (release = resolve)),
    )
    await expect
      .poll(() => camera.problems())
      .toEqual(['Camera orchard: this device is too slow for 30 pictures a second; some are dropped.'])
    expect(frames).toHaveLength(1)
    release()
    await expect.poll(() => frames.length).toBe(2)
    release()
    const stopped = camera.stop()
    const releasing = setInterval(() => release(), 20)
    await stopped
    clearInterval(releasing)
  })

  test('of another size after a while', async (context) => {
    const { expect } = context
    const [small, large] = [await jpegOf(120, 160, 120), await jpegOf(120, 800, 400)]
    let jpeg = small
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg), 20)
      response.on('close', () => clearInterval(timer))
    })
    const { frames } = open(context, url, { framesPerSecond: 20 })
    await expect.poll(() => frames.at(-1)?.image.width).toBe(160)
    jpeg = large
    await expect.poll(() => frames.at(-1)?.image.width).toBe(640)
  })

  test('again after the camera was gone', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    let calls = 0
    const url = await serve(context, (_request, response) => {
      calls++
      if (calls <= 2) {
        response.destroy()
        return
      }
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg), 20)
      response.on('close', () => clearInterval(timer))
    })
    const { camera, frames } = open(context, url)
    await expect.poll(() => frames.length).toBeGreaterThan(0)
    expect(calls).toBe(3)
    await expect.poll(() => camera.problems()).toEqual([])
  })
})

describe.concurrent('problems are described in words', () => {
  test.for([
    [
      401,
      'it refuses the user name or the password of its address. It is asked again after a minute, because ' +
        'cameras lock an account',
    ],
    [404, 'it has nothing at this path of its address'],
    [503, 'it answers with status 503'],
  ] as const)('status %i', async ([status, words], context) => {
    const { expect } = context
    const url = await serve(context, (_request, response) => response.writeHead(status).end())
    const { camera } = open(context, url.replace('//', '//viewer:secret@'))
    await expect.poll(() => camera.problems()).toEqual([`Camera orchard gives no pictures: ${words}.`])
    expect(camera.state().state).toBe('offline')
  })

  test('nothing at its port', async (context) => {
    const { expect } = context
    const { camera } = open(context, `http://127.0.0.1:${await freePort()}/`)
    await expect
      .poll(() => camera.problems())
      .toEqual(['Camera orchard gives no pictures: nothing answers at its port.'])
  })

  test.each([
    ['gate', 'Camera gate'],
    ['camera 1', 'Camera 1'],
    ['Camera gate', 'Camera gate'],
    ['cameraman', 'Camera cameraman'],
  ])('camera %j is called %j', (name, words) => expect(cameraInWords(name)).toBe(words))

  test('a password with a bare percent sign, before anything is opened', () => {
    const camerasOf = (url: string) => camerasSettings.safeParse({ gate: { url } })
    expect(camerasOf('http://viewer:100%25@127.0.0.1/').success).toBe(true)
    expect(camerasOf('http://viewer:100%@127.0.0.1/').error?.issues[0]?.message).toMatch(/written %25/)
  })

  test('a page instead of a picture', async (context) => {
    const { expect } = context
    const url = await serve(context, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end('<h1>Camera</h1>')
    })
    const { camera } = open(context, url)
    await expect
      .poll(() => camera.problems()[0])
      .toMatch(/it sends text\/html charset utf-8 and neither MJPEG nor JPEG/)
  })

  test('a black picture, for half a minute', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(0)
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg), 20)
      response.on('close', () => clearInterval(timer))
    })
    const { camera, frames, advance } = open(context, url, { framesPerSecond: 1 })
    await expect.poll(() => frames.length).toBeGreaterThan(0)
    expect(camera.problems()).toEqual([])
    for (let i = 0; i < 5; i++) {
      advance(8_000)
      const { length } = frames
      await expect.poll(() => frames.length).toBeGreaterThan(length)
    }
    expect(camera.problems()).toEqual(['Camera orchard: its picture is black. Is it covered, or its light off?'])
  })

  test('a camera that sends less than asked for', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg), 50)
      response.on('close', () => clearInterval(timer))
    })
    const { camera, frames, advance } = open(context, url, { framesPerSecond: 2 })
    for (let i = 0; i < 5; i++) {
      const { length } = frames
      await expect.poll(() => frames.length).toBeGreaterThan(length)
      advance(8_000)
    }
    const { length } = frames
    await expect.poll(() => frames.length).toBeGreaterThan(length)
    expect(camera.problems()[0]).toMatch(/^Camera orchard sends 0\.\d of 2 pictures a second\.$/)
  })
})

describe.concurrent('the rate', () => {
  /** A camera whose pictures come at given times of a clock that stands still between them. */
  async function rated(context: TestContext, framesPerSecond: number) {
    const { expect } = context
    const shades = await Promise.all(Array.from({ length: 20 }, (_, at) => jpegOf(40 + at * 10)))
    let send: ((jpeg: Buffer) => void) | undefined
    const url = await serve(context, (_request, response) => (send = streamTo(response)))
    let now = 0
    const frames: number[] = []
    const settings = { ...camerasSettings.parse({ orchard: { url, framesPerSecond } })['orchard']!, url }
    const camera = openCamera({
      name: 'orchard',
      settings,
      log: pino({ level: 'silent' }),
      clock: () => now,
      onFrame: ({ atMs }) => void frames.push(atMs),
    })
    context.onTestFinished(camera.stop)
    return {
      fpsAt: (ms: number) => ((now = ms), camera.state().fps),
      problems: () => camera.problems(),
      async pictureAt(ms: number) {
        now = ms
        await expect.poll(() => (send?.(shades[frames.length]!), frames.at(-1)), { timeout: 30_000 }).toBe(ms)
      },
    }
  }

  test('does not count the time before the first picture, and falls once pictures are missing', async (context) => {
    const { expect } = context
    const { pictureAt, fpsAt } = await rated(context, 5)
    await pictureAt(9_000)
    expect(fpsAt(9_000)).toBe(0)
    await pictureAt(9_200)
    await pictureAt(9_400)
    expect([fpsAt(9_400), fpsAt(9_600)]).toEqual([5, 5])
    expect(fpsAt(13_200)).toBe(0.5)
    expect(fpsAt(30_000)).toBe(0)
    await pictureAt(30_000)
    await pictureAt(30_500)
    expect(fpsAt(30_500)).toBe(2)
  })

  test('counts a picture once that FFmpeg repeats after a gap', () => {
    const isDue = createPace(5)
    const gaps = [0, 1_000, 2_000].flatMap((at) => [at, at + 1, at + 20, at + 39])
    expect(gaps.filter((at) => isDue(at))).toEqual([0, 1_000, 2_000])
  })

  test('is kept by a camera whose pictures are early and late by half their distance', () => {
    const isDue = createPace(5)
    const uneven = Array.from({ length: 50 }, (_, at) => at * 200 + (at % 2) * 100)
    expect(uneven.filter((at) => isDue(at))).toHaveLength(50)
  })

  test('of a camera asked for a picture in five seconds is not too low between two of them', async (context) => {
    const { expect } = context
    const { pictureAt, fpsAt, problems } = await rated(context, 0.2)
    for (let at = 0; at <= 70_000; at += 5_000) await pictureAt(at)
    expect([fpsAt(70_000), fpsAt(74_900)]).toEqual([0.2, 0.2])
    expect(problems()).toEqual([])
  })
})

describe.concurrent('a hostile camera', () => {
  test('that redirects sends the gateway nowhere', async (context) => {
    const { expect } = context
    let visits = 0
    const inner = await serve(context, (_request, response) => {
      visits++
      response.end()
    })
    const url = await serve(context, (_request, response) => response.writeHead(302, { location: inner }).end())
    const { camera } = open(context, url)
    await expect
      .poll(() => camera.problems())
      .toEqual(['Camera orchard gives no pictures: it redirects to another address, which is not followed.'])
    expect(visits).toBe(0)
  })

  test('that takes the connection and sends nothing is opened again', async (context) => {
    const { expect } = context
    let connections = 0
    const port = await listen(
      context,
      createTcpServer(() => connections++),
    )
    const { camera, advance } = open(context, `http://127.0.0.1:${port}/`)
    await expect.poll(() => connections).toBe(1)
    advance(21_000)
    await expect.poll(() => camera.problems()).toEqual(['Camera orchard gives no pictures: it sends no picture.'])
    await expect.poll(() => connections).toBe(2)
  })

  test('whose snapshots are bombs is said to send no whole JPEG, also over a new connection', async (context) => {
    const { expect } = context
    const size = [0xea, 0x60]
    const bomb = Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, ...size, ...size, 3, 1, 34, 0, 2, 17, 1, 3, 17, 1])
    let isHanging = false
    const url = await serve(context, (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/jpeg' })
      if (!isHanging) response.end(bomb)
    })
    const { camera, advance } = open(context, url, { framesPerSecond: 20 })
    const words = 'it sends pictures that are no whole JPEG'
    await expect.poll(() => camera.problems()).toEqual([`Camera orchard: ${words}.`])
    isHanging = true
    advance(21_000)
    await expect.poll(() => camera.problems()).toEqual([`Camera orchard gives no pictures: ${words}.`])
  })

  test('that stalls in the middle of a picture is opened again', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    let connections = 0
    const url = await serve(context, (_request, response) => {
      connections++
      const send = streamTo(response)
      send(jpeg)
      response.write('--frame\r\ncontent-type: image/jpeg\r\n\r\n')
      response.write(jpeg.subarray(0, 100))
    })
    const { frames, advance } = open(context, url)
    await expect.poll(() => frames.length).toBe(1)
    advance(11_000)
    await expect.poll(() => connections).toBe(2)
  })

  test('that floods is cut off', async (context) => {
    const { expect } = context
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const url = await serve(context, (_request, response) => {
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', pour)
      pour()
    })
    const { camera } = open(context, url)
    await expect
      .poll(() => camera.problems()[0])
      .toMatch(
        /it sends (multipart\/x-mixed-replace boundary frame and neither MJPEG nor JPEG|more than 24 MB a second)\./,
      )
  })

  test('that floods with empty pictures is cut off', async (context) => {
    const { expect } = context
    const parts = Buffer.from('ffd8ffda0002ffd9'.repeat(5_000), 'hex')
    const url = await serve(context, (_request, response) => {
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
      response.write(parts)
    })
    const { camera } = open(context, url)
    await expect
      .poll(() => camera.problems())
      .toEqual(['Camera orchard gives no pictures: it sends more than 1,000 pictures a second.'])
  })

  test('whose snapshot never ends is cut off', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(90)
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const url = await serve(context, (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/jpeg' })
      response.write(jpeg.subarray(0, -2))
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', pour)
      pour()
    })
    const { camera } = open(context, url)
    await expect.poll(() => camera.problems()[0]).toMatch(/it sends a picture of more than 8 MB/)
  })

  test('that lies about lengths, or damages pictures in between, loses only those', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    const bomb = Buffer.from(jpeg)
    bomb.writeUInt16BE(65_535, bomb.indexOf(Buffer.from([0xff, 0xc0])) + 5)
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      let round = 0
      const timer = setInterval(() => {
        const turn = round++ % 4
        if (turn === 0) send(jpeg, 99_999_999)
        if (turn === 1) send(bomb)
        if (turn === 2) send(jpeg.subarray(0, 300))
        if (turn === 3) send(jpeg)
      }, 20)
      response.on('close', () => clearInterval(timer))
    })
    const { camera, frames } = open(context, url, { framesPerSecond: 30 })
    await expect.poll(() => frames.length).toBeGreaterThan(5)
    expect(camera.state().state).toBe('online')
  })

  test('that sends nothing but damaged pictures says so', async (context) => {
    const { expect } = context
    const jpeg = await jpegOf(120)
    const url = await serve(context, (_request, response) => {
      const send = streamTo(response)
      const timer = setInterval(() => send(jpeg.subarray(0, 300)), 20)
      response.on('close', () => clearInterval(timer))
    })
    const { camera } = open(context, url)
    await expect.poll(() => camera.problems()).toEqual(['Camera orchard: it sends damaged pictures.'])
  })

  test('that speaks no HTTP is told apart', async (context) => {
    const { expect } = context
    const port = await listen(
      context,
      createTcpServer((socket) => socket.end(Buffer.alloc(300, 0xff))),
    )
    const { camera } = open(context, `http://127.0.0.1:${port}/`)
    await expect.poll(() => camera.problems()[0]).toMatch(/^Camera orchard gives no pictures: /)
  })
})

const ffmpegIsMissing = spawnSync('ffmpeg', ['-version']).error !== undefined
const why = ffmpegIsMissing ? ' (skipped: there is no ffmpeg)' : ''

describe.skipIf(ffmpegIsMissing)(`through FFmpeg${why}`, { concurrent: true }, () => {
  test('a camera that FFmpeg opens gives pictures, and comes back after it ended', async (context) => {
    const { expect } = context
    const port = await freePort()
    const url = `rtmp://127.0.0.1:${port}/live/orchard`
    const send = () => {
      // FFmpeg looks at five seconds of such a stream before it shows it, so they come fast.
      const source = ['-readrate', '5', '-f', 'lavfi', '-i', 'testsrc=size=704x396:rate=10', '-t', '300']
      const output = ['-c:v', 'flv1', '-g', '10', '-f', 'flv', '-listen', '1', url]
      const child = spawn('ffmpeg', ['-v', 'error', '-nostdin', ...source, ...output], { stdio: 'ignore' })
      const ended = once(child, 'close')
      const stop = async () => {
        child.kill('SIGKILL')
        await ended
      }
      context.onTestFinished(stop)
      return stop
    }
    const stop = send()
    const { camera, frames } = open(context, url, { framesPerSecond: 5 })
    await expect.poll(() => frames.length, { timeout: 60_000 }).toBeGreaterThan(2)
    expect([frames[0]!.image.width, frames[0]!.image.height]).toEqual([640, 360])
    expect((await camera.latest())?.jpeg.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]))
    await stop()
    await expect.poll(() => camera.problems()[0], { timeout: 60_000 }).toMatch(/^Camera orchard gives no pictures: /)
    const { length } = frames
    send()
    await expect.poll(() => frames.length, { timeout: 60_000 }).toBeGreaterThan(length)
  }, 200_000)

  test('nothing at its port, in words; stopping ends the child', async (context) => {
    const { expect } = context
    const port = await freePort()
    const { camera } = open(context, `rtsp://viewer:secret@127.0.0.1:${port}/stream`)
    await expect
      .poll(() => camera.problems(), { timeout: 60_000 })
      .toEqual(['Camera orchard gives no pictures: nothing answers at its port.'])
    await camera.stop()
  })

  test('a camera that takes the connection and sends nothing is opened again', async (context) => {
    const { expect } = context
    let connections = 0
    const port = await listen(
      context,
      createTcpServer(() => connections++),
    )
    const { camera, advance } = open(context, `rtsp://127.0.0.1:${port}/stream`)
    await expect.poll(() => connections, { timeout: 60_000 }).toBe(1)
    advance(46_000)
    await expect.poll(() => connections, { timeout: 60_000 }).toBe(2)
    await camera.stop()
  })
})
