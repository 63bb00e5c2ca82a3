import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startShelly } from '../../../testing/device-servers.ts'
import { checkDeclared } from '../../../testing/declared-error.ts'
import { startOpenSprinkler, type Sprinkler } from '../../../testing/opensprinkler.ts'
import { DEVICE_API_BASE } from '@hedgerow/contract'
import type { DeterrentKind } from '@hedgerow/contract/deterrent-setup'
import { deviceCalls, type DeviceStatus } from '@hedgerow/contract/device-interface'
import { startGateway, type Gateway } from '../../gateway.ts'

const SECRET = 'correct-horse-9'
const FILE = '# Mine\ndeterrents: {}\n'

let dataDir: string
let gateway: Gateway
let sprinkler: Sprinkler
let cookie: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-deterrent-setup-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  await writeFile(join(dataDir, 'gateway.yaml'), FILE)
  sprinkler = await startOpenSprinkler({ password: SECRET, host: '127.0.0.2' })
  onTestFinished(() => sprinkler.stop())
  gateway = await startGateway({
    name: 'Orchard',
    dataDir,
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'silent' }),
    searchDomains: [],
    surroundings: {
      networks: [{ address: '127.0.0.1', netmask: '255.255.255.252' }],
      webPorts: [Number(new URL(sprinkler.address).port)],
      dns: { group: '239.255.42.99', port: 9 },
    },
  })
  onTestFinished(() => gateway.stop())
  const session = await send('signIn', { password: gateway.newPassword! })
  cookie = session.cookie
})

async function send(name: keyof typeof deviceCalls, body?: object, deterrent = '') {
  const { method, path } = deviceCalls[name]
  const origin = `http://127.0.0.1:${gateway.port}`
  const answer = await fetch(origin + DEVICE_API_BASE + path.replace(':name', encodeURIComponent(deterrent)), {
    method,
    headers: { origin, cookie, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const json = answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>)
  checkDeclared(deviceCalls, { base: DEVICE_API_BASE, method, path: DEVICE_API_BASE + path, code: json['error'] })
  const [first = ''] = answer.headers.getSetCookie()
  return { status: answer.status, json, cookie: first.split(';')[0]! }
}

const settings = (more: object = {}) => ({ address: sprinkler.address, password: SECRET, station: 3, ...more })
const written = (more: object = {}) => ({ driver: 'opensprinkler', settings: settings(more) })
/** Where no camera is, nobody can look, so nobody is in the way. */
const tried = (more: object = {}) => ({ name: 'Lawn', ...written({ watchedBy: [], ...more }) })
const deterrents = async () => ((await send('getStatus')).json as DeviceStatus).deterrents.map(({ name }) => name)

describe('what a form needs', () => {
  test('each driver has its fields, and says what is only text', async () => {
    const kinds = (await send('readDeterrentKinds')).json as unknown as DeterrentKind[]
    const sprinklers = kinds.find(({ driver }) => driver === 'opensprinkler')!
    expect(sprinklers).toMatchObject({ others: [], needsText: false, outputKeys: ['station'] })
    expect(sprinklers.fields.map(({ key, type, isRequired, isSecret }) => [key, type, isRequired, isSecret])).toEqual([
      ['address', 'text', true, false],
      ['password', 'text', true, true],
      ['station', 'number', true, false],
      ['verifyCertificate', 'switch', false, false],
    ])
    expect(kinds.find(({ driver }) => driver === 'http')).toMatchObject({
      others: ['on', 'off', 'state'],
      needsText: true,
    })
    expect(kinds.find(({ driver }) => driver === 'reolink')!.fields.find(({ key }) => key === 'part')).toMatchObject({
      type: 'choice',
      options: ['siren', 'light'],
    })
    const secrets = kinds.flatMap(({ driver, fields }) => fields.filter(({ isSecret }) => isSecret).map(() => driver))
    expect(secrets).toEqual(['hydrawise', 'mqtt', 'onvif', 'opensprinkler', 'rachio', 'reolink', 'shelly', 'tasmota'])
  })

  test('a search finds the sprinkler in the network, and switches nothing', async () => {
    expect((await send('findDeterrents', {})).json).toEqual([
      {
        address: sprinkler.address,
        driver: 'opensprinkler',
        title: 'OpenSprinkler 2.2.1',
        needsPassword: true,
        note: null,
      },
    ])
    expect(sprinkler.running()).toEqual([])
  })

  test('a device names its outputs before one is chosen', async () => {
    const { address, password } = settings()
    const { json } = await send('readOutputs', { driver: 'opensprinkler', settings: { address, password } })
    expect(json).toHaveLength(8)
    expect(json).toMatchObject([
      { name: 'Front lawn', isOn: false, settings: { station: 1 } },
      {},
      { name: 'Orchard' },
      {},
      {},
      {},
      {},
      {},
    ])
    expect(sprinkler.running()).toEqual([])
  })
})

describe('what is refused', () => {
  test.each([
    ['an address with a path', { address: 'http://127.0.0.2/x' }],
    ['a key that the driver does not have', { colour: 'red' }],
    ['a station that nobody has', { station: 9_000 }],
  ])('%s, beside its field', async (_what, mistake) => {
    const answer = await send('readOutputs', written(mistake))
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(Object.keys(answer.json['fieldErrors'] as object)).toEqual(Object.keys(mistake))
  })

  test('a wrong password, in words without it', async () => {
    const answer = await send('readOutputs', written({ password: 'wrong-horse-8' }))
    expect(answer).toMatchObject({
      status: 502,
      json: { error: 'deterrent_failed', message: 'The device refused the password.' },
    })
    expect(JSON.stringify(answer.json)).not.toContain('horse')
  })

  test.each(['constructor', 'http/../shelly', 'toString', ''])('a driver %j', async (driver) => {
    expect(await send('readOutputs', { driver, settings: {} })).toMatchObject({ status: 400 })
  })

  test('an address where nothing answers, in words', async () => {
    const shelly = await startShelly(SECRET)
    await shelly.stop()
    const { json } = await send('readOutputs', { driver: 'shelly', settings: { address: shelly.address } })
    expect(json).toMatchObject({ error: 'deterrent_failed', message: 'The device refused the connection.' })
  })

  test('a name that no deterrent can have, beside its field', async () => {
    const { json } = await send('tryDeterrent', { ...tried(), name: '../x' })
    expect(json).toMatchObject({ error: 'invalid_request', fieldErrors: { name: expect.stringMatching(/63 letters/) } })
  })
})

describe('a press to test', () => {
  test('fires for three seconds at most, is listed and stopped like others, and leaves the file alone', async () => {
    const begun = await send('tryDeterrent', tried({ seconds: 600 }))
    expect(begun).toMatchObject({ status: 200, json: { seconds: 3 } })
    expect(sprinkler.running()).toEqual([2])
    expect(sprinkler.seconds()).toBe(3)
    expect(await deterrents()).toEqual(['Lawn'])
    await send('stopDeterrent', undefined, 'Lawn')
    await expect.poll(() => sprinkler.running()).toEqual([])
    expect(await send('fireDeterrent', { seconds: 600 }, 'Lawn')).toMatchObject({ json: { error: 'not_fired' } })
    expect(await readFile(join(dataDir, 'gateway.yaml'), 'utf8')).toBe(FILE)
  })

  test('keeps every rule of safety: the pause after a firing, and a disarmed device', async () => {
    await send('tryDeterrent', tried({ coolDownSeconds: 600 }))
    await send('stopDeterrent', undefined, 'Lawn')
    const again = await send('tryDeterrent', tried({ coolDownSeconds: 600 }))
    expect(again).toMatchObject({ status: 409, json: { error: 'not_fired', reason: 'cool_down' } })
    await send('disarm')
    expect(await send('tryDeterrent', { ...tried(), name: 'Beds' })).toMatchObject({ json: { reason: 'disarmed' } })
    expect(sprinkler.running()).toEqual([])
  })

  test('goes when another one is tried, and is no second one when it is saved', async () => {
    await send('tryDeterrent', tried())
    await send('stopDeterrent', undefined, 'Lawn')
    await send('tryDeterrent', { ...tried({ station: 4 }), name: 'Beds' })
    await send('stopDeterrent', undefined, 'Beds')
    await expect.poll(deterrents).toEqual(['Beds'])
    const own = { driver: 'opensprinkler', ...settings({ station: 4 }) }
    const { json } = await send('readFile')
    await send('saveFile', { text: JSON.stringify({ deterrents: { Beds: own } }), hash: json['hash'] })
    expect(await deterrents()).toEqual(['Beds'])
    expect(await send('tryDeterrent', { ...tried(), name: 'Beds' })).toMatchObject({
      status: 409,
      json: { error: 'deterrent_exists' },
    })
  })
})
