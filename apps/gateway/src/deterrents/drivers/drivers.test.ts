import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  startHydrawise,
  startOnvif,
  startRachio,
  startReolink,
  startShelly,
  startTasmota,
  type DeviceServer,
} from '../../../testing/device-servers.ts'
import { startOpenSprinkler } from '../../../testing/opensprinkler.ts'
import { startRelay } from '../../../testing/relay.ts'
import { loadDriver } from '../drivers.ts'
import { deterrentsSettings } from '../schema.ts'
import { unitOf } from '../saved-state.ts'
import { DeviceRefusal, type DeviceOutput, type Driver } from './driver.ts'

const SECRET = 'correct-horse-9'
const never = new AbortController().signal

/** Opens a driver with settings as in gateway.yaml, checked and with their defaults. */
async function open(settings: { driver: string; [key: string]: unknown }): Promise<Driver> {
  const { it } = deterrentsSettings.parse({ it: settings })
  const { settings: own } = unitOf('it', it!)
  return (await loadDriver(own.driver)).open(own)
}

type Case = {
  driver: string
  start: () => Promise<DeviceServer>
  /** Settings that are right; each of the others has one mistake. */
  right: object
  wrongPassword: object
  unknown: object
  /** Whether the device got a timer of its own. */
  isTimed: boolean
  /** What it tells of its outputs while all are off. */
  outputs?: DeviceOutput[]
}

const cases: Case[] = [
  {
    driver: 'shelly',
    start: () => startShelly(SECRET, { outputName: 'Pump' }),
    outputs: [{ name: 'Pump', isOn: false, settings: { output: 0 } }],
    right: { password: SECRET },
    wrongPassword: { password: 'wrong-password' },
    unknown: { password: SECRET, output: 7 },
    isTimed: true,
  },
  {
    driver: 'tasmota',
    start: () => startTasmota(SECRET),
    outputs: [{ name: 'Hose', isOn: false, settings: { relay: 1 } }],
    right: { password: SECRET },
    wrongPassword: { password: 'wrong-password' },
    unknown: { password: SECRET, relay: 5 },
    isTimed: true,
  },
  {
    driver: 'opensprinkler',
    start: () => startOpenSprinkler({ password: SECRET }),
    outputs: ['Front lawn', 'Beds', 'Orchard', 'S04', 'S05', 'S06', 'S07', 'S08'].map((name, at) => ({
      name,
      isOn: false,
      settings: { station: at + 1 },
    })),
    right: { password: SECRET, station: 3 },
    wrongPassword: { password: 'wrong-password', station: 3 },
    unknown: { password: SECRET, station: 90 },
    isTimed: true,
  },
  {
    driver: 'rachio',
    start: () => startRachio(SECRET),
    outputs: [{ name: 'Shed, Roses', isOn: undefined, settings: { device: 'controller-1', zone: 'zone-1' } }],
    right: { token: SECRET, zone: 'zone-1', device: 'controller-1' },
    wrongPassword: { token: 'wrong-password', zone: 'zone-1', device: 'controller-1' },
    unknown: { token: SECRET, zone: 'zone-9', device: 'controller-9' },
    isTimed: true,
  },
  {
    driver: 'hydrawise',
    start: () => startHydrawise(SECRET),
    outputs: [{ name: 'Lawn', isOn: false, settings: { relay: 4711 } }],
    right: { apiKey: SECRET, relay: 4711 },
    wrongPassword: { apiKey: 'wrong-password', relay: 4711 },
    unknown: { apiKey: SECRET, relay: 1 },
    isTimed: true,
  },
  {
    driver: 'onvif',
    start: () => startOnvif('operator', SECRET),
    outputs: [{ name: '', isOn: undefined, settings: { relay: 'RelayOutput_1' } }],
    right: { user: 'operator', password: SECRET, relay: 'RelayOutput_1' },
    wrongPassword: { user: 'operator', password: 'wrong-password', relay: 'RelayOutput_1' },
    unknown: { user: 'operator', password: SECRET, relay: 'RelayOutput_9' },
    isTimed: true,
  },
  {
    driver: 'reolink',
    start: () => startReolink(SECRET),
    right: { password: SECRET, part: 'siren' },
    wrongPassword: { password: 'wrong-password', part: 'siren' },
    unknown: { password: SECRET, part: 'light', channel: 9 },
    isTimed: false,
  },
]

describe.each(cases)('$driver', ({ driver, start, right, wrongPassword, unknown, isTimed, outputs }) => {
  let device: DeviceServer
  beforeEach(async () => {
    device = await start()
  })
  afterEach(() => device.stop())

  const opened = (settings: object) => open({ driver, address: device.address, ...settings })

  test('switches on for the requested time, and off at any time', async () => {
    const it = await opened(right)
    await it.off(never)
    expect(device.isOn()).toBe(false)
    await it.on(25, never)
    expect(device.isOn()).toBe(true)
    expect(device.seconds()).toBe(isTimed ? 25 : Infinity)
    await it.off(never)
    expect(device.isOn()).toBe(false)
  })

  test.runIf(outputs)('tells its outputs before one is chosen, and refuses a wrong password', async () => {
    const { anyOutput } = await loadDriver(driver)
    const it = await opened({ ...right, ...anyOutput })
    expect(await it.outputs!(never)).toEqual(outputs)
    const stranger = await opened({ ...wrongPassword, ...anyOutput })
    await expect(stranger.outputs!(never)).rejects.toBeInstanceOf(DeviceRefusal)
    expect(device.isOn()).toBe(false)
  })

  test.each([
    ['a wrong password', wrongPassword],
    ['what the device does not know', unknown],
  ])('%s is a refusal without the secret', async (_what, settings) => {
    const it = await opened(settings)
    for (const call of [it.on(5, never), it.off(never)]) {
      const error = await call.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(DeviceRefusal)
      expect(String(error)).not.toMatch(/correct-horse|wrong-password|127\.0\.0\.1/)
    }
    expect(device.isOn()).toBe(false)
  })

  test.each([
    ['an error', 500, 'Internal Server Error'],
    ['too many calls', 429, ''],
    ['a page in place of an answer', 200, '<html>please log in</html>'],
    ['JSON of another shape', 200, '[[{"result":"1"}]]'],
    ['JSON that is too deep', 200, '['.repeat(60_000)],
    ['more than it should', 200, 'x'.repeat(100_000)],
  ])('%s never counts as done', async (_what, status, body) => {
    const it = await opened(right)
    device.answerAll(status, body)
    // Rachio's cloud answers an accepted call with an empty body or with any other.
    const isTaken = driver === 'rachio' && status === 200 && body.length < 65_536
    await expect(
      it.on(5, never).then(
        () => 'taken',
        () => 'refused',
      ),
    ).resolves.toBe(isTaken ? 'taken' : 'refused')
  })

  test('a redirect is not followed', async () => {
    const elsewhere = await startRelay()
    try {
      const it = await opened(right)
      device.answerAll(302, '', { location: elsewhere.onUrl })
      await expect(it.on(5, never)).rejects.toThrow(/30[0-9]/)
      expect(elsewhere.calls).toEqual([])
    } finally {
      await elsewhere.stop()
    }
  })

  test('a call to a device that does not answer ends when it is aborted', async () => {
    const it = await opened(right)
    device.fallSilent()
    const controller = new AbortController()
    const outcome = it.on(5, controller.signal).catch(String)
    await expect.poll(device.calls).toBeGreaterThan(0)
    controller.abort()
    expect(await outcome).toBe('Error: the call was broken off')
  })
})

describe('off while off is success, and only what the device says counts', () => {
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })
  async function started<D extends DeviceServer>(starting: Promise<D>): Promise<D> {
    const device = await starting
    stops.push(device.stop)
    return device
  }

  test.each(cases)('$driver: off, and off again', async ({ driver, start, right }) => {
    const device = await started(start())
    const it = await open({ driver, address: device.address, ...right })
    await it.off(never)
    await it.on(5, never)
    await it.off(never)
    await it.off(never)
    expect(device.isOn()).toBe(false)
  })

  test('a shelly that did not switch on says why, and one with a cover that it has no switch', async () => {
    const tripped = await started(startShelly(SECRET, { errors: ['overpower'] }))
    const valve = await open({ driver: 'shelly', address: tripped.address, password: SECRET })
    await expect(valve.on(5, never)).rejects.toThrow('the output is off, overpower')
    await valve.off(never)
    const cover = await started(startShelly(SECRET, { isCover: true }))
    const it = await open({ driver: 'shelly', address: cover.address, password: SECRET })
    await expect(it.on(5, never)).rejects.toThrow('the device answered 404: No handler for Switch.Set')
  })

  test.each([{ words: ['off', 'on'] }, { words: ['AUS', 'AN'] }, { hasNumber: true }] as const)(
    'a tasmota that says it otherwise: %o',
    async (options) => {
      const device = await started(startTasmota(SECRET, options))
      const it = await open({ driver: 'tasmota', address: device.address, password: SECRET })
      await it.off(never)
      await it.on(5, never)
      expect(device.isOn()).toBe(true)
      await it.off(never)
      expect(device.isOn()).toBe(false)
    },
  )

  test('rachio: a schedule on another zone goes on, also at the start; a firing ends', async () => {
    const cloud = await started(startRachio(SECRET, { scheduled: 'zone-2' }))
    const settings = { driver: 'rachio', address: cloud.address, token: SECRET, zone: 'zone-1', device: 'controller-1' }
    const it = await open(settings)
    expect(await it.off(never)).toBe('it is off: another zone runs, and goes on')
    expect(cloud.running()).toBe('zone-2')
    await it.on(5, never)
    // As the next start does after a crash.
    const afterCrash = await open(settings)
    await afterCrash.off(never)
    expect(cloud.running()).toBeUndefined()
  })

  test("the owner's settings of a reolink's light stay as they are", async () => {
    const camera = await started(startReolink(SECRET))
    const own = { driver: 'reolink', address: camera.address, password: SECRET, part: 'light' }
    const light = await open(own)
    await light.off(never)
    await light.on(5, never)
    expect(camera.isOn()).toBe(true)
    await light.off(never)
    expect(camera.light()).toEqual({ mode: 1, bright: 35 })
    const bright = await open({ ...own, brightness: 80 })
    await bright.off(never)
    expect(camera.light()).toEqual({ mode: 1, bright: 35 })
    await bright.on(5, never)
    expect(camera.light()).toEqual({ mode: 1, bright: 80 })
  })

  test('a reolink that answers with another code than 200 has not done it', async () => {
    const camera = await started(startReolink(SECRET))
    const light = await open({ driver: 'reolink', address: camera.address, password: SECRET, part: 'light' })
    await light.off(never)
    camera.answerAll(200, JSON.stringify([{ cmd: 'SetWhiteLed', code: 0, value: { rspCode: -13 } }]))
    await expect(light.on(5, never)).rejects.toThrow('the camera answered -13')
    camera.answerAll(200, JSON.stringify([{ code: 1, error: { rspCode: -9, detail: 'not support' } }]))
    await expect(light.on(5, never)).rejects.toThrow('the camera answered -9 (not support)')
  })

  test('http with a state: it counts, also when the device refuses to be switched off twice', async () => {
    const relay = await startRelay()
    stops.push(relay.stop)
    const call = (url: string) => ({ url })
    const state = { url: relay.stateUrl, on: '"on":true', off: '"on":false' }
    const it = await open({ driver: 'http', on: call(relay.onUrl), off: call(relay.offUrl), state })
    relay.behave('refuses what is so')
    expect(await it.off(never)).toBe('the device says off')
    expect(await it.on(5, never)).toBe('the device says on')
    relay.behave('refuses')
    const controller = new AbortController()
    const off = it.off(controller.signal).catch(String)
    await expect.poll(() => relay.calls.filter((one) => one === 'off').length).toBe(2)
    controller.abort()
    expect(await off).toMatch(/Error/)
    relay.behave('well')
    expect(await it.off(never)).toBe('the device says off')
  })
})

test('rachio says that the calls of the day are used up', async () => {
  const device = await startRachio(SECRET, { calls: 1 })
  try {
    const settings = {
      driver: 'rachio',
      address: device.address,
      token: SECRET,
      zone: 'zone-1',
      device: 'controller-1',
    }
    const it = await open(settings)
    await it.on(5, never)
    await expect(it.off(never)).rejects.toThrow('calls of this day are used up')
  } finally {
    await device.stop()
  }
})

test('reolink logs in again when the camera has forgotten the token', async () => {
  const device = await startReolink(SECRET, { callsOfToken: 1 })
  try {
    const it = await open({ driver: 'reolink', address: device.address, password: SECRET, part: 'light' })
    await it.on(5, never)
    await it.off(never)
    expect(device.isOn()).toBe(false)
  } finally {
    await device.stop()
  }
})

describe('with programs of the device', () => {
  let folder: string
  let path: string | undefined
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drivers-'))
    path = process.env['PATH']
  })
  afterEach(async () => {
    process.env['PATH'] = path
    await rm(folder, { recursive: true })
  })

  async function program(name: string, text: string): Promise<string> {
    const file = join(folder, name)
    await writeFile(file, `#!/bin/sh\n${text}\n`)
    await chmod(file, 0o755)
    return file
  }
  const said = async () => (await readFile(join(folder, 'said'), 'utf8')).trim().split('\n')

  test('a command gets its arguments unchanged, and no shell reads them', async () => {
    const relay = await program('relay', `for a in "$@"; do echo "$a" >> ${folder}/said; done; echo done`)
    const it = await open({
      driver: 'command',
      on: [relay, 'on', '$(touch x)', '; rm -rf {seconds}'],
      off: [relay, 'off'],
    })
    expect(await it.on(5, never)).toBe('done')
    expect(await said()).toEqual(['on', '$(touch x)', '; rm -rf {seconds}'])
    await it.off(never)
    expect((await said()).at(-1)).toBe('off')
  })

  test('a command that fails, is missing, or does not end has not switched', async () => {
    const fails = await program('fails', 'exit 3')
    const hangs = await program('hangs', `echo started > ${folder}/said; exec sleep 600`)
    const it = await open({ driver: 'command', on: [hangs], off: [fails] })
    await expect(it.off(never)).rejects.toThrow('the command ended with status 3')
    const missing = await open({ driver: 'command', on: [join(folder, 'missing')], off: [fails] })
    await expect(missing.on(5, never)).rejects.toThrow('the command failed (ENOENT)')
    const controller = new AbortController()
    const outcome = it.on(5, controller.signal).catch(String)
    await expect.poll(() => said().catch(() => [])).toEqual(['started'])
    controller.abort()
    expect(await outcome).toBe('Error: the command was broken off')
  })

  test.each([
    ['gpioset (libgpiod) v1.6.3', ['--mode=time --sec=7 gpiochip0 17=1', 'gpiochip0 17=0']],
    ['gpioset (libgpiod) v2.2.1', ['-c gpiochip0 -t 7s,0 17=1', '-c gpiochip0 -t 0 17=0']],
  ])('gpio with %s', async (version, calls) => {
    await program(
      'gpioset',
      `[ "$1" = --version ] && echo '${version}' && exit
       echo "$*" >> ${folder}/said
       case "$*" in *=1) exec sleep 600;; esac`,
    )
    process.env['PATH'] = `${folder}:${path}`
    const it = await open({ driver: 'gpio', line: 17 })
    await it.on(7, never)
    await expect.poll(() => said().catch(() => [])).toEqual(calls.slice(0, 1))
    await it.off(never)
    expect(await said()).toEqual(calls)
    const low = await open({ driver: 'gpio', line: 17, activeLow: true })
    await low.off(never)
    expect((await said()).at(-1)).toBe(`--active-low ${calls[1]}`)
  })

  test('gpio reports the message of gpioset about a line that is not available', async () => {
    await program(
      'gpioset',
      `[ "$1" = --version ] && echo 'gpioset (libgpiod) v2.2.1' && exit
       echo "gpioset: unable to request lines on chip: Device or resource busy" >&2; exit 1`,
    )
    process.env['PATH'] = `${folder}:${path}`
    const it = await open({ driver: 'gpio', line: 17 })
    await expect(it.off(never)).rejects.toThrow('Device or resource busy')
  })
})
