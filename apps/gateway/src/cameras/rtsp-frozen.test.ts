/** A camera whose pictures stand still, and one whose scene does: both look the same to a person. */
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { rtspServerLacks, startRtspServer, type RtspServer } from '../../testing/rtsp-server.ts'
import { openCamera, type Frame } from './camera.ts'
import { camerasSettings } from './schema.ts'

const lacks = rtspServerLacks()

const VIDEO = 'video/x-raw,format=I420,width=480,height=270,framerate=10/1'
/** Detail everywhere, which stays as it is until `kt` is set. */
const scene = (name: string) =>
  `videotestsrc is-live=true name=${name} pattern=zone-plate kx2=20 ky2=20 kt=0 ! ${VIDEO}`
/** The same before a sensor with noise. */
const sensor = (name: string) =>
  `${scene(name)} ! mix.sink_0 videotestsrc is-live=true pattern=snow ! ${VIDEO} ! mix.sink_1 compositor ` +
  `name=mix sink_0::zorder=0 sink_1::zorder=1 sink_1::alpha=0.03 ! ${VIDEO}`
const coded = (pictures: string, coder: string) =>
  `${pictures} ! x264enc speed-preset=ultrafast bframes=0 threads=1 key-int-max=10 ${coder} ! rtph264pay ` +
  'name=pay0 pt=96 config-interval=-1'
/** So few bits that the little that noise changes is lost between two key frames. */
const COARSE = 'pass=quant quantizer=36'
const STREAMS = {
  stuck: coded(scene('stuck'), ''),
  'stuck-coarse': coded(scene('stuck-coarse'), COARSE),
  calm: coded(sensor('calm'), ''),
  'calm-coarse': coded(sensor('calm-coarse'), COARSE),
}
const SOON = { timeout: 45_000 }

describe.skipIf(lacks)(`a frozen camera with RTSP${lacks === undefined ? '' : ` (skipped: ${lacks})`}`, () => {
  let server: RtspServer
  beforeAll(async () => {
    server = await startRtspServer(STREAMS)
  })
  afterAll(() => server?.stop())

  function open(stream: keyof typeof STREAMS) {
    const url = `rtsp://127.0.0.1:${server.port}/${stream}`
    const frames: Frame[] = []
    const states = new Set<string>()
    const camera = openCamera({
      name: 'gate',
      settings: { ...camerasSettings.parse({ gate: { url } })['gate']!, url },
      log: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
      // Three seconds seem to pass with each picture.
      clock: () => performance.now() + frames.length * 3_000,
      onFrame(frame) {
        frames.push(frame)
        states.add(camera.state().state)
      },
      onStream() {},
    })
    onTestFinished(camera.stop)
    return { camera, frames, states }
  }

  test.each(['stuck', 'stuck-coarse'] as const)('is told by its picture, until that moves: %s', async (stream) => {
    const { camera } = open(stream)
    await expect.poll(() => camera.state().state, SOON).toBe('frozen')
    expect(camera.problems()).toEqual([
      expect.stringMatching(/^Camera gate: its picture has not changed since \d\d:\d\d \S+ on \d+ \w+\.$/),
    ])
    server.set(stream, 'kt', '5')
    await expect.poll(() => camera.state().state, SOON).toBe('online')
  })

  test.each(['calm', 'calm-coarse'] as const)('is none before which nothing moves: %s', async (stream) => {
    const { frames, states } = open(stream)
    // A dozen key frames.
    await expect.poll(() => frames.length, SOON).toBeGreaterThan(60)
    expect([...states]).toEqual(['online'])
  })
})
