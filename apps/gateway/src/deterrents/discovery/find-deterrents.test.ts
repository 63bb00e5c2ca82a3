import { createServer } from 'node:net'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve, startShelly, startTasmota, json } from '../../../testing/device-servers.ts'
import { startMdnsResponder, type Announced } from '../../../testing/mdns-responder.ts'
import { multicastLacks } from '../../../testing/onvif-camera.ts'
import { startOpenSprinkler } from '../../../testing/opensprinkler.ts'
import { neighboursOf } from '../../kernel/own-networks.ts'
import { findDeterrents } from './find-deterrents.ts'

const SECRET = 'correct-horse-9'
const GROUP = '239.255.42.99'
/** The gateway is 127.0.0.1, and has the one neighbour 127.0.0.2. */
const networks = [{ address: '127.0.0.1', netmask: '255.255.255.252' }]
const NEIGHBOUR = '127.0.0.2'
const nobody = { group: GROUP, port: 9 }

const portOf = ({ address }: { address: string }) => Number(new URL(address).port)

async function responder(announced: Announced[], options: { address?: string; named?: string; raw?: Buffer } = {}) {
  const started = await startMdnsResponder({ address: NEIGHBOUR, announced, group: GROUP, ...options })
  onTestFinished(started.stop)
  return started
}

async function until<T extends { stop(): Promise<void> }>(started: Promise<T>): Promise<T> {
  const device = await started
  onTestFinished(() => device.stop())
  return device
}

const lacks = await multicastLacks(GROUP)

describe.skipIf(lacks)(`devices that announce themselves${lacks === undefined ? '' : ` (skipped: ${lacks})`}`, () => {
  test('a Shelly is found once, with its name, its model and its need of a password', async () => {
    const shelly = await until(startShelly(SECRET, { host: NEIGHBOUR }))
    const { dns } = await responder([
      { instance: 'shellyplus1-a8032abe54dc', service: '_http._tcp.local', port: portOf(shelly), txt: ['gen=2'] },
      { instance: 'shellyplus1-a8032abe54dc', service: '_shelly._tcp.local', port: portOf(shelly), txt: ['gen=2'] },
    ])
    expect(await findDeterrents({ networks, webPorts: [], dns })).toEqual([
      {
        address: shelly.address,
        driver: 'shelly',
        title: 'shellyplus1-a8032abe54dc, SNSW-001X16EU',
        needsPassword: true,
        note: undefined,
      },
    ])
    expect(shelly.isOn()).toBe(false)
  })

  test('an answer sends the gateway to no other machine, and not to itself', async () => {
    const own = await until(startShelly(SECRET))
    const lie = { instance: 'x', service: '_http._tcp.local', port: portOf(own) }
    const elsewhere = await responder([lie], { named: '127.0.0.1' })
    expect(await findDeterrents({ networks, webPorts: [], dns: elsewhere.dns })).toEqual([])
    const itself = await responder([lie], { address: '127.0.0.1' })
    expect(await findDeterrents({ networks, webPorts: [], dns: itself.dns })).toEqual([])
    const foreign = await responder([lie], { address: '127.0.0.9' })
    expect(await findDeterrents({ networks, webPorts: [], dns: foreign.dns })).toEqual([])
    expect([elsewhere, itself, foreign].map(({ asked }) => asked() > 0)).toEqual([true, true, true])
    expect(own.calls()).toBe(0)
  })

  test.each([
    ['no DNS', Buffer.from('{"shelly":true}')],
    ['a name that points at itself', Buffer.from('000084000000000100000000c00c000c0001000000780002c00c', 'hex')],
    ['nothing', Buffer.alloc(0)],
  ])('an answer that is %s is ignored', async (_what, raw) => {
    const { dns, asked } = await responder([], { raw })
    expect(await findDeterrents({ networks, webPorts: [], dns })).toEqual([])
    expect(asked()).toBeGreaterThan(0)
  })
})

describe('devices that answer at the usual ports', () => {
  const findAt = (...ports: number[]) => findDeterrents({ networks, webPorts: ports, dns: nobody })

  test('OpenSprinkler, which announces nothing, tells its version without its password', async () => {
    const sprinkler = await until(startOpenSprinkler({ password: SECRET, host: NEIGHBOUR }))
    expect(await findAt(portOf(sprinkler))).toEqual([
      {
        address: sprinkler.address,
        driver: 'opensprinkler',
        title: 'OpenSprinkler 2.2.1',
        needsPassword: true,
        note: undefined,
      },
    ])
    expect(sprinkler.asked()).toEqual(['/shelly', '/jo'])
    expect(sprinkler.running()).toEqual([])
  })

  test('Tasmota is found, with and without a password', async () => {
    const locked = await until(startTasmota(SECRET, { host: NEIGHBOUR }))
    const open = await until(
      serve(
        ({ url }) => (url.pathname === '/cm' ? json({ Status: { DeviceName: 'Barn', Power: 0 } }) : { status: 404 }),
        NEIGHBOUR,
      ),
    )
    const found = await findAt(portOf(locked), portOf(open))
    expect(found.map(({ driver, title, needsPassword }) => ({ driver, title, needsPassword }))).toEqual([
      { driver: 'tasmota', title: 'Tasmota', needsPassword: true },
      { driver: 'tasmota', title: 'Tasmota, Barn', needsPassword: false },
    ])
    expect(locked.isOn()).toBe(false)
  })

  test('a Shelly of the first generation is named, with what to do', async () => {
    const first = await until(
      serve(({ url }) => (url.pathname === '/shelly' ? json(FIRST) : { status: 404 }), NEIGHBOUR),
    )
    expect(await findAt(portOf(first))).toEqual([
      expect.objectContaining({ driver: undefined, title: 'Shelly, SHSW-1', note: expect.stringMatching(/first gen/) }),
    ])
  })

  test('other web interfaces, silent ones and closed ports are none, and the search ends', async () => {
    const others = await Promise.all(
      [json({ title: 'printer' }), { status: 401 }, { body: '{"fwv":"<b>"}' }, { body: 'x'.repeat(200_000) }].map(
        (reply) => until(serve(() => reply, NEIGHBOUR)),
      ),
    )
    const silent = createServer(() => {}).listen(0, NEIGHBOUR)
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const begun = performance.now()
    expect(await findAt(...others.map(portOf), port, 1)).toEqual([])
    // Far more than it takes, far less than a search without an end.
    expect(performance.now() - begun).toBeLessThan(30_000)
  })
})

const FIRST = { type: 'SHSW-1', mac: '5ECF7F1632E8', auth: false, fw: '20161223-111304/master', num_outputs: 1 }

test('a large network is asked around the device only', () => {
  const hosts = neighboursOf({ address: '10.1.2.3', netmask: '255.0.0.0' })
  expect([hosts.length, hosts[0], hosts.at(-1)]).toEqual([253, '10.1.2.1', '10.1.2.254'])
  expect(neighboursOf({ address: '192.168.0.1', netmask: '255.255.255.255' })).toEqual([])
})
