import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, test, type TestContext } from 'vitest'
import { rtspServerLacks, startRtspServer, type RtspServer } from '../../testing/rtsp-server.ts'
import { createRecentStream } from './transport-stream.ts'
import { openCamera, type Camera, type Frame } from './camera.ts'
import { camerasSettings } from './schema.ts'

const lacks = rtspServerLacks()
const hasHardware = existsSync('/dev/dri') || existsSync('/dev/video10')

const size = (width: number, height: number) => `video/x-raw,format=I420,width=${width},height=${height},framerate=30/1`
const source = (width: number, height: number) =>
  `videotestsrc is-live=true pattern=ball ! capsfilter name=size${width} caps="${size(width, height)}"`
const SMALL = source(320, 240)
const CODER = 'x264enc speed-preset=ultrafast bframes=0 threads=1 key-int-max=20'
const STREAMS = {
  garden: `${source(800, 600)} ! ${CODER} ! rtph264pay name=pay0 pt=96 config-interval=-1`,
  stalling: `${SMALL} ! valve name=valve ! ${CODER} ! rtph264pay name=pay0 pt=96 config-interval=-1`,
  changing: `${source(400, 304)} ! ${CODER} ! rtph264pay name=pay0 pt=96 config-interval=-1`,
  damaged: `${SMALL} ! ${CODER} ! breakmydata probability=0.0005 ! rtph264pay name=pay0 pt=96 config-interval=-1`,
  jpeg: `${SMALL} ! jpegenc ! rtpjpegpay name=pay0 pt=26`,
  sound: 'audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay0 pt=8',
  odd: `${SMALL} ! ${CODER} ! rtph264pay pt=96 ! capssetter name=pay0 caps="application/x-rtp,encoding-name=X-OWL"`,
}
/** FFmpeg analyses a stream for some seconds before it shows it. */
const SOON = { timeout: 60_000 }

describe.skipIf(lacks)(
  `a camera with RTSP${lacks === undefined ? '' : ` (skipped: ${lacks})`}`,
  { concurrent: true },
  () => {
    let server: RtspServer
    beforeAll(async () => {
      server = await startRtspServer(STREAMS, { user: 'viewer', password: 'p@ss word' })
    })
    afterAll(() => server?.stop())

    const urlOf = (stream: string, password = 'p@ss word') =>
      `rtsp://viewer:${encodeURIComponent(password)}@127.0.0.1:${server.port}/${stream}`

    function open({ onTestFinished }: TestContext, url: string, settings: object = {}) {
      const frames: Frame[] = []
      const stream = createRecentStream({ keepMs: 10_000, maxBytes: 10_000_000 })
      let skippedMs = 0
      const camera: Camera = openCamera({
        name: 'gate',
        settings: { ...camerasSettings.parse({ gate: { url, ...settings } })['gate']!, url },
        log: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
        clock: () => performance.now() + skippedMs,
        onFrame: (frame) => void frames.push(frame),
        onStream: (bytes) => void (bytes ? stream.add(bytes, performance.now()) : stream.clear()),
      })
      onTestFinished(camera.stop)
      return { camera, frames, stream, advance: (ms: number) => (skippedMs += ms) }
    }

    test('that wants a user and a password, percent-encoded in its address, gives pictures', async (context) => {
      const { expect } = context
      const { camera, frames, stream } = open(context, urlOf('garden'))
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(2)
      expect([frames[0]!.image.width, frames[0]!.image.height]).toEqual([640, 480])
      const own = await frames[0]!.own!()
      expect([own.width, own.height]).toEqual([800, 600])
      expect(camera.problems()).toEqual([])
      await expect.poll(stream.coding, SOON).toBe('h264')
      await expect.poll(() => stream.since(0).length, SOON).toBeGreaterThan(0)
    })

    test('that sends JPEG gives pictures; no clip can be copied from them', async (context) => {
      const { expect } = context
      const { frames, stream } = open(context, urlOf('jpeg'))
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(2)
      await expect.poll(stream.coding, SOON).toBe('other')
    })

    test('what is wrong, in words', async (context) => {
      const { expect } = context
      const refused =
        'it refuses the user name or the password of its address. It is asked again after a minute, because ' +
        'cameras lock an account'
      const wrong: readonly (readonly [url: string, settings: object, words: string])[] = [
        [urlOf('garden', 'wrong'), {}, refused],
        [`rtsp://127.0.0.1:${server.port}/garden`, {}, 'it wants a user name and a password in its address'],
        [urlOf('nothing'), {}, 'it has nothing at this path of its address'],
        [urlOf('sound'), {}, 'it sends no video'],
        [urlOf('odd'), {}, 'FFmpeg does not know the codec of its video'],
        // TCP has no route to a multicast address, wherever the test runs.
        ['rtsp://224.0.0.1/garden', {}, 'there is no route to it'],
      ]
      const opened = wrong.map(([url, settings]) => open(context, url, settings))
      for (const [index, [, , words]] of wrong.entries())
        await expect
          .poll(() => {
            // FFmpeg itself waits for ever for a picture that it could show.
            opened[index]!.advance(100)
            return opened[index]!.camera.problems()
          }, SOON)
          .toEqual([`Camera gate gives no pictures: ${words}.`])
    })

    test('that offers UDP only names the setting, and gives pictures with it', async (context) => {
      const { expect } = context
      const udp = await startRtspServer({ garden: STREAMS.garden }, { onlyUdp: true })
      context.onTestFinished(udp.stop)
      const url = `rtsp://127.0.0.1:${udp.port}/garden`
      const { camera } = open(context, url)
      const words = 'it sends its video over UDP only: set `transport: udp` for this camera in gateway.yaml'
      await expect.poll(camera.problems, SOON).toEqual([`Camera gate gives no pictures: ${words}.`])
      const { frames } = open(context, url, { transport: 'udp' })
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(2)
    })

    test('that refuses to send its video over TCP, however it refuses, names the setting', async (context) => {
      const { expect } = context
      const description =
        'v=0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n'
      const refusals = [
        '400 Bad Request',
        '404 Not Found',
        '454 Session Not Found',
        '500 Error',
        '551 Option',
        'end',
        'hang',
      ]
      const cameras = refusals.map(async (refusal) => {
        const sockets: Socket[] = []
        const refusing = createServer((socket) => {
          sockets.push(socket)
          socket.on('error', () => {})
          socket.on('data', (asked) => {
            const [, method, number] = /^(\w+)[^]*CSeq: (\d+)/.exec(String(asked)) ?? []
            const answer = (status: string, rest: string) =>
              socket.write(`RTSP/1.0 ${status}\r\nCSeq: ${number}\r\n${rest}`)
            if (method === 'OPTIONS') answer('200 OK', 'Public: DESCRIBE, SETUP, PLAY\r\n\r\n')
            else if (method === 'DESCRIBE')
              answer(
                '200 OK',
                `Content-Type: application/sdp\r\nContent-Length: ${description.length}\r\n\r\n${description}`,
              )
            else if (refusal === 'end') socket.end()
            else if (refusal !== 'hang') answer(refusal, '\r\n')
          })
        })
        refusing.listen(0, '127.0.0.1')
        context.onTestFinished(() => {
          refusing.close()
          for (const socket of sockets) socket.destroy()
        })
        await once(refusing, 'listening')
        return open(context, `rtsp://127.0.0.1:${(refusing.address() as AddressInfo).port}/x`).camera
      })
      for (const [index, camera] of (await Promise.all(cameras)).entries()) {
        const status = /^\d+/.exec(refusals[index]!)?.[0]
        await expect
          .poll(() => camera.problems().join(''), SOON)
          .toMatch(
            /: it describes its video and does not send it.*: try `transport: udp` for this camera in gateway.yaml/,
          )
        // FFmpeg itself tells no number of a class.
        if (status === '400' || status === '454') expect(camera.problems()[0]).toContain(`(${status})`)
      }
    })

    test('that redirects to another camera is not followed, and says so', async (context) => {
      const { expect } = context
      const sending = createServer((socket) => {
        socket.on('error', () => {})
        socket.on('data', (asked) => {
          const number = /CSeq: (\d+)/.exec(String(asked))?.[1]
          const redirect = `RTSP/1.0 302 Found\r\nCSeq: ${number}\r\nLocation: ${urlOf('garden')}\r\n\r\n`
          const options = `RTSP/1.0 200 OK\r\nCSeq: ${number}\r\nPublic: DESCRIBE, SETUP, PLAY\r\n\r\n`
          socket.write(String(asked).startsWith('OPTIONS') ? options : redirect)
        })
      })
      sending.listen(0, '127.0.0.1')
      await once(sending, 'listening')
      context.onTestFinished(() => void sending.close())
      const { camera, frames } = open(context, `rtsp://127.0.0.1:${(sending.address() as AddressInfo).port}/x`)
      await expect
        .poll(() => camera.problems(), SOON)
        .toEqual(['Camera gate gives no pictures: it redirects to another address, which is not followed.'])
      expect(frames).toEqual([])
    })

    test.skipIf(hasHardware)(
      `a decoder that this device lacks, in words${hasHardware ? ' (skipped: this machine may have one)' : ''}`,
      async (context) => {
        const { expect } = context
        const opened = ['vaapi', 'v4l2m2m'].map((by) => open(context, urlOf('garden'), { hardwareDecoding: by }).camera)
        for (const { problems } of opened)
          await expect
            .poll(problems, SOON)
            .toEqual(['Camera gate gives no pictures: this device cannot decode in hardware as gateway.yaml says.'])
      },
    )

    test('that stalls is opened again, and its pictures return', async (context) => {
      const { expect } = context
      const { camera, frames, advance } = open(context, urlOf('stalling'))
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(2)
      server.set('valve', 'drop', 'true')
      await expect
        .poll(() => {
          advance(5_000)
          return camera.problems()
        }, SOON)
        .toEqual(['Camera gate gives no pictures: it sends no picture.'])
      server.set('valve', 'drop', 'false')
      const { length } = frames
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(length)
      expect(camera.problems().join('')).not.toContain('gives no pictures')
    })

    test('that changes its size continues', async (context) => {
      const { expect } = context
      const { frames } = open(context, urlOf('changing'))
      await expect.poll(() => frames.at(-1)?.image.height, SOON).toBe(304)
      server.set('size400', 'caps', size(400, 224))
      await expect.poll(() => frames.at(-1)?.image.height, SOON).toBe(224)
    })

    test('with damaged video continues and reports it', async (context) => {
      const { expect } = context
      const { camera, frames } = open(context, urlOf('damaged'))
      await expect
        .poll(camera.problems, SOON)
        .toEqual(['Camera gate: its video comes damaged. Is its network too weak?'])
      expect(frames.length).toBeGreaterThan(0)
      expect(camera.state().state).toBe('online')
    })

    test('that was switched off and on again is found again', async (context) => {
      const { expect } = context
      const first = await startRtspServer({ garden: STREAMS.garden })
      const { camera, frames } = open(context, `rtsp://127.0.0.1:${first.port}/garden`)
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(0)
      await first.stop()
      await expect.poll(() => camera.problems()[0], SOON).toMatch(/nothing answers at its port/)
      const second = await startRtspServer({ garden: STREAMS.garden }, { port: first.port })
      context.onTestFinished(second.stop)
      const { length } = frames
      await expect.poll(() => frames.length, SOON).toBeGreaterThan(length)
    })
  },
)
