import { connectAsync } from 'mqtt'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startMosquitto, type Mosquitto } from '../../../../../test/harness/mosquitto.ts'
import { startMqttSwitch, type MqttSwitch, type Reports } from '../../../testing/mqtt-switch.ts'
import { deterrentsSettings } from '../schema.ts'
import { unitOf } from '../saved-state.ts'
import type { Driver } from './driver.ts'
import { driver } from './mqtt.ts'

const never = new AbortController().signal

let broker: Mosquitto
let siren: MqttSwitch | undefined
let opened: Driver[] = []
beforeEach(async () => {
  broker = await startMosquitto()
})
afterEach(async () => {
  for (const each of opened) await each.close?.()
  opened = []
  await siren?.stop()
  siren = undefined
  await broker.stop()
})

function open(changes: object = {}): Driver {
  const own = { driver: 'mqtt', broker: broker.url, topic: 'siren/set', on: 'ON', off: 'OFF' }
  const settings = deterrentsSettings.parse({ it: { ...own, state: { topic: 'siren/state' }, ...changes } })
  const it = driver.open(unitOf('it', settings['it']!).settings as never)
  opened.push(it)
  return it
}

test.each<[Reports, string]>([
  ['on-change', 'acknowledged by the broker; the switch says off'],
  ['not-retained', 'acknowledged by the broker; the switch reports no state'],
  ['always', 'the switch said off'],
])('off while off is success with a switch that reports %s', async (reports, answer) => {
  siren = await startMqttSwitch(broker.url, reports)
  const it = open()
  expect(await it.off(never)).toBe(answer)
  expect(await it.off(never)).toBe(answer)
  await it.on(5, never)
  expect(siren.isOn()).toBe(true)
  await it.off(never)
  expect(siren.isOn()).toBe(false)
})

test('on while on is success: a switch that somebody has switched on says nothing more', async () => {
  siren = await startMqttSwitch(broker.url, 'on-change')
  await siren.press()
  expect(await open().on(5, never)).toBe('acknowledged by the broker; the switch says on')
})

test.each([
  ['in other letters', (isOn: boolean) => (isOn ? 'On' : 'off '), {}],
  ['as JSON', (isOn: boolean) => JSON.stringify({ linkquality: 90, state: isOn ? 'ON' : 'OFF' }), { key: 'state' }],
  [
    'as JSON that is true',
    (isOn: boolean) => JSON.stringify({ power: isOn }),
    { key: 'power', on: 'true', off: 'false' },
  ],
])('the state is read %s', async (_how, report, state) => {
  siren = await startMqttSwitch(broker.url, 'on-change', report)
  const it = open({ state: { topic: 'siren/state', ...state } })
  expect(await it.off(never)).toMatch(/the switch says off$/)
  expect(await it.on(5, never)).toBe('the switch said on')
  expect(await it.off(never)).toBe('the switch said off')
})

test('what the switch says is on is not off, however long it is silent', async () => {
  const other = await connectAsync(broker.url, {}, false)
  await other.publishAsync('siren/state', 'ON', { retain: true, qos: 1 })
  const controller = new AbortController()
  const outcome = open().off(controller.signal).then(String, String)
  // Longer than the silence that counts for a switch of which nothing is known.
  setTimeout(() => controller.abort(), 3_000)
  expect(await outcome).toBe('Error: the switch does not say it')
  const it = open()
  const off = it.off(never)
  await other.publishAsync('siren/state', 'OFF', { retain: true, qos: 1 })
  expect(await off).toMatch(/the switch sa/)
  await other.endAsync(true)
})

test('a switch that is not there is not on', async () => {
  const controller = new AbortController()
  const outcome = open().on(5, controller.signal).then(String, String)
  setTimeout(() => controller.abort(), 500)
  expect(await outcome).toMatch(/^Error/)
})

test('without a state, or with a state on the topic of the messages, only the acknowledgement is known', async () => {
  siren = await startMqttSwitch(broker.url, 'on-change')
  for (const state of [undefined, { topic: 'siren/set' }]) {
    const it = open({ state })
    expect(await it.on(5, never)).toBe('acknowledged by the broker; the switch reports no state')
    expect(await it.off(never)).toBe('acknowledged by the broker; the switch reports no state')
  }
  expect(await open({ state: undefined, qos: 0 }).off(never)).toBe('given to the broker; the switch reports no state')
})

test('a broker that goes away in a firing: off fails until it is back, and then the switch says it', async () => {
  siren = await startMqttSwitch(broker.url, 'on-change')
  const it = open()
  await it.on(5, never)
  await broker.kill9()
  await expect(it.off(never)).rejects.toThrow(/ECONNREFUSED|the broker is gone/)
  await broker.start()
  await siren.stop()
  siren = await startMqttSwitch(broker.url, 'on-change')
  expect(await it.off(never)).toMatch(/the switch sa/)
  expect(siren.isOn()).toBe(false)
})

/** As the supervisor does it: a call that takes longer is broken off, and the next one follows. */
const offWithin = (it: Driver, ms: number) => it.off(AbortSignal.timeout(ms)).then(String, String)

test('a switch that goes off by itself while the broker is away, and then says nothing, counts as off', async () => {
  siren = await startMqttSwitch(broker.url, 'not-retained')
  const it = open()
  expect(await it.on(5, never)).toBe('the switch said on')
  await broker.kill9()
  await expect.poll(() => siren!.isConnected()).toBe(false)
  await siren.press()
  await broker.start()
  // It may still be on, and come back to the broker after the gateway.
  expect(await offWithin(it, 5_000)).toMatch(/^Error/)
  await expect
    .poll(() => offWithin(it, 5_000), { timeout: 30_000 })
    .toBe('acknowledged by the broker; the switch reports no state')
  expect(siren.isOn()).toBe(false)
  expect(await offWithin(it, 5_000)).toBe('acknowledged by the broker; the switch reports no state')
}, 60_000)

test('a switch that said on, retains nothing and ignores OFF stays on at each call', async () => {
  const other = await connectAsync(broker.url, {}, false)
  other.on('message', (_topic, text) => void (text.toString() === 'ON' && other.publish('siren/state', 'ON')))
  await other.subscribeAsync('siren/set')
  const it = open()
  expect(await it.on(5, never)).toBe('the switch said on')
  for (let call = 0; call < 3; call++) expect(await offWithin(it, 3_000)).toBe('Error: the switch does not say it')
  // Between two calls.
  await other.publishAsync('siren/state', 'OFF', { qos: 1 })
  expect(await it.off(never)).toMatch(/the switch sa/)
  await other.endAsync(true)
}, 30_000)

test('a switch that retains its state is still on after the broker was away, until it says off', async () => {
  siren = await startMqttSwitch(broker.url, 'on-change')
  const it = open()
  await it.on(5, never)
  await siren.stop()
  await broker.kill9()
  await broker.start()
  const other = await connectAsync(broker.url, {}, false)
  await other.publishAsync('siren/state', 'ON', { retain: true, qos: 1 })
  // Longer than a silent switch may take to come back.
  expect(await offWithin(it, 18_000)).toBe('Error: the switch does not say it')
  await other.publishAsync('siren/state', 'OFF', { retain: true, qos: 1 })
  expect(await it.off(never)).toMatch(/the switch sa/)
  await other.endAsync(true)
}, 60_000)

test.each([
  ['mqtt://user:se%40cret-word@198.18.0.1', ['se%40cret-word', 'se@cret-word']],
  ['mqtt://user:se%zzcret@198.18.0.1', ['se%zzcret']],
])('the password in the address %s is hidden, as it is written and as it is meant', (broker, texts) => {
  expect(driver.secrets?.({ broker } as never)).toEqual(expect.arrayContaining(texts))
})
