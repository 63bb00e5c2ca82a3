import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConfig, lint } from '@redocly/openapi-core'
import { pino } from 'pino'
import { afterAll, assert, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkDeclared } from '../../../testing/declared-error.ts'
import { startRelay, type Relay } from '../../../testing/relay.ts'
import { findAgent } from '../../agent-file.ts'
import { startGateway, type Gateway } from '../../gateway.ts'
import { localCalls } from '@hedgerow/contract/local-api'

const FRAME = join(import.meta.dirname, '../../../../../scripts/demo-frames/boar.jpg')

let dataDir: string
let relay: Relay
let gateway: Gateway
let frame: Buffer

/** The fields of all answers that these tests read. */
type Body = {
  error?: string
  armed: boolean
  deterrents: { state: string }[]
  fieldErrors: Record<string, string>
  detections: { id: string }[]
  firing: object
  openapi: string
  paths: Record<string, Record<string, { operationId: string }>>
}

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/api/v1${path}`, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const { status, headers } = answer
  const bytes = Buffer.from(await answer.arrayBuffer())
  const isJson = headers.get('content-type')?.startsWith('application/json')
  const told = (isJson ? JSON.parse(bytes.toString()) : {}) as Body
  checkDeclared(localCalls, { base: '', method, path: `/v1${path}`, code: told.error })
  return { status, headers, bytes, body: told }
}

const seen = (id: string, more: object = {}) => ({
  id,
  camera: 'orchard',
  label: 'fox',
  severity: 'alert',
  score: 0.9,
  startedAt: new Date().toISOString(),
  ...more,
})

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-local-api-'))
  relay = await startRelay()
  frame = await readFile(FRAME)
  const file = `
sources: { api: { token: a-token-of-a-program, loopbackNeedsToken: false } }
deterrents:
  Valve 1: { driver: http, on: { url: ${relay.onUrl} }, off: { url: ${relay.offUrl} }, seconds: 20, coolDownSeconds: 0 }
`
  await writeFile(join(dataDir, 'gateway.yaml'), file)
  const log = pino({ level: 'silent' })
  gateway = await startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, searchDomains: [], log })
  await vi.waitFor(
    async () => assert((await call('GET', '/status')).body.deterrents[0]?.state === 'ready', 'the valve is ready'),
    { timeout: 30_000 },
  )
})

afterAll(async () => {
  await gateway?.stop()
  await relay?.stop()
  await rm(dataDir, { recursive: true })
})

describe('detections', () => {
  test('are refused with the first error of each field', async () => {
    const { status, body } = await call('POST', '/detections', {
      detections: [seen('bad', { score: 2, startedAt: 'now' })],
    })
    expect([status, body.fieldErrors]).toEqual([
      400,
      {
        'detections.0.score': 'Must be at most 1',
        'detections.0.startedAt': 'Must be a moment such as 2026-01-31T12:00:00Z',
      },
    ])
  })

  test('are listed newest first, of a camera, of a label, of a time', async () => {
    const at = (minute: number) => `2026-05-01T10:0${minute}:00.000Z`
    await call('POST', '/detections', {
      detections: [
        seen('list-1', { camera: 'yard', startedAt: at(1) }),
        seen('list-2', { camera: 'yard', startedAt: at(2), endedAt: at(3) }),
        seen('list-3', { camera: 'yard', label: 'cat', startedAt: at(3) }),
      ],
    })
    const ids = async (query: string) => {
      const { body } = await call('GET', `/detections?camera=yard${query}`)
      return body.detections.map(({ id }) => id)
    }
    expect(await ids('')).toEqual(['list-3', 'list-2', 'list-1'])
    expect(await ids('&label=fox&limit=1')).toEqual(['list-2'])
    expect(await ids(`&since=${at(2)}&before=${at(3)}`)).toEqual(['list-2'])
    const { body } = await call('GET', '/detections?camera=yard&label=cat')
    expect(body.detections).toEqual([seen('list-3', { camera: 'yard', label: 'cat', startedAt: at(3), source: 'api' })])
  })

  test('keep the picture that came with them, to the byte', async () => {
    const id = 'with/a picture'
    const report = (more: object) => call('POST', '/detections', { detections: [seen(id, more)] })
    await report({ thumbnail: frame.toString('base64') })
    await report({ score: 0.95 })
    const { status, bytes, headers } = await call('GET', `/detections/${encodeURIComponent(id)}/snapshot.jpg`)
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      200,
      'image/jpeg',
      'nosniff',
    ])
    expect(frame.equals(bytes)).toBe(true)
  })

  test('of a batch with mistakes are refused, with a sentence for each field', async () => {
    const { label: _label, ...unnamed } = seen('unnamed')
    const body = { detections: [unnamed, seen('sure', { score: 2 }), { ...seen('more'), colour: 'red' }] }
    expect(await call('POST', '/detections', body)).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        fieldErrors: {
          'detections.0.label': 'This field is missing',
          'detections.1.score': 'Must be at most 1',
          'detections.2.colour': 'This field is not known.',
        },
      },
    })
  })

  test.each([
    ['a bomb that claims 65,535 by 65,535 pixels', (jpeg: Buffer) => resized(jpeg, 65_535)],
    ['half of a picture', (jpeg: Buffer) => jpeg.subarray(0, jpeg.length / 2)],
    [
      'a page behind the first bytes of a picture',
      (jpeg: Buffer) => Buffer.concat([jpeg.subarray(0, 4), Buffer.from('<script>alert(1)</script>')]),
    ],
  ])('with %s are refused, and nothing of the batch is kept', async (_what, spoil) => {
    const thumbnail = spoil(frame).toString('base64')
    const answer = await call('POST', '/detections', { detections: [seen('good'), seen('bad', { thumbnail })] })
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', fieldErrors: { 'detections.1.thumbnail': 'This is not a whole JPEG.' } },
    })
    expect(await call('GET', '/detections/good/snapshot.jpg')).toMatchObject({
      status: 404,
      body: { error: 'detection_not_found' },
    })
  })
})

/** The same picture, claiming another height. */
function resized(jpeg: Buffer, height: number): Buffer {
  const copy = Buffer.from(jpeg)
  let at = 2
  while (![0xc0, 0xc1, 0xc2].includes(copy[at + 1]!)) at += 2 + copy.readUInt16BE(at + 2)
  copy.writeUInt16BE(height, at + 5)
  copy.writeUInt16BE(height, at + 7)
  return copy
}

describe('deterrents', () => {
  test('are fired, for as long as was asked, and stopped', async () => {
    const { status, body } = await call('POST', '/deterrents/Valve%201/fire', { seconds: 15 })
    expect([status, body.firing]).toEqual([200, expect.objectContaining({ deterrent: 'Valve 1', seconds: 15 })])
    expect(relay.isOn()).toBe(true)
    expect((await call('GET', '/status')).body.deterrents[0]).toMatchObject({ state: 'active', driver: 'http' })
    expect(await call('POST', '/deterrents/Valve%201/stop')).toMatchObject({ status: 200, body: {} })
    expect(relay.isOn()).toBe(false)
  })

  test('are refused beyond the limits of the file, with a code for programs', async () => {
    expect(await call('POST', '/deterrents/Valve%201/fire', { seconds: 21 })).toMatchObject({
      status: 409,
      body: { error: 'not_fired', reason: 'too_long' },
    })
    expect(await call('POST', '/deterrents/Valve%201/fire', { seconds: 1_801 })).toMatchObject({ status: 400 })
    expect(await call('POST', '/deterrents/siren/fire')).toMatchObject({ body: { error: 'deterrent_not_found' } })
    expect(relay.isOn()).toBe(false)
  })

  test('do nothing while the device is disarmed', async () => {
    expect((await call('POST', '/disarm')).body).toEqual({ armed: false })
    expect((await call('GET', '/status')).body.armed).toBe(false)
    expect((await call('POST', '/deterrents/Valve%201/fire')).body).toMatchObject({ reason: 'disarmed' })
    expect((await call('POST', '/arm')).body).toEqual({ armed: true })
  })
})

test('the status is what the device and its programs tell the hub', async () => {
  const yard = { name: 'yard', state: 'online', fps: 5 }
  await call('PATCH', '/status', { cameras: [yard], problems: ['The lens is wet.'] })
  await call('PATCH', '/status', { problems: ['The lens is dirty.'] })
  expect((await call('GET', '/cameras')).body).toEqual({ cameras: [yard] })
  expect((await call('GET', '/status')).body).toMatchObject({
    gatewayId: null,
    cameras: [yard],
    problems: ['The lens is dirty.'],
    detectionsWaiting: expect.any(Number),
  })
})

test.each([
  ['GET', '/detections/none/snapshot.jpg', 404, 'detection_not_found'],
  ['GET', '/detections/list-1/snapshot.jpg', 404, 'no_picture'],
  ['GET', '/detections/list-1/clip.mp4', 404, 'no_picture'],
  ['GET', '/cameras/none/latest.jpg', 404, 'no_picture'],
  ['GET', '/cameras/none/latest.jpg?height=100000', 400, 'invalid_request'],
  ['GET', '/detections?limit=0', 400, 'invalid_request'],
  ['GET', '/detections?secret=1', 400, 'invalid_request'],
  ['GET', '/detections/%E0%A4%A/snapshot.jpg', 404, 'not_found'],
  ['GET', '/arm', 405, 'method_not_allowed'],
  ['POST', '/arm/now', 404, 'not_found'],
])('%s %s answers %d %s', async (method, path, status, error) => {
  expect(await call(method, path)).toMatchObject({ status, body: { error } })
})

describe('a page in a browser of the local network', () => {
  /** Sends headers that fetch does not let a program set. */
  function ask(headers: Record<string, string>, method = 'POST', path = '/api/v1/deterrents/Valve%201/fire') {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const outgoing = request({ host: '127.0.0.1', port: gateway.port, path, method, headers, agent: false })
    outgoing.on('error', reject)
    outgoing.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode!)
    })
    outgoing.end()
    return promise
  }

  test.each<[string, Record<string, string>, number]>([
    ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    ['that hides where it comes from', { origin: 'null' }, 403],
    ['that loads a picture', { 'sec-fetch-dest': 'image' }, 403],
    ['of the device itself', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' }, 403],
    ['whose name was pointed at the device', { host: 'rebound.evil.example' }, 421],
    ['that says it is the hub', { origin: 'null', 'x-hub-user': 'admin', 'x-hub-role': 'admin' }, 403],
  ])('%s fires nothing and reads nothing', async (_what, headers, status) => {
    expect(await ask(headers)).toBe(status)
    expect(await ask(headers, 'GET', '/api/v1/status')).toBe(status)
    expect(await ask(headers, 'GET', '/api/v1/detections/list-1/snapshot.jpg')).toBe(status)
    expect(relay.isOn()).toBe(false)
  })
})

test('models of the hub are for the commands of this device, by their names', async () => {
  expect((await call('GET', '/models/ssdlite-coco/archive.tgz')).status).toBe(401)
  const { url, token } = (await findAgent(dataDir))!
  const read = (name: string) =>
    fetch(`${url}/api/v1/models/${name}/archive.tgz`, { headers: { authorization: `Bearer ${token}` } })
  const answer = await read('ssdlite-coco')
  // No hub has approved this device.
  expect([answer.status, await answer.json()]).toMatchObject([
    404,
    { message: 'the hub has not approved this gateway' },
  ])
  expect((await read('..%2F..%2Frelease')).status).toBe(404)
})

test('a program that floods the API is only told to wait, and is served again a moment later', async () => {
  const rounds = Array.from({ length: 20 }, async () => {
    const statuses: number[] = []
    for (let round = 0; round < 30; round++) statuses.push((await call('GET', '/cameras')).status)
    return statuses
  })
  const others = (await Promise.all(rounds)).flat().filter((status) => status !== 200 && status !== 429)
  expect(others).toEqual([])
  await expect.poll(async () => (await call('GET', '/cameras')).status).toBe(200)
})

test('the device describes every call as OpenAPI that a linter has nothing to say about', async () => {
  const { body } = await call('GET', '/openapi.json')
  const operations = Object.values(body.paths).flatMap((path) => Object.values(path))
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(localCalls).toSorted())
  const fire = JSON.stringify(body.paths['/api/v1/deterrents/{name}/fire'])
  for (const code of ['not_fired', 'deterrent_not_found', 'token_required']) expect(fire).toContain(`\`${code}\``)
  const ref = join(dataDir, 'openapi.json')
  await writeFile(ref, JSON.stringify(body))
  const config = await createConfig({ extends: ['minimal'] })
  const problems = await lint({ ref, config })
  expect(problems.map(({ message, location }) => `${location[0]?.pointer} ${message}`)).toEqual([])
})
