import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../testing/relay.ts'
import { openDeterrents, type Deterrents } from './deterrents.ts'
import { deterrentsSettings } from './schema.ts'

const ME = { kind: 'person', name: 'Ann', via: 'device' } as const
const RULE = {
  kind: 'rule',
  rule: 'Boar',
  detectionId: 'd1',
  cameras: ['orchard'],
  watchers: ['orchard'],
  aboutPersons: false,
} as const

let dataDir: string
let relay: Relay
let deterrents: Deterrents | undefined
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'deterrents-'))
  relay = await startRelay()
})
afterEach(async () => {
  await deterrents?.[Symbol.asyncDispose]()
  deterrents = undefined
  await relay.stop()
  await rm(dataDir, { recursive: true })
})

function settings(changes: object = {}) {
  const sprinkler = {
    driver: 'http',
    on: { url: relay.onUrl },
    off: { url: relay.offUrl },
    coolDownSeconds: 0,
    ...changes,
  }
  return deterrentsSettings.parse({ sprinkler })
}

async function open(changes: object = {}): Promise<Deterrents> {
  deterrents = await openDeterrents({
    dataDir,
    settings: settings(changes),
    place: {},
    log: pino({ level: 'silent' }),
    watch: () => ({ cameras: new Map([['orchard', 'looking']]), isComplete: true }),
  })
  return deterrents
}

const states = (of: Deterrents) => of.list().map(({ state }) => state)

test('it is switched off before anything else, then fires and ends by itself', async () => {
  const running = await open({ seconds: 1 })
  await expect.poll(() => states(running)).toEqual(['ready'])
  expect(relay.calls).toEqual(['off'])
  expect(await running.fire({ deterrent: 'sprinkler', by: RULE })).toMatchObject({ firing: { seconds: 1 } })
  expect(relay.calls).toEqual(['off', 'on'])
  await expect.poll(() => states(running)).toEqual(['ready'])
  expect(relay.isOn()).toBe(false)
  const kinds = async () => (await running.ledger({ limit: 10 })).map(({ kind }) => kind)
  await expect.poll(kinds).toEqual(['ended', 'fired'])
})

test('every change of what is shown is told, so that a state that is shown is one that counts', async () => {
  const running = await open({ seconds: 1 })
  const shown: string[] = []
  running.onChange(() => shown.push([running.isArmed(), ...states(running)].join(' ')))
  await expect.poll(() => states(running)).toEqual(['ready'])
  await running.fire({ deterrent: 'sprinkler', by: ME })
  await expect.poll(() => states(running)).toEqual(['ready'])
  await running.disarm(ME)
  process.kill(running.supervisorPid()!, 'SIGKILL')
  await expect.poll(() => states(running)).toEqual(['fault'])
  await expect.poll(() => states(running), { timeout: 60_000 }).toEqual(['ready'])
  expect(shown.slice(0, 6)).toEqual([
    'true active',
    'true ready',
    'true active',
    'true ready',
    'false ready',
    'false fault',
  ])
  expect(shown.at(-1)).toBe('false ready')
})

test('disarming ends a firing at once, and holds after a restart', async () => {
  const running = await open({ seconds: 600, secondsAnHour: 3_600 })
  await expect.poll(() => states(running)).toEqual(['ready'])
  await running.fire({ deterrent: 'sprinkler', by: ME })
  expect(relay.isOn()).toBe(true)
  await running.disarm(ME)
  expect(relay.isOn()).toBe(false)
  await running[Symbol.asyncDispose]()
  const again = await open()
  expect(again.isArmed()).toBe(false)
  expect(await again.fire({ deterrent: 'sprinkler', by: ME })).toMatchObject({ refused: 'disarmed' })
  await again.arm(ME)
  await expect.poll(() => states(again)).toEqual(['ready'])
  expect(await again.fire({ deterrent: 'sprinkler', by: ME })).toMatchObject({ firing: { deterrent: 'sprinkler' } })
})

test('after its folder vanished it fires, records and holds its state as before', async () => {
  const running = await open({ seconds: 1 })
  await expect.poll(() => states(running)).toEqual(['ready'])
  rmSync(join(dataDir, 'deterrents'), { recursive: true })
  expect(await running.fire({ deterrent: 'sprinkler', by: ME })).toMatchObject({ firing: { seconds: 1 } })
  const kinds = async () => (await running.ledger({ limit: 10 })).map(({ kind }) => kind)
  await expect.poll(kinds).toEqual(['ended', 'fired'])
  rmSync(join(dataDir, 'deterrents'), { recursive: true })
  await running.disarm(ME)
  expect(running.problems()).toEqual([])
  await running[Symbol.asyncDispose]()
  expect((await open()).isArmed()).toBe(false)
})

describe('on a full disk', () => {
  const statePath = () => join(dataDir, 'deterrents', 'state.json')
  /** No file can be written under the name that a write begins with. */
  const fill = () => mkdirSync(`${statePath()}.tmp`)
  const free = () => rmSync(`${statePath()}.tmp`, { recursive: true })

  test('disarming disarms, says what is wrong, and holds after a restart', async () => {
    const running = await open({ seconds: 600, secondsAnHour: 3_600 })
    await expect.poll(() => states(running)).toEqual(['ready'])
    await running.fire({ deterrent: 'sprinkler', by: ME })
    fill()
    await running.disarm(ME)
    expect([running.isArmed(), relay.isOn()]).toEqual([false, false])
    expect(running.problems()).toEqual(['The state of the deterrents cannot be written: nothing fires'])
    await running[Symbol.asyncDispose]()
    const again = await open()
    expect(again.isArmed()).toBe(false)
    expect(again.problems()[0]).toContain('the device is disarmed until a person arms it')
  })

  test('arming does not arm, and says so', async () => {
    const running = await open()
    await expect.poll(() => states(running)).toEqual(['ready'])
    await running.disarm(ME)
    fill()
    expect(await running.arm(ME)).toBe(false)
    expect(running.isArmed()).toBe(false)
    free()
    expect(await running.arm(ME)).toBe(true)
    expect(running.isArmed()).toBe(true)
  })

  test('the state is written once there is room again', async () => {
    const running = await open()
    await expect.poll(() => states(running)).toEqual(['ready'])
    fill()
    await running.disarm(ME)
    free()
    await expect.poll(() => running.problems(), { timeout: 15_000 }).toEqual([])
    expect(JSON.parse(readFileSync(statePath(), 'utf8'))).toMatchObject({ armed: false })
  })
})

test('a device that does not confirm that it is on gives a refusal with its answer, and is switched off', async () => {
  const running = await open()
  await expect.poll(() => states(running)).toEqual(['ready'])
  relay.behave('refuses')
  expect(await running.fire({ deterrent: 'sprinkler', by: RULE })).toEqual({
    refused: 'device_failed',
    message: 'The device did not say that it is on, so it is being switched off. (the device answered 503)',
  })
  await expect.poll(() => states(running)).toEqual(['fault'])
  relay.behave('well')
  await expect.poll(() => states(running)).toEqual(['ready'])
})

test('a state that is damaged leaves the device disarmed', async () => {
  await open()
  await deterrents![Symbol.asyncDispose]()
  await writeFile(join(dataDir, 'deterrents', 'state.json'), '{"version":1,"arm')
  const running = await open()
  expect(running.isArmed()).toBe(false)
  expect(running.problems()).toEqual([expect.stringContaining('disarmed until a person arms it')])
})
