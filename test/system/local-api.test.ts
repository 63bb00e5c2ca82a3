import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { approveRegistration, listDetections, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const run = promisify(execFile)
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.log('skipped: the example in Python needs python3')
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operations/device-api.md'), 'utf8')

let hub: Hub
let gateway: TestGateway
let id: string

beforeAll(async () => {
  hub = await startHub()
  gateway = await startGateway({ url: hub.url }, { name: 'Orchard' })
  const [registration] = await waitFor(
    async () => {
      const pending = await hub.api(listPendingRegistrations)
      return pending.length === 1 ? pending : undefined
    },
    { for: 'the registration' },
  )
  await hub.api(approveRegistration, { params: { registrationId: registration!.registrationId } })
  const [found] = await waitFor(
    async () => {
      const all = await hub.api(listGateways)
      return all[0]?.status === 'online' ? all : undefined
    },
    { for: 'the gateway to be online' },
  )
  id = found!.id
})

afterAll(async () => {
  await gateway?.stop()
  await hub?.stop()
})

/** The first code block below the heading, with the port of this gateway. */
function example(heading: string): string {
  const [, block = ''] = new RegExp(`## ${heading}\n[^]*?\`\`\`\\w*\n([^]*?)\`\`\``).exec(PAGE) ?? []
  return block.replaceAll('127.0.0.1:8080', `127.0.0.1:${gateway.port}`)
}

const inHub = (label: string) =>
  waitFor(
    async () => {
      const found = await hub.api(listDetections, { params: { id } })
      return found.find((detection) => detection.label === label)
    },
    { for: `the ${label} in the hub` },
  )

test('the page’s curl line adds a detection to the hub', async () => {
  const { stdout } = await run('bash', ['-c', example('With curl')])
  expect(JSON.parse(stdout)).toEqual({ accepted: 1 })
  expect(await inHub('boar')).toMatchObject({ id: 'boar-1', camera: 'orchard', severity: 'alert', score: 0.91 })
})

test('the page’s lines for Node add a detection to the hub', async () => {
  await run(process.execPath, ['--input-type=module', '-e', example('With Node')])
  expect(await inHub('deer')).toMatchObject({ camera: 'orchard' })
})

test.skipIf(!hasPython)('the page’s lines for Python add a detection to the hub', async () => {
  await run('python3', ['-c', example('With Python')])
  expect(await inHub('fox')).toMatchObject({ id: 'fox-1', camera: 'yard', score: 0.7 })
})

test('the page’s flow for Node-RED adds a detection to the hub', async () => {
  type FlowNode = {
    id: string
    type: string
    payload?: string
    func?: string
    method?: string
    url?: string
    wires?: string[][]
  }
  const flow = JSON.parse(example('With Node-RED')) as FlowNode[]
  const [inject, detection, report] = ['inject', 'function', 'http request'].map((type) =>
    flow.find((node) => node.type === type)!,
  )
  expect([inject!.wires, detection!.wires]).toEqual([[[detection!.id]], [[report!.id]]])
  // Runs the function as Node-RED's function node does; the result is sent as its request node does.
  const message = runInNewContext(
    `((msg) => { ${detection!.func} })({ payload: ${JSON.stringify(inject!.payload)} })`,
  ) as {
    payload: unknown
    headers: Record<string, string>
  }
  const answer = await fetch(report!.url!, {
    method: report!.method!,
    headers: message.headers,
    body: JSON.stringify(message.payload),
  })
  expect(await answer.json()).toEqual({ accepted: 1 })
  expect(await inHub('badger')).toMatchObject({ camera: 'yard', severity: 'alert' })
})

test('the same id again updates the detection', async () => {
  const startedAt = '2026-05-01T20:00:00.000Z'
  const first = { id: 'cat-1', camera: 'yard', label: 'cat', severity: 'detection', score: 0.5, startedAt } as const
  await gateway.localApi.reportDetections([first])
  await gateway.localApi.reportDetections([{ ...first, severity: 'alert', endedAt: '2026-05-01T20:00:09.000Z' }])
  await expect.poll(async () => (await inHub('cat')).endedAt).toBe('2026-05-01T20:00:09.000Z')
  const cats = (await hub.api(listDetections, { params: { id } })).filter(({ label }) => label === 'cat')
  expect(cats).toHaveLength(1)
  expect(cats[0]!.severity).toBe('alert')
})

test('a program’s status is in the next heartbeat, and its problem gives the gateway a warning', async () => {
  await gateway.localApi.patchStatus({ problems: ['The east camera is covered in snow.'] })
  const warned = await waitFor(async () => (await hub.api(listGateways)).find(({ status }) => status === 'warning'), {
    for: 'the problem',
    timeoutMs: 60_000,
  })
  expect(warned.statusReason).toContain('The east camera is covered in snow.')
  await gateway.localApi.patchStatus({ problems: [] })
})

type TestRequest = { method?: string; path?: string; headers?: Record<string, string>; body?: string; token?: string }

function ask({ method = 'POST', path = '/api/v1/detections', headers = {}, body = '{}' }: TestRequest) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; error: unknown }>()
  const outgoing = request({
    host: '127.0.0.1',
    port: gateway.port,
    path,
    method,
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  })
  outgoing.on('error', reject)
  outgoing.on('response', async (answer) => {
    const parts: Buffer[] = []
    for await (const part of answer as AsyncIterable<Buffer>) parts.push(part)
    const text = Buffer.concat(parts).toString()
    resolve({ status: answer.statusCode!, error: text.startsWith('{') ? JSON.parse(text).error : text })
  })
  outgoing.end(body)
  return promise
}

test.each<[string, TestRequest, number, string]>([
  ['a page of another site', { headers: { origin: 'https://evil.example' } }, 403, 'browser_refused'],
  ['a page without Origin', { headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'browser_refused'],
  ['a wrong token', { headers: { authorization: 'Bearer not-the-token' } }, 401, 'token_required'],
  ['a form', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
  ['half of a JSON text', { body: '{"detections":' }, 400, 'invalid_json'],
  ['deep nesting', { body: '['.repeat(100_000) }, 400, 'json_too_complex'],
  ['3 MiB', { body: `"${'x'.repeat(3 << 20)}"` }, 413, 'payload_too_large'],
  ['a detection without a label', { body: '{"detections":[{"id":"a"}]}' }, 400, 'invalid_request'],
  ['another method', { method: 'DELETE', body: '' }, 405, 'method_not_allowed'],
  ['an address that there is not', { path: '/api/v1/nothing' }, 404, 'not_found'],
])('%s is refused with a code', async (_what, asked, status, error) => {
  expect(await ask(asked)).toEqual({ status, error })
})

test('a foreign name that points at the device is refused', async () => {
  expect(await ask({ headers: { host: 'rebound.evil.example' } })).toMatchObject({ status: 421 })
})

test('the device describes its API', async () => {
  const document = (await (await fetch(`http://127.0.0.1:${gateway.port}/api/v1/openapi.json`)).json()) as {
    paths: object
  }
  expect(Object.keys(document.paths).toSorted()).toEqual([
    '/api/v1/arm',
    '/api/v1/cameras',
    '/api/v1/cameras/{name}/latest.jpg',
    '/api/v1/detections',
    '/api/v1/detections/{id}/clip.mp4',
    '/api/v1/detections/{id}/snapshot.jpg',
    '/api/v1/deterrents/{name}/fire',
    '/api/v1/deterrents/{name}/stop',
    '/api/v1/disarm',
    '/api/v1/learning',
    '/api/v1/learning/run',
    '/api/v1/learning/undo',
    '/api/v1/models/{name}/archive.tgz',
    '/api/v1/status',
    '/api/v1/version/back',
  ])
})
