/** A device whose cameras are Frigate's: water fires from afar only while Frigate says who is there. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startFrigate, type FrigateOptions, type TestFrigate } from '../../../test/harness/frigate.ts'
import { startRelay, type Relay } from '../testing/relay.ts'
import { checkDeviceFile } from './device-file/check.ts'
import { toldEntry } from './deterrents/told-entry.ts'
import { openDevice, type Device } from './device.ts'
import { ruleSentence } from './rules/sentence.ts'

const HUB = { kind: 'person', name: 'Rosa', via: 'hub' } as const
const logged: string[] = []
const log = pino({ level: 'debug' }, { write: (line) => void logged.push(line) })

let dataDir: string
let path: string
let relay: Relay
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'device-watch-'))
  path = join(dataDir, 'gateway.yaml')
  relay = await startRelay()
})
afterEach(async () => {
  await relay.stop()
  await rm(dataDir, { recursive: true })
})

async function frigateOf(cameras: NonNullable<FrigateOptions['cameras']>): Promise<TestFrigate> {
  const frigate = await startFrigate({ cameras })
  onTestFinished(() => frigate.stop())
  return frigate
}

const fileOf = (frigate: { url: string }, valve = '', more = '') => `
sources: { frigate: { url: "${frigate.url}" } }
deterrents:
  valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" }, seconds: 1, coolDownSeconds: 0${valve} }
${more}`

async function open(text: string): Promise<Device> {
  await writeFile(path, text)
  const life = new AsyncDisposableStack()
  onTestFinished(() => life.disposeAsync())
  const device = await openDevice({ dataDir, filePath: path, log }, life)
  await expect.poll(() => device.deterrents.list().map(({ state }) => state)).toEqual(['ready'])
  return device
}

async function outcome({ deterrents }: Device): Promise<string> {
  const answer = await deterrents.fire({ deterrent: 'valve', by: HUB })
  if ('refused' in answer) return answer.refused
  await deterrents.stop('valve', HUB)
  return 'fired'
}

test('fires nothing before Frigate has answered, and nothing after it has gone', async () => {
  const frigate = await frigateOf({ gate: {} })
  await frigate.stop()
  const device = await open(fileOf(frigate))
  expect(await outcome(device)).toBe('not_watched')
  await frigate.start()
  await expect.poll(() => outcome(device), { timeout: 60_000 }).toBe('fired')
  await frigate.stop()
  await expect.poll(() => outcome(device), { timeout: 60_000 }).toBe('not_watched')
  expect(device.deterrents.list()[0]?.state).toBe('ready')
})

test('a name in another case fires nothing, and is a problem of the gateway with its line and the nearest name', async () => {
  const device = await open(fileOf(await frigateOf({ gate: {} }), ', watchedBy: [Gate]'))
  await expect.poll(() => outcome(device)).toBe('watcher_unknown')
  expect(relay.calls).not.toContain('on')
  expect(device.parts().problems).toContainEqual(
    expect.stringMatching(
      /^gateway\.yaml line 4, column \d+: deterrents\.valve\.watchedBy\.0: There is no camera Gate; the nearest is gate\.$/,
    ),
  )
})

test('names that are files, as files of before may have, protect as before, and their values are shown nowhere', async () => {
  const secret = 'c0rrect-h0rse-battery'
  for (const [name, text] of Object.entries({ key: secret, camera: 'yard', valve: 'valve' }))
    await writeFile(join(dataDir, name), text)
  const text = (watchedBy: string) => `
sources: { api: { loopbackNeedsToken: false } }
deterrents:
  valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" }, seconds: 1, coolDownSeconds: 0${watchedBy} }
rules:
  - { name: !file key, labels: [boar, !file key], cameras: [!file camera, !file key], fire: [!file valve] }
`
  const device = await open(text(''))
  const boar = { camera: 'yard', label: 'boar', severity: 'alert', score: 0.9 } as const
  await device.intake.report([{ ...boar, id: 'a', startedAt: new Date().toISOString() }])
  await expect.poll(() => relay.calls).toContain('on')
  await expect.poll(() => device.record.find('a')?.firings?.map((firing) => firing.outcome)).toEqual(['fired'])
  await writeFile(path, text(', watchedBy: [!file key]'))
  await device.file.look()
  await expect.poll(() => outcome(device)).toBe('watcher_unknown')
  const { rules } = device.file.current()
  const shown = [
    device.parts(),
    (await device.deterrents.ledger({ limit: 50 })).map(toldEntry),
    device.record.find('a'),
    rules.map((rule) => device.file.conceal(ruleSentence(rule))),
    logged,
  ]
  expect(JSON.stringify(shown)).not.toContain(secret)
  expect(JSON.stringify(shown)).toContain('"name":"!file key"')
  expect(device.parts().problems[0]).toMatch(
    /^gateway\.yaml line 4, column \d+: deterrents\.valve\.watchedBy\.0: A name cannot come from a variable or a file: write it out\.$/,
  )
})

describe('a camera on which Frigate looks for no persons', () => {
  test.each([{ track: ['dog'] }, { detect: false }, { enabled: false }])('%j watches nothing', async (settings) => {
    const frigate = await frigateOf({ gate: settings, yard: {} })
    const device = await open(fileOf(frigate, ', watchedBy: [gate]'))
    await expect.poll(() => device.sources.watch().cameras.get('yard'), { timeout: 30_000 }).toBe('looking')
    expect(await outcome(device)).toBe('not_watched')
    await writeFile(path, fileOf(frigate))
    await device.file.look()
    expect(await outcome(device)).toBe('fired')
  })
})

describe('gateway check', () => {
  const check = async (text: string) => {
    await writeFile(path, text)
    const { text: told, isValid } = await checkDeviceFile(path, { dataDir, environment: {} })
    return [isValid, ...told.replaceAll(path, 'FILE').split('\n')]
  }

  test('asks Frigate which cameras, zones and objects there are', async () => {
    const frigate = await frigateOf({ gate: { zones: ['front_yard'] }, yard: { track: ['dog'] } })
    const rule = 'rules: [{ name: A, labels: [boer], cameras: [gat], zones: [front_yard], fire: [valve] }]'
    expect(await check(fileOf(frigate, ', watchedBy: [Gate, yard]', rule))).toEqual([
      false,
      expect.stringMatching(
        /^FILE:4:\d+: deterrents\.valve\.watchedBy\.0: There is no camera Gate; the nearest is gate\.$/,
      ),
      expect.stringMatching(/^FILE:4:\d+: deterrents\.valve\.watchedBy\.1: Nothing looks for persons on yard\.$/),
      'FILE:5:46: rules.0.cameras.0: There is no camera gat; the nearest is gate.',
    ])
    expect(await check(fileOf(frigate, ', watchedBy: [gate]', rule.replace('gat]', 'gate]')))).toEqual([
      false,
      'FILE:5:29: rules.0.labels.0: There is no label boer; the nearest is boar.',
    ])
    expect(await check(fileOf(frigate, ', watchedBy: [gate]'))).toEqual([true, 'FILE: no errors.'])
  })

  test('says which names it could not check while Frigate does not answer', async () => {
    const frigate = await frigateOf({ gate: {} })
    await frigate.stop()
    expect(await check(fileOf(frigate, ', watchedBy: [gate]'))).toEqual([
      true,
      'FILE: no errors.',
      'FILE:4:160: warning: deterrents.valve.watchedBy.0: Frigate has not said whether it has the camera gate.',
    ])
  })

  test('warns about a deterrent that no camera watches', async () => {
    const valve = `deterrents: { valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" } } }`
    expect(await check(valve)).toEqual([
      true,
      'FILE: no errors.',
      'FILE:1:1: warning: No camera watches valve: it fires whether a person is there or not.',
    ])
    const empty = fileOf(await frigateOf({ gate: {} }), ', watchedBy: []')
    expect(await check(empty)).toContain(
      'FILE:1:1: warning: No camera watches valve: it fires whether a person is there or not.',
    )
  })
})
