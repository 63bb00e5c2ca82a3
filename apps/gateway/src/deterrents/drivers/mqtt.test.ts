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
  expect(await outcome).toBe('Error: the broker is gone')
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
