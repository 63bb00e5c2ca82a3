import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { startOpenSprinkler, type Sprinkler, type SprinklerOptions } from '../../../testing/opensprinkler.ts'
import { openDeterrents } from '../deterrents.ts'
import { deterrentsSettings } from '../schema.ts'
import { unitOf } from '../saved-state.ts'
import { NeverOn, type Driver } from './driver.ts'
import { driver } from './opensprinkler.ts'

const PASSWORD = 'opendoor'
const never = new AbortController().signal
/** The station of these tests, as the firmware and as gateway.yaml count. */
const [SID, STATION] = [2, 3]

let controller: Sprinkler
afterEach(() => controller.stop())

const settings = (changes: object = {}) =>
  deterrentsSettings.parse({
    lawn: { driver: 'opensprinkler', address: controller.address, password: PASSWORD, station: STATION, ...changes },
  })

async function open(options: Partial<SprinklerOptions> = {}): Promise<Driver> {
  controller = await startOpenSprinkler({ password: PASSWORD, ...options })
  return driver.open(unitOf('lawn', settings()['lawn']!).settings as never)
}

const errorOf = (call: Promise<string>) => call.then(String, (error: unknown) => error)

test.each<[string, Partial<SprinklerOptions>]>([
  ['a firmware that answers 17', {}],
  ['one whose `/jc` cannot be read', { without: ['/jc'] }],
  ['one that answers `/cm` alone', { without: ['/jc', '/js'] }],
  ['one that answers 1 whatever is in its queue', { without: ['/jc'], firmware: 220 }],
])('off while off is success with %s', async (_which, options) => {
  const lawn = await open(options)
  expect(await lawn.off(never)).toBe('it is off')
  expect(await lawn.off(never)).toBe('it is off')
})

test('older firmware is never asked to stop a station that is not in its queue', async () => {
  const lawn = await open({ firmware: 220 })
  expect(await lawn.off(never)).toBe('it is off')
  expect(controller.asked()).not.toContain('/cm en=0')
})

test.each([[{}], [{ without: ['/jc'] }]])(
  'it has fired once the station runs, and not before (%o)',
  async (options) => {
    const lawn = await open(options)
    expect(await lawn.on(9, never)).toBe('the station runs')
    expect(controller.running()).toEqual([SID])
    expect(await lawn.off(never)).toBe('it is off')
    expect(controller.running()).toEqual([])
  },
)

test.each([[{}], [{ without: ['/jc'] }]])(
  'behind a program it is queued, not fired, and never waters (%o)',
  async (options) => {
    const lawn = await open(options)
    controller.runProgram([5, 6], 60)
    const error = await errorOf(lawn.on(4, never))
    expect(error).toBeInstanceOf(NeverOn)
    expect(String(error)).toMatch(/queued, not fired/)
    expect(controller.queued().map(([sid]) => sid)).toEqual([5, 6])
    expect(controller.running()).toEqual([5])
  },
)

test('firmware 2.2.1(4) lets it run before the program, which goes on', async () => {
  const lawn = await open({ firmware: 224 })
  controller.runProgram([5], 60)
  expect(await lawn.on(9, never)).toBe('the station runs')
  await lawn.off(never)
  expect(controller.queued()).toEqual([[5, 1]])
})

test('a station that a program of the owner waters is left alone, and not fired', async () => {
  const lawn = await open()
  controller.runProgram([SID], 60)
  expect(await lawn.off(never)).toBe('it is off; program 1 of the controller has the station, and goes on')
  expect(String(await errorOf(lawn.on(4, never)))).toMatch(/not fired: .* in its queue already/)
  await lawn.off(never)
  expect(controller.running()).toEqual([SID])
})

test('a station that runs by hand, or waits since a crash, is switched off', async () => {
  const lawn = await open()
  controller.runProgram([5], 60)
  controller.runByHand(SID, 600)
  expect(await lawn.off(never)).toBe('it is off')
  expect(controller.queued()).toEqual([[5, 1]])
})

test('off at once after on: what the controller has not taken up yet never waters', async () => {
  const lawn = await open()
  const controllerOf = new AbortController()
  const fired = errorOf(lawn.on(60, controllerOf.signal))
  await expect.poll(() => controller.queued().length).toBe(1)
  controllerOf.abort()
  await fired
  await lawn.off(never)
  expect(controller.queued()).toEqual([])
  expect(controller.running()).toEqual([])
})

test('a master station is not fired, and its own run does not count as off', async () => {
  const lawn = await open({ master: STATION })
  expect(String(await errorOf(lawn.on(4, never)))).toMatch(/not fired: .*is a master station/)
  expect(await lawn.off(never)).toBe('it is off')
})

test('the ledger says queued, and neither the budget nor a fault has anything of it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'opensprinkler-'))
  await open()
  controller.runProgram([5], 60)
  const own = settings({ seconds: 4, coolDownSeconds: 0, secondsAnHour: 100 })
  const log = pino({ level: 'silent' })
  const deterrents = await openDeterrents({
    dataDir,
    settings: own,
    place: {},
    log,
    watch: () => ({ cameras: new Map(), isComplete: true }),
  })
  try {
    const states = () => deterrents.list().map(({ state, secondsLeftThisHour }) => [state, secondsLeftThisHour])
    await expect.poll(states, { timeout: 30_000 }).toEqual([['ready', 100]])
    const answer = await deterrents.fire({ deterrent: 'lawn', by: { kind: 'program' } })
    expect(answer).toMatchObject({ refused: 'device_failed', message: expect.stringContaining('queued, not fired') })
    await expect.poll(states).toEqual([['ready', 100]])
    const entries = await deterrents.ledger({ limit: 10 })
    expect(entries).toMatchObject([{ kind: 'failed', message: expect.stringContaining('queued, not fired') }])
    expect(controller.queued()).toEqual([[5, 1]])
  } finally {
    await deterrents[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true })
  }
})
