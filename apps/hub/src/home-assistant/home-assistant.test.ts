import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import * as contract from '@hedgerow/contract'
import type { AuditEntry, HomeAssistantState, Heartbeat } from '@hedgerow/contract'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterAll, describe, test } from 'vitest'
import { startMosquitto, type Mosquitto } from '../../../../test/harness/mosquitto.ts'
import { skipWithout } from '../../../../test/harness/privileges.ts'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { answerJson, serveDoor, type TestDoor } from '#testing/door.ts'
import { testDetection } from '#testing/detection.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { storeDetections } from '../detections/detections.ts'
import { keyOf } from './device.ts'

const HUB = { username: 'hub', password: 'the password of the hub' }
const HOME = { username: 'home', password: 'the password of Home Assistant' }
const JPEG = Buffer.from('/9j/AAAA', 'base64')
const SPRINKLER = keyOf('deterrent', 'Sprinkler "west"')
const PATIENT = { timeout: 60_000 }

/**
 * The hub looks at its heartbeats every few seconds, so tests wait at the same time, and what they started ends last.
 */
const life: (() => Promise<unknown> | void)[] = []
afterAll(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

async function startHub(
  { url, ca }: Pick<Mosquitto, 'url' | 'ca'>,
  { engine = testEngines[0]!, password = HUB.password } = {},
) {
  const mqtt = { ...HUB, url, ca: ca || undefined, password, topic: 'hedgerow', discovery: 'homeassistant' }
  const hub = await startTestHub(engine, { publicUrl: 'https://hub.example.net', notifications: { mqtt } })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= hub.stop())
  life.push(stop)
  await hub.start()
  const api = createTestApi(hub)
  const token = await hub.signIn('admin')
  const state = async () => (await api(contract.readHomeAssistant, { token })).body as HomeAssistantState
  return { hub, api, token, state, stop }
}

/** Collects what a program with Home Assistant's sign-in sees at the broker: the last message of each topic. */
async function watch({
  url,
  ca,
}: Pick<Mosquitto, 'url' | 'ca'>): Promise<{ client: MqttClient; said: Map<string, Buffer> }> {
  const client = await connectAsync(url, { ...HOME, ...(ca && { ca }), reconnectPeriod: 100 })
  life.push(() => client.endAsync(true))
  const said = new Map<string, Buffer>()
  client.on('message', (topic, payload) => void said.set(topic, payload))
  await client.subscribeAsync('#')
  return { client, said }
}

const text = (said: Map<string, Buffer>, topic: string) => said.get(topic)?.toString()
const json = (said: Map<string, Buffer>, topic: string) => JSON.parse(text(said, topic) || 'null') as unknown
const see = (hub: TestHub, gateway: string, id: string) =>
  storeDetections(hub.db, gateway, [testDetection(hub, id, { jpeg: JPEG })], hub.clock.now())

describe.skipIf(skipWithout('Home Assistant over Mosquitto', 'command mosquitto', 'command mosquitto_passwd'))(
  'over a broker',
  { concurrent: true },
  () => {
    test.for(testEngines)(
      'a gateway is a device until it is deleted, over TLS with a password, on %s',
      async (engine, { expect }) => {
        const broker = await startMosquitto({ guarded: [HUB, HOME] })
        life.push(() => broker.stop())
        const { hub, api, token, state, stop } = await startHub(broker, { engine })
        const { said } = await watch(broker)
        const id = await insertTestGateway(hub.db, { name: 'Barn "north" {{ 1 }}' })
        const config = `homeassistant/device/hedgerow_${id}/config`
        const topic = `hedgerow/gateways/${id}/state`
        await expect
          .poll(() => json(said, config), PATIENT)
          .toMatchObject({
            device: {
              identifiers: [`hedgerow_${id}`],
              name: 'Barn "north" {{ 1 }}',
              configuration_url: `https://hub.example.net/gateways/${id}`,
            },
            origin: { name: 'Hedgerow' },
            availability: [{ topic: 'hedgerow/status' }],
            state_topic: topic,
            components: {
              online: { p: 'binary_sensor' },
              picture: { p: 'image', image_topic: `hedgerow/gateways/${id}/picture` },
            },
          })
        expect(text(said, 'hedgerow/status')).toBe('online')
        expect(await state()).toMatchObject({ state: 'connected', problem: null, devices: 1 })
        expect(JSON.stringify(await state())).not.toContain(HUB.password)

        await see(hub, id, 'a')
        await expect
          .poll(() => json(said, topic), PATIENT)
          .toMatchObject({ status: 'offline', threats: 1, last: { words: 'boar at orchard' } })
        await expect.poll(() => said.get(`hedgerow/gateways/${id}/picture`), PATIENT).toEqual(JPEG)

        const fields = { name: 'Barn', location: '', description: '' }
        await api(contract.editGateway, { token, params: { id }, body: fields })
        await expect.poll(() => json(said, config), PATIENT).toMatchObject({ device: { name: 'Barn' } })
        // A later subscriber gets all of it.
        const later = await watch(broker)
        await expect.poll(() => [...later.said.keys()].filter((name) => name.includes(id)).length, PATIENT).toBe(3)

        await api(contract.deleteGateway, { token, params: { id }, body: { name: 'Barn' } })
        await expect
          .poll(() => [config, topic, `hedgerow/gateways/${id}/picture`].map((name) => text(said, name)), PATIENT)
          .toEqual(['', '', ''])
        await expect.poll(() => state(), PATIENT).toMatchObject({ devices: 0 })
        await stop()
        await expect.poll(() => text(said, 'hedgerow/status'), PATIENT).toBe('offline')
      },
    )

    test('when the broker returns, everything is published again, and gateways deleted meanwhile are gone', async ({
      expect,
    }) => {
      const broker = await startMosquitto({ guarded: [HUB, HOME] })
      life.push(() => broker.stop())
      const relay = await startRelay(Number(new URL(broker.url).port))
      life.push(() => relay.stop())
      const { hub, state } = await startHub({ ...broker, url: relay.url.replace('mqtt:', 'mqtts:') })
      const { client, said } = await watch(broker)
      const [barn, mill] = [
        await insertTestGateway(hub.db, { name: 'Barn' }),
        await insertTestGateway(hub.db, { name: 'Mill' }),
      ]
      await expect.poll(() => state(), PATIENT).toMatchObject({ devices: 2 })
      await broker.kill9()
      relay.hold()
      await expect
        .poll(() => state(), PATIENT)
        .toMatchObject({ state: 'away', problem: expect.stringMatching(/^The broker at 127\.0\.0\.1:\d+ /) })
      await hub.db.deleteFrom('gateways').where('id', '=', mill).execute()
      await hub.db.updateTable('gateways').set({ name: 'Old barn' }).where('id', '=', barn).execute()
      await see(hub, barn, 'meanwhile')
      // Two detections of one event are one threat, as on the dashboard.
      await see(hub, barn, 'meanwhile too')
      said.clear()
      await broker.start()
      // A broker that kept everything would still have it.
      const former = `homeassistant/device/hedgerow_${mill}/config`
      await client.publishAsync(former, '{}', { retain: true })
      await expect.poll(() => text(said, former), PATIENT).toBe('{}')
      relay.release()
      await expect
        .poll(() => json(said, `homeassistant/device/hedgerow_${barn}/config`), PATIENT)
        .toMatchObject({ device: { name: 'Old barn' } })
      await expect.poll(() => json(said, `hedgerow/gateways/${barn}/state`), PATIENT).toMatchObject({ threats: 1 })
      await expect.poll(() => state(), PATIENT).toMatchObject({ state: 'connected', devices: 1 })
      await expect.poll(() => text(said, former), PATIENT).toBe('')
    })

    test('the last will of a former connection does not leave the hub offline', async ({ expect }) => {
      const broker = await startMosquitto()
      life.push(() => broker.stop())
      const relay = await startRelay(Number(new URL(broker.url).port))
      life.push(() => relay.stop())
      const { state } = await startHub({ url: relay.url, ca: '' })
      const { said } = await watch(broker)
      await expect.poll(() => text(said, 'hedgerow/status'), PATIENT).toBe('online')
      const first = relay.cut()
      await expect.poll(() => state(), PATIENT).toMatchObject({ state: 'away' })
      await expect.poll(() => state(), PATIENT).toMatchObject({ state: 'connected' })
      const heard: string[] = []
      const { client } = await watch(broker)
      client.on('message', (topic, payload) => void (topic === 'hedgerow/status' && heard.push(payload.toString())))
      first.destroy()
      await expect.poll(() => heard, PATIENT).toContain('offline')
      await expect.poll(() => heard.at(-1), PATIENT).toBe('online')
    })

    test('an alert goes to the broker, and the page says why it does not', async ({ expect }) => {
      const broker = await startMosquitto({ guarded: [HUB, HOME] })
      life.push(() => broker.stop())
      const { api, token } = await startHub(broker)
      const { said } = await watch(broker)
      expect((await api(contract.sendTestNotification, { token })).body).toMatchObject({
        channels: { mqtt: { status: 'sent', message: 'The broker took it.' } },
      })
      await expect
        .poll(() => json(said, 'hedgerow/alerts'), PATIENT)
        .toMatchObject({ event: 'test', title: 'Test message from your hub' })

      const wrong = await startHub(broker, { password: 'wrong' })
      const refused = {
        state: 'away',
        problem: expect.stringMatching(/refuses the username or the password\.$/),
      }
      await expect.poll(() => wrong.state(), PATIENT).toMatchObject(refused)
      const unknown = await startHub({ ...broker, ca: '' })
      await expect
        .poll(() => unknown.state(), PATIENT)
        .toMatchObject({ problem: expect.stringMatching(/SELF_SIGNED_CERT/) })
    })

    describe('commands', () => {
      async function start() {
        const broker = await startMosquitto({ guarded: [HUB, HOME] })
        life.push(() => broker.stop())
        const started = await startHub(broker)
        const { hub, api, token } = started
        const { gatewayId: id, peer } = await joinedGateway(hub, { authorization: `Bearer ${token}` })
        life.push(() => peer.stop())
        const door = serveDoor(peer)
        const beat = (change: Partial<Heartbeat> = {}) =>
          peer.post(
            '/api/v1/gateway/heartbeat',
            testHeartbeat(hub.clock.now(), {
              armed: true,
              cameras: [{ name: 'orchard', state: 'online', fps: 5 }],
              deterrents: [{ name: 'Sprinkler "west"', state: 'ready' }],
              ...change,
            }),
          )
        await beat()
        const { client, said } = await watch(broker)
        const allow = (homeAssistantCommands: boolean) =>
          api(contract.editHubSettings, { token, body: { homeAssistantCommands } })
        const components = () =>
          (json(said, `homeassistant/device/hedgerow_${id}/config`) as { components: object } | null)?.components
        const press = (what: string, word: string, options = {}) =>
          client.publishAsync(`hedgerow/gateways/${id}/set/${what}`, word, options)
        return { ...started, id, door, beat, client, said, allow, components, press }
      }
      const names = (door: TestDoor) => door.commands.map(({ action }) => action)

      test('are carried out only while the switch is on, and the audit names Home Assistant', async ({ expect }) => {
        const { hub, api, token, door, said, id, allow, components, press } = await start()
        await expect
          .poll(components, PATIENT)
          .toMatchObject({ armed_state: { p: 'binary_sensor' }, [`${SPRINKLER}_state`]: { p: 'binary_sensor' } })
        expect(components()).not.toHaveProperty('armed')
        await press('armed', 'OFF')
        await allow(true)
        // The sensors disappear, and switches appear.
        await expect.poll(components, PATIENT).toMatchObject({
          armed: { p: 'switch', command_topic: `hedgerow/gateways/${id}/set/armed` },
          armed_state: { p: 'binary_sensor' },
          stop: { p: 'button' },
        })
        expect((components() as Record<string, object>)['armed_state']).toEqual({ p: 'binary_sensor' })
        await press('armed', 'ON')
        await expect.poll(() => names(door), PATIENT).toEqual(['arm'])
        await press(SPRINKLER, 'ON')
        await expect
          .poll(() => door.commands.at(-1), PATIENT)
          .toMatchObject({ action: 'fire', deterrent: 'Sprinkler "west"', by: 'Home Assistant' })
        const entries = async () =>
          (await api(contract.listAudit, { token, query: { action: 'command.end' } })).body as AuditEntry[]
        await expect.poll(async () => (await entries()).length, PATIENT).toBe(2)
        expect(await entries()).toMatchObject([
          { actor: 'Home Assistant', target: `fire Sprinkler "west" of ${id}`, result: 'ok', sourceIp: null },
          { actor: 'Home Assistant', target: `arm ${id}` },
        ])
        await allow(false)
        await expect
          .poll(components, PATIENT)
          .toMatchObject({ armed: { p: 'switch' }, armed_state: { p: 'binary_sensor', name: 'Armed' } })
        expect((components() as Record<string, object>)['armed']).toEqual({ p: 'switch' })
        await press('armed', 'OFF')
        await see(hub, id, 'b')
        await expect.poll(() => json(said, `hedgerow/gateways/${id}/state`), PATIENT).toMatchObject({ threats: 1 })
        expect(names(door)).toEqual(['arm', 'fire'])
      })

      test('that were retained, are unknown or come in a flood are not carried out; a stop always is', async ({
        expect,
      }) => {
        const { hub, api, token, door, allow, components, press, client, id } = await start()
        // The rates allow another command for every five seconds that pass.
        hub.clock.freeze()
        const ended = async () =>
          ((await api(contract.listAudit, { token, query: { action: 'command.end' } })).body as AuditEntry[]).length
        await press('armed', 'ON', { retain: true })
        await allow(true)
        await expect.poll(components, PATIENT).toHaveProperty('armed')
        await press(keyOf('deterrent', 'unknown'), 'ON')
        await press('armed', 'sudo')
        await client.publishAsync('hedgerow/gateways/../set/armed', 'ON')
        for (let i = 0; i < 20; i++) {
          await press('armed', 'ON')
          // A command that is still under way is not given again.
          await expect.poll(ended, PATIENT).toBe(Math.min(i + 1, 5))
        }
        await press('stop', 'STOP')
        await expect.poll(() => names(door), PATIENT).toEqual(['arm', 'arm', 'arm', 'arm', 'arm', 'stop'])
        expect(id).toMatch(/^[a-z2-7]{12}$/)
      })

      test('that the gateway refuses leave the switch as it is', async ({ expect }) => {
        const { door, allow, components, press, said, id } = await start()
        door.onCommand = (_command, response) =>
          answerJson(response, { outcome: 'refused', code: 'disarmed', message: 'No' })
        await allow(true)
        await expect.poll(components, PATIENT).toHaveProperty('armed')
        const topic = `hedgerow/gateways/${id}/state`
        said.delete(topic)
        await press('armed', 'OFF')
        await expect.poll(() => json(said, topic), PATIENT).toMatchObject({ armed: 'ON' })
      })
    })
  },
)

/**
 * Stands between the hub and its broker. `cut` ends the hub's side only: the broker has not noticed yet. `hold` ends
 * all of them and lets the hub in no more until `release`.
 */
async function startRelay(port: number) {
  let isHeld = false
  const sides: { hub: Socket; broker: Socket }[] = []
  const server = createServer((hub) => {
    if (isHeld) {
      hub.destroy()
      return
    }
    const broker = connect(port, '127.0.0.1')
    for (const socket of [hub, broker]) socket.on('error', () => {})
    hub.on('data', (bytes) => void broker.write(bytes))
    broker.on('data', (bytes) => void (hub.destroyed || hub.write(bytes)))
    sides.push({ hub, broker })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  function endAll(): void {
    for (const { hub, broker } of sides) {
      hub.destroy()
      broker.destroy()
    }
  }

  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      isHeld = true
      endAll()
    },
    release() {
      isHeld = false
    },
    /** Returns the broker's side of the connection. */
    cut(): Socket {
      const { hub, broker } = sides.at(-1)!
      hub.destroy()
      return broker
    },
    stop() {
      endAll()
      server.close()
    },
  }
}

/** A broker that accepts the hub, and then misbehaves as `act` says. */
async function startLiar(act: (socket: Socket) => void): Promise<{ url: string; ca: string }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      // CONNACK, accepted: MQTT 3.1.1 §3.2.
      socket.write(Buffer.from([0x20, 2, 0, 0]))
      socket.on('data', () => act(socket))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  life.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: '' }
}

describe('a broker that lies', { concurrent: true }, () => {
  const flood = Buffer.concat(Array.from({ length: 200 }, () => Buffer.from([0x30, 4, 0, 1, 0x61, 0x62])))
  test.for([
    ['sends a message of 256 MB', Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]), 'sent a message of more than 16 KiB'],
    ['floods the hub', flood, 'sent more than 100 messages in a second'],
    ['speaks another protocol', Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), ''],
  ] as const)('that %s loses the connection, and the hub goes on', async ([, bytes, problem], { expect }) => {
    const { state, api, token } = await startHub(await startLiar((socket) => void socket.write(bytes)))
    await expect
      .poll(() => state(), PATIENT)
      .toMatchObject({ state: 'away', problem: expect.stringContaining(problem) })
    expect((await api(contract.readHubSettings, { token })).status).toBe(200)
  })
})
