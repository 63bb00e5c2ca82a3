import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createServer as listen, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import {
  doorCalls,
  GATEWAY_DOOR_PORT,
  gatewayLearning,
  PICTURE_AGE_HEADER,
  type DoorCommand,
  type DoorOutcome,
} from '@hedgerow/contract'
import { createFaults } from '@hedgerow/http'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkDeclared } from '../../testing/declared-error.ts'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { presetPassword } from '../../testing/preset-password.ts'
import { writeLearned } from '../../testing/learned-file.ts'
import { startRelay, type Relay } from '../../testing/relay.ts'
import { startGateway, type Gateway } from '../gateway.ts'
import { createHubDoor } from './hub-door.ts'

const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 20 })
const untilTrue = (check: () => boolean) =>
  until(() => {
    if (!check()) throw new Error('not yet')
  })
const isReady = () => hub.heartbeats.at(-1)?.deterrents[0]?.state === 'ready'
const BOAR = readFileSync(join(import.meta.dirname, '../../../../scripts/demo-frames/boar.jpg'))

let dataDir: string
let hub: FixtureHub
let relay: Relay
let gateway: Gateway

const log = pino({ level: 'silent' })

async function start(): Promise<void> {
  gateway = await startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, hubUrl: hub.url, log })
}

/** A device that its hub approved, with a sprinkler that is ready. */
async function begin(): Promise<void> {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-door-'))
  presetPassword(dataDir)
  hub = await startFixtureHub()
  relay = await startRelay()
  const limits = { seconds: 3, coolDownSeconds: 0, secondsAnHour: 3 }
  const sprinkler = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, ...limits }
  await writeFile(join(dataDir, 'gateway.yaml'), JSON.stringify({ deterrents: { sprinkler } }), { mode: 0o600 })
  await start()
  await untilTrue(() => hub.registrations.length === 1)
  hub.decide({ status: 'approved' })
  await untilTrue(isReady)
}

async function end(): Promise<void> {
  await gateway.stop()
  await relay.stop()
  await hub.stop()
  await rm(dataDir, { recursive: true, force: true })
}

type Answer = { status: number; type: string | undefined; age: string | undefined; body: Buffer }

function ask(path: string, { body, port = GATEWAY_DOOR_PORT, headers = {} }: AskOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const asking = request({
      method,
      host: 'gateway',
      path,
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      createConnection: () => hub.dial(port),
    })
    asking.on('error', reject)
    asking.on('response', (answer) => {
      const { statusCode: status = 0, headers: answered } = answer
      const told = { status, type: answered['content-type'], age: answered[PICTURE_AGE_HEADER]?.toString() }
      buffer(answer).then((bytes) => {
        const json = told.type?.startsWith('application/json') ? (JSON.parse(bytes.toString()) as object) : {}
        checkDeclared(doorCalls, { base: '', method, path, code: 'error' in json && json.error })
        resolve({ ...told, body: bytes })
      }, reject)
    })
    asking.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
type AskOptions = { body?: object; port?: number; headers?: Record<string, string> }

const json = async <T>(path: string, options?: AskOptions) =>
  JSON.parse((await ask(path, options)).body.toString()) as T
const ticket = async () => (await json<{ ticket: string }>('/v1/tickets', { body: {} })).ticket
const command = async (more: Partial<DoorCommand>) =>
  json<DoorOutcome>('/v1/commands', {
    body: { ticket: more.ticket ?? (await ticket()), withinMs: 20_000, action: 'fire', by: 'rosa', ...more },
  })
const fire = (more: Partial<DoorCommand> = {}) => command({ deterrent: 'sprinkler', ...more })
const kinds = () => hub.ledger.map(({ kind }) => kind)

describe('on one device for all', () => {
  beforeAll(begin)
  afterAll(end)

  describe('a command of the hub', () => {
    test.each([
      { action: 'explode' },
      { seconds: 100_000 },
      { by: '' },
      { surplus: 1 },
      { deterrent: 'x'.repeat(200) },
    ] as object[])('with %o is refused', async (wrong) => {
      expect(await fire(wrong)).toMatchObject({ error: 'invalid_request' })
      expect(relay.calls).not.toContain('on')
    })
  })

  describe('the door', () => {
    test('has the pictures of detections, and only of those that the device knows', async () => {
      const seen = { camera: 'orchard', label: 'boar', severity: 'alert', score: 0.9 } as const
      const startedAt = new Date().toISOString()
      await gateway.reportDetections([{ id: 'd/1', ...seen, startedAt, thumbnail: BOAR.toString('base64') }])
      const picture = await ask('/v1/detections/d%2F1/snapshot.jpg')
      expect(picture).toMatchObject({ status: 200, type: 'image/jpeg' })
      expect(picture.body.equals(BOAR)).toBe(true)
      for (const path of [
        '/v1/detections/other/snapshot.jpg',
        '/v1/detections/d%2F1/clip.mp4',
        '/v1/cameras/orchard/latest.jpg',
        '/v1/detections/..%2F..%2Fgateway.yaml/snapshot.jpg',
        '/v1/commands/more',
        '/',
      ])
        expect((await ask(path)).status, path).toBe(404)
      expect((await ask('/v1/cameras/orchard/latest.jpg?height=x')).status).toBe(400)
      expect((await ask('/v1/cameras/orchard/latest.jpg?height=720&newer=1')).status, 'of a newer hub').toBe(404)
      expect((await ask('/v1/commands')).status).toBe(405)
      expect((await ask('/v1/%E0%A4%A/snapshot.jpg')).status).toBe(404)
    })

    test('answers hubs of every version at the same addresses, with the same bodies', async () => {
      const first = await ask('/v1/tickets', { body: {} })
      expect(JSON.parse(first.body.toString())).toEqual({ ticket: expect.stringMatching(/^[\w-]{36}$/) })
      const late = { ticket: 'unknown', withinMs: 20_000, action: 'stop', by: 'rosa' }
      const message = 'The command came too late, or a stop came first. It was not carried out.'
      expect((await ask('/v1/commands', { body: late })).body.toString()).toBe(
        `{"outcome":"refused","code":"expired","message":"${message}"}`,
      )
      expect(gatewayLearning.safeParse(await json('/v1/learning')).success).toBe(true)
      expect(Object.values(doorCalls).map(({ method, path }) => `${method} ${path}`)).toEqual([
        'POST /v1/tickets',
        'POST /v1/commands',
        'GET /v1/learning',
        'GET /v1/learning/names',
        'GET /v1/cameras/:name/latest.jpg',
        'GET /v1/detections/:id/snapshot.jpg',
        'GET /v1/detections/:id/clip.mp4',
      ])
    })

    test('is not on the port that people reach, in the tunnel and in the local network', async () => {
      const paths = ['/v1/tickets', '/v1/commands', '/v1/cameras/orchard/latest.jpg']
      for (const path of paths) {
        expect((await ask(path, { port: 8080 })).status, `${path} in the tunnel`).toBe(404)
        const lan = await fetch(`http://127.0.0.1:${gateway.port}${path}`, { redirect: 'manual' })
        expect(lan.status, `${path} in the local network`).toBe(404)
      }
    })

    test.runIf(existsSync('/proc/self/net/tcp'))('listens on no socket of the device', () => {
      const hubPort = Number(hub.url.port)
      const relayPort = Number(new URL(relay.onUrl).port)
      expect(listeningPorts()).toEqual([gateway.port, hubPort, relayPort].toSorted((a, b) => a - b))
    })
  })
})

describe('on a device of its own', () => {
  beforeEach(begin)
  afterEach(end)

  describe('a command of the hub', () => {
    test('switches the relay on and off again, and the hub has each entry of the ledger once', async () => {
      expect(await fire({ seconds: 3 })).toEqual({ outcome: 'done', message: 'On for 3 s.' })
      expect(relay.calls).toContain('on')
      expect(await command({ action: 'stop' })).toEqual({ outcome: 'done' })
      expect(relay.isOn()).toBe(false)
      await until(() => expect(kinds()).toContain('stopped'))
      expect(hub.ledger.find(({ kind }) => kind === 'fired')).toMatchObject({
        deterrent: 'sprinkler',
        seconds: 3,
        by: { kind: 'person', name: 'rosa', via: 'hub' },
      })
      expect(await command({ action: 'disarm' })).toEqual({ outcome: 'done' })
      expect(await fire()).toMatchObject({ outcome: 'refused', code: 'disarmed' })
      await until(() => expect(kinds()).toEqual(expect.arrayContaining(['disarmed', 'refused'])))
      const ids = hub.ledger.map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
    })

    test('is carried out once, in time, and not after a stop that overtook it', async () => {
      const once = await ticket()
      expect(await fire({ ticket: once, seconds: 1 })).toMatchObject({ outcome: 'done' })
      const expired = { outcome: 'refused', code: 'expired' }
      expect(await fire({ ticket: once })).toMatchObject(expired)
      expect(await fire({ ticket: 'made-up' })).toMatchObject(expired)
      // More than its time has passed between the ticket and its arrival.
      expect(await fire({ withinMs: 0, ticket: await ticket() })).toMatchObject(expired)
      const overtaken = await ticket()
      const other = await ticket()
      expect(await command({ action: 'stop' })).toEqual({ outcome: 'done' })
      expect(await fire({ ticket: overtaken })).toMatchObject(expired)
      expect(await command({ action: 'stop', ticket: other })).toEqual({ outcome: 'done' })
      expect(relay.calls.filter((call) => call === 'on')).toHaveLength(1)
    })

    test('fires no more than the file of the device allows, however often a hub asks', async () => {
      expect(await fire({ seconds: 1_800 })).toMatchObject({ outcome: 'refused', code: 'too_long' })
      expect(await fire({ deterrent: 'siren' })).toMatchObject({ outcome: 'refused', code: 'unknown_deterrent' })
      const outcomes = await Promise.all(Array.from({ length: 30 }, () => fire({ seconds: 1 })))
      expect(outcomes.some(({ outcome }) => outcome === 'done')).toBe(true)
      await until(async () => expect(await fire({ seconds: 1 })).toMatchObject({ code: 'hour_budget' }))
      expect(relay.calls.filter((call) => call === 'on').length).toBeLessThanOrEqual(3)
      const before = readFileSync(join(dataDir, 'gateway.yaml'), 'utf8')
      for (const path of ['/v1/commands', '/v1/reviews', '/v1/gateway.yaml', '/gateway.yaml'])
        await ask(path, { body: { deterrents: {}, action: 'configure' } })
      expect(readFileSync(join(dataDir, 'gateway.yaml'), 'utf8')).toBe(before)
    })
  })

  describe('the ledger', () => {
    test('survives outages of both sides without a gap, and is sent again until the hub answers', async () => {
      hub.loseLedgerAnswers(2)
      await fire({ seconds: 1 })
      await until(() => expect(kinds().filter((kind) => kind === 'fired').length).toBeGreaterThan(2))
      await until(() => expect(kinds()).toContain('ended'))
      const told = new Set(hub.ledger.map(({ id }) => id))
      const cursor = () => JSON.parse(readFileSync(join(dataDir, 'ledger-sent.json'), 'utf8')) as { id: number }
      await until(() => expect(cursor().id).toBe(Math.max(...told)))
      const before = hub.ledger.length
      await gateway.stop()
      await start()
      await untilTrue(isReady)
      await until(async () => expect(await fire({ seconds: 1 })).toMatchObject({ outcome: 'done' }))
      await until(() => expect(kinds().at(-1)).toBe('ended'))
      const ids = [...new Set(hub.ledger.map(({ id }) => id))].toSorted((a, b) => a - b)
      expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1))
      const again = hub.ledger.slice(before).filter(({ id }) => told.has(id))
      expect(again, 'what was acknowledged before the restart').toEqual([])
    })
  })

  describe('the door', () => {
    test('says how old the picture of a camera is that has stopped', async () => {
      const camera = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
        const part = `content-type: image/jpeg\r\ncontent-length: ${BOAR.length}\r\n\r\n`
        response.write(`--frame\r\n${part}`)
        response.write(BOAR)
        response.write('\r\n--frame\r\n')
      })
      camera.listen(0, '127.0.0.1')
      await once(camera, 'listening')
      onTestFinished(() => {
        camera.close()
        camera.closeAllConnections()
      })
      const { port } = camera.address() as AddressInfo
      const file = { cameras: { lane: { url: `http://127.0.0.1:${port}/` } }, sources: { eye: { cameras: ['lane'] } } }
      await writeFile(join(dataDir, 'gateway.yaml'), JSON.stringify(file))
      const ageOf = async () => Number((await ask('/v1/cameras/lane/latest.jpg')).age)
      await until(async () => expect(await ageOf()).toBeGreaterThanOrEqual(0))
      const before = await ageOf()
      await until(async () => expect(await ageOf()).toBeGreaterThan(before + 200))
    })
  })

  test('the hub reads what was learned, and goes back to the version that a person names', async () => {
    await gateway.stop()
    writeLearned(dataDir, 'orchard', Date.now())
    await start()
    await untilTrue(() => gateway.state().gatewayId !== null)
    const states = async () => {
      const { cameras } = gatewayLearning.parse(await json<unknown>('/v1/learning'))
      return cameras[0]?.labels[0]?.versions.map(({ state, endedBy }) => [state, endedBy])
    }
    await vi.waitFor(async () => expect((await states())?.[0]?.[0]).toBe('active'), { timeout: 60_000 })
    const learning = { camera: 'orchard', label: 'deer', to: 1 }
    expect(await command({ action: 'undo-learning', learning })).toEqual({ outcome: 'done' })
    expect(await states()).toEqual([
      ['undone', 'rosa'],
      ['active', null],
    ])
    expect(await command({ action: 'undo-learning', learning })).toMatchObject({ code: 'nothing_to_undo' })
    expect(await command({ action: 'undo-learning' })).toMatchObject({ code: 'nothing_to_undo' })
  })
})

test('the door gives as many pictures at once as the hub asks for: the hub has the limits', async () => {
  const held = Promise.withResolvers<{ jpeg: Buffer }>()
  let asked = 0
  const door = createHubDoor({
    deterrents: {
      fire: () => expect.fail(),
      stop: async () => {},
      arm: async () => false,
      disarm: async () => {},
      snooze: async () => false,
      endSnooze: async () => false,
    },
    learning: {
      undo: () => false,
      begin: () => expect.fail(),
      report: () => expect.fail(),
      names: { undo: () => false, use: () => expect.fail(), give: () => undefined },
    },
    pictures: {
      latest: () => ((asked += 1), held.promise),
      snapshot: async () => undefined,
      clip: async () => undefined,
    },
    record: { find: () => undefined, picture: () => undefined },
    faults: createFaults({ report: () => {} }),
    log,
  })
  const server = listen((connection) => door.accept(connection)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    door.stop()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const answers = Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${port}/v1/cameras/yard/latest.jpg`))
  await until(() => expect(asked).toBe(20))
  held.resolve({ jpeg: BOAR })
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
})

/** TCP ports that this process listens on (proc(5): state 0A of /proc/net/tcp, inodes of /proc/self/fd). */
function listeningPorts(): number[] {
  const inodes = new Set(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const rows = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/self/net/${name}`, 'utf8').split('\n').slice(1))
  const ports = rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/)
    return columns[3] === '0A' && inodes.has(columns[9] ?? '') ? Number.parseInt(columns[1]!.split(':')[1]!, 16) : []
  })
  return [...new Set(ports)].toSorted((a, b) => a - b)
}
