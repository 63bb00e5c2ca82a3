import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import {
  multicastLacks,
  onvifAnswer,
  probeMatch,
  startOnvifCamera,
  type OnvifCameraOptions,
} from '../../../testing/onvif-camera.ts'
import { findCommand } from '../../cli/commands.ts'
import { findCameras } from '../../cli/cameras-find.ts'
import { elementsOf, textsOf } from '../../deterrents/drivers/onvif-soap.ts'
import { discoverCameras } from './discovery.ts'
import { nameFor } from './find.ts'
import { readStreams } from './streams.ts'

const GROUP = '239.255.255.250'

async function camera(options: Partial<OnvifCameraOptions> = {}) {
  const started = await startOnvifCamera({ user: 'viewer', password: 'p@ss', group: GROUP, ...options })
  onTestFinished(started.stop)
  return started
}

const serviceOf = ({ host }: { host: string }) => new URL(`http://${host}/onvif/device_service`)
const streamsOf = (
  host: { host: string },
  device: { user?: string; password?: string } = { user: 'viewer', password: 'p@ss' },
) => readStreams(serviceOf(host), device, AbortSignal.timeout(30_000))

/** Searches on loopback until `isEnough`. */
async function search(port: number, isOwn: (address: string) => boolean, isEnough: (found: string[]) => boolean) {
  const found: string[] = []
  const ending = new AbortController()
  const searching = discoverCameras({
    onFound: ({ service }) => void found.push(service.href),
    signal: ending.signal,
    from: ['127.0.0.1'],
    port,
    isOwn,
  })
  await expect.poll(() => isEnough(found)).toBe(true)
  ending.abort()
  await searching
  return found
}

const lacks = await multicastLacks(GROUP)

describe.skipIf(lacks)(`a search${lacks === undefined ? '' : ` (skipped: ${lacks})`}`, () => {
  test('finds a camera that answers, once, at the address that it answers from', async () => {
    const started = await camera()
    const found = await search(
      started.discoveryPort,
      () => false,
      (found) => found.length > 0 && started.probes() > 1,
    )
    expect(found).toEqual([`http://${started.host}/onvif/device_service`])
  })

  test('ignores an answer that names another machine, another protocol or a password', async () => {
    const names = ['http://10.0.0.1/onvif', 'file:///etc/passwd', 'http://user:pass@127.0.0.1/onvif', 'x', '']
    const started = await camera({
      probeAnswer: () => probeMatch('10.0.0.2').replace(/http:\/\/\[fe80::1\]\S*/, names.join(' ')),
    })
    expect(
      await search(
        started.discoveryPort,
        () => false,
        () => started.probes() > 1,
      ),
    ).toEqual([])
  })

  test("ignores answers from the device's own addresses: its own services are no cameras", async () => {
    const started = await camera()
    const ownAddresses = (address: string) => address === '127.0.0.1'
    expect(await search(started.discoveryPort, ownAddresses, () => started.probes() > 1)).toEqual([])
  })

  test('ignores datagrams that are no answer', async () => {
    const started = await camera({
      probeAnswer: (host) => `${'<'.repeat(20_000)}ProbeMatch${probeMatch(host).slice(0, 200)}`,
    })
    expect(
      await search(
        started.discoveryPort,
        () => false,
        () => started.probes() > 1,
      ),
    ).toEqual([])
  })
})

describe('a camera', () => {
  test('gives its profiles and streams to callers that know its password', async () => {
    expect(await streamsOf(await camera())).toEqual([
      {
        profile: 'Main   best',
        url: new URL('rtsp://127.0.0.1:554/main?a=1&b=2'),
        video: 'H264 1920x1080',
        source: 'lens0',
      },
      { profile: 'Sub', url: new URL('rtsp://127.0.0.1:554/sub?a=1&b=2'), video: 'H264 640x360', source: 'lens0' },
      { profile: 'Tiny', url: new URL('rtsp://127.0.0.1:554/tiny?a=1&b=2'), video: 'H264 320x180', source: 'lens0' },
    ])
  })

  test.each([{ user: 'viewer', password: 'wrong' }, { user: 'other', password: 'p@ss' }, {}])(
    'refuses %j, in words',
    async (device) => {
      await expect(streamsOf(await camera(), device)).rejects.toThrow('the camera refused the user or the password')
    },
  )

  const uri = (text: string) => onvifAnswer(`<MediaUri><Uri>${text}</Uri></MediaUri>`)
  const media = (text: string) => onvifAnswer(`<Capabilities><Media><XAddr>${text}</XAddr></Media></Capabilities>`)
  test.each([
    ['a stream of another machine', { GetStreamUri: uri('rtsp://10.0.0.1/x') }, 'another machine'],
    ['a stream that is a file', { GetStreamUri: uri('file:///etc/passwd') }, 'no address that can be used'],
    ['a stream over HTTP', { GetStreamUri: uri('http://127.0.0.1:8080/api/v1/arm') }, 'no address that can be used'],
    ['no stream', { GetStreamUri: onvifAnswer('') }, 'no address that can be used'],
    ['a service of another machine', { GetCapabilities: media('http://10.0.0.1/onvif') }, 'another machine'],
    ['a service that is a file', { GetCapabilities: media('file:///etc/passwd') }, 'no address that can be used'],
    ['a redirect', { GetProfiles: 'redirect' as const }, 'the camera answered 302'],
    ['an answer without an end', { GetProfiles: onvifAnswer('x'.repeat(200_000)) }, 'too long'],
  ])('that names %s is refused', async (_what, lies, words) => {
    await expect(streamsOf(await camera({ lies }))).rejects.toThrow(words)
  })

  test('whose answer is a bomb of entities costs nothing and gives nothing', async () => {
    const entities = Array.from({ length: 60 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('')
    const body = `<!DOCTYPE b [<!ENTITY e0 "x">${entities}]><Profiles token="main"><Name>&e60;</Name></Profiles>`
    const [stream] = await streamsOf(await camera({ lies: { GetProfiles: { status: 200, body } } }))
    expect(stream!.profile).toBe('e60')
  })

  test('with thousands of profiles is asked for a few', async () => {
    const many = Array.from({ length: 900 }, () => '<Profiles token="main"/>').join('')
    expect(await streamsOf(await camera({ lies: { GetProfiles: onvifAnswer(many) } }))).toHaveLength(64)
  })
})

describe('gateway cameras find', () => {
  test('prints lines for gateway.yaml, without the password', async () => {
    const { host } = await camera()
    const command = findCommand(['cameras', 'find', '--user', 'viewer', '--at', host])!
    const outcome = await command.run(command.args, { CAMERA_PASSWORD: 'p@ss' })
    expect(outcome).toEqual({
      isDone: true,
      text: [
        'cameras:',
        '  # camera-127-0-0-1: { url: "rtsp://viewer:${CAMERA_PASSWORD}@127.0.0.1:554/main?a=1&b=2" } # Main   ' +
          'best, H264 1920x1080',
        '  camera-127-0-0-1: { url: "rtsp://viewer:${CAMERA_PASSWORD}@127.0.0.1:554/sub?a=1&b=2" } # Sub, H264 640x360',
        '  # camera-127-0-0-1: { url: "rtsp://viewer:${CAMERA_PASSWORD}@127.0.0.1:554/tiny?a=1&b=2" } # Tiny, ' +
          'H264 320x180',
      ].join('\n'),
    })
  })

  test('gives each lens of a device a name and a recommended stream of its own', async () => {
    const { host } = await camera({ lenses: 2 })
    const { text } = await findCameras({ user: 'viewer', password: 'p@ss', at: host })
    const lines = text.split('\n').filter((line) => line.startsWith('  camera'))
    expect(lines).toEqual([
      expect.stringMatching(/^  camera-127-0-0-1-1: .*\/sub\?/),
      expect.stringMatching(/^  camera-127-0-0-1-2: .*\/sub2\?/),
    ])
    expect(parse(text)).toMatchObject({ cameras: { 'camera-127-0-0-1-1': {}, 'camera-127-0-0-1-2': {} } })
  })

  test('names cameras behind one address by their ports', () => {
    const services = ['http://198.18.0.7/a', 'http://198.18.0.7:8080/a', 'http://198.18.0.8:81/a'].map(
      (text) => new URL(text),
    )
    expect(services.map((service) => nameFor(service, services))).toEqual([
      'camera-198-18-0-7',
      'camera-198-18-0-7-8080',
      'camera-198-18-0-8',
    ])
  })

  test('says what is wrong', async () => {
    const { host } = await camera()
    const { text, isDone } = await findCameras({ user: undefined, password: undefined, at: host })
    expect(isDone).toBe(false)
    expect(text).toContain('the camera refused the user or the password')
    expect(text).toContain('--user NAME')
    const plain = createServer((_request, response) => response.end('<html>a printer</html>'))
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    onTestFinished(() => void plain.close())
    const at = `127.0.0.1:${(plain.address() as AddressInfo).port}`
    expect((await findCameras({ user: 'viewer', password: 'x', at })).text).toContain('no profile with a stream')
  })
})

test('elements are found whatever their prefix, in text that is broken too', () => {
  expect(textsOf('<a:X>1</a:X><X q="2"> 2&amp;lt; </X><b:X/><c:XY>3</c:XY>', 'X')).toEqual(['1', '2&lt;', ''])
  expect(elementsOf('<X token="t"><Y>1</Y></X>', 'X')).toEqual([{ attributes: ' token="t"', content: '<Y>1</Y>' }])
  expect(textsOf('<X>1', 'X')).toEqual([''])
  expect(textsOf('<X <X <X', 'X')).toEqual([])
})
