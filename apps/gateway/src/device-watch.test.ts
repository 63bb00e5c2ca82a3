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
const lives: AsyncDisposableStack[] = []
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'device-watch-'))
  path = join(dataDir, 'gateway.yaml')
  relay = await startRelay()
})
afterEach(async () => {
  for (const life of lives.splice(0)) await life.disposeAsync()
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
  valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" },
    seconds: 1, coolDownSeconds: 0${valve} }
${more}`

async function open(text: string): Promise<Device & { stop(): Promise<void> }> {
  await writeFile(path, text)
  const life = new AsyncDisposableStack()
  lives.push(life)
  const device = await openDevice({ dataDir, filePath: path, log }, life)
  await expect.poll(() => device.deterrents.list().map(({ state }) => state)).toEqual(['ready'])
  return { ...device, stop: () => life.disposeAsync() }
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

test('a name in another case is the camera, and a problem of the gateway with line and nearest name', async () => {
  const device = await open(fileOf(await frigateOf({ gate: {} }), ', watchedBy: [Gate]'))
  await expect.poll(() => device.sources.watch().cameras.get('gate'), { timeout: 30_000 }).toBe('looking')
  device.deterrents.personSeen('gate')
  expect(await outcome(device)).toBe('person_near')
  expect(device.parts().problems).toContainEqual(
    expect.stringMatching(
      /^gateway\.yaml line 5, column \d+: deterrents\.valve\.watchedBy\.0: There is no camera Gate; the nearest is gate\.$/,
    ),
  )
})

test('names that are files, as older files may have, protect as before, and their values show nowhere', async () => {
  const secret = 'c0rrect-h0rse-battery'
  for (const [name, text] of Object.entries({ key: secret, camera: 'yard', valve: 'valve' }))
    await writeFile(join(dataDir, name), text)
  const text = (watchedBy: string) => `
sources: { api: { loopbackNeedsToken: false } }
deterrents:
  valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" },
    seconds: 1, coolDownSeconds: 0${watchedBy} }
rules:
  - { name: !file key, labels: [boar, !file key], cameras: [!file camera], fire: [!file valve] }
`
  const device = await open(text(''))
  const boar = { camera: 'yard', label: 'boar', severity: 'alert', score: 0.9 } as const
  await device.reportOfProgram([{ ...boar, id: 'a', startedAt: new Date().toISOString(), source: 'api' }])
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
    /^gateway\.yaml line 5, column \d+: deterrents\.valve\.watchedBy\.0: A name cannot come from a variable or a file: write it out\.$/,
  )
})

test('a camera that Frigate does not have fires nothing', async () => {
  const device = await open(fileOf(await frigateOf({ gate: {} }), ', watchedBy: [gaet]'))
  await expect.poll(() => outcome(device)).toBe('watcher_unknown')
  expect(relay.calls).not.toContain('on')
})

describe('a camera that gateway.yaml lists and nothing reports', () => {
  test.each([
    ['of the eye, which does not look at it', 'cameras: { shed: { url: "http://127.0.0.1:9/" } }'],
    ['of no source', 'cameras: { shed: {} }'],
  ])('%s keeps from afar off', async (_what, listed) => {
    const device = await open(`${listed}\n${fileOf(await frigateOf({ gate: {} }))}`)
    await expect.poll(() => device.sources.watch().cameras.get('gate'), { timeout: 30_000 }).toBe('looking')
    const answer = await device.deterrents.fire({ deterrent: 'valve', by: HUB })
    expect(answer).toMatchObject({
      refused: 'not_watched',
      message: expect.stringContaining('(shed: no source has it)'),
    })
    await device.stop()
    const withoutSources = await open(`${listed}\n${fileOf({ url: '' }).replace(/sources:.*\n/, '')}`)
    expect(await outcome(withoutSources)).toBe('not_watched')
  })
})

describe('a camera of a program', () => {
  const api = (more = '') =>
    `${more}\n${fileOf({ url: '' }).replace(/frigate: .*? }/, 'api: { loopbackNeedsToken: false }')}`
  const boar = {
    id: 'b',
    camera: 'Yard',
    label: 'boar',
    severity: 'alert',
    score: 1,
    startedAt: new Date().toISOString(),
  } as const

  test.each<[string, (device: Device) => unknown]>([
    ['a status', (device) => device.setProgramStatus({ cameras: [{ name: 'Yard', state: 'online', fps: 1 }] })],
    ['a detection', (device) => device.reportOfProgram([{ ...boar, source: 'api' }])],
  ])('looks after %s, and not after a restart, until the program is heard again', async (_what, speak) => {
    const device = await open(api())
    await speak(device)
    expect(await outcome(device)).toBe('fired')
    await device.stop()
    const again = await open(api())
    expect(await outcome(again)).toBe('not_watched')
    await speak(again)
    expect(await outcome(again)).toBe('fired')
    await writeFile(path, api('cameras: { yard: {}, pond: {} }'))
    await again.file.look()
    const answer = await again.deterrents.fire({ deterrent: 'valve', by: HUB })
    expect(answer).toMatchObject({ message: expect.stringContaining('(pond: no program has said') })
  })
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
        /^FILE:5:\d+: deterrents\.valve\.watchedBy\.0: There is no camera Gate; the nearest is gate\.$/,
      ),
      expect.stringMatching(/^FILE:5:\d+: deterrents\.valve\.watchedBy\.1: Nothing looks for persons on yard\.$/),
      'FILE:6:46: rules.0.cameras.0: There is no camera gat; the nearest is gate.',
      'FILE:6:29: warning: rules.0.labels.0: No source has reported the label boer yet; the nearest is boar.',
    ])
    expect(await check(fileOf(frigate, ', watchedBy: [gate]', rule.replace('gat]', 'gate]')))).toEqual([
      false,
      'FILE:6:29: rules.0.labels.0: There is no label boer; the nearest is boar.',
    ])
    expect(await check(fileOf(frigate, ', watchedBy: [gate]'))).toEqual([true, 'FILE: no errors.'])
  })

  test('says which names it could not check while Frigate does not answer', async () => {
    const frigate = await frigateOf({ gate: {} })
    await frigate.stop()
    expect(await check(fileOf(frigate, ', watchedBy: [gate]'))).toEqual([
      true,
      'FILE: no errors.',
      'FILE:5:49: warning: deterrents.valve.watchedBy.0: Frigate has not said whether it has the camera gate.',
    ])
  })

  test('warns about a deterrent that no camera watches', async () => {
    const valve = `deterrents:
  { valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" } } }`
    expect(await check(valve)).toEqual([
      true,
      'FILE: no errors.',
      'FILE:2:5: warning: deterrents.valve: No camera watches valve: it fires whether a person is there or not.',
    ])
    const empty = fileOf(await frigateOf({ gate: {} }), ', watchedBy: []')
    expect(await check(empty)).toContain(
      'FILE:4:3: warning: deterrents.valve: No camera watches valve: it fires whether a person is there or not.',
    )
  })
})

test('marks what begins while its camera is snoozed, and believes no mark of a program', async () => {
  const device = await open(`sources: { api: {} }
deterrents:
  valve: { driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" } }
`)
  const seen = (id: string, camera: string) => ({
    id,
    camera,
    label: 'boar',
    severity: 'alert' as const,
    score: 0.9,
    startedAt: new Date().toISOString(),
  })
  const marks = () => ['a', 'b', 'c'].map((id) => device.record.find(id)?.snoozed)
  await device.deterrents.snooze(HUB, { kind: 'snooze', camera: 'gate', lasts: '2h' })
  await device.reportOfProgram([seen('a', 'Gate'), { ...seen('b', 'yard'), snoozed: true }])
  expect(marks()).toEqual([true, undefined, undefined])
  await device.deterrents.endSnooze(HUB, { kind: 'snooze', camera: 'gate' })
  await device.reportOfProgram([{ ...seen('a', 'Gate'), score: 0.95 }, seen('c', 'gate')])
  expect(marks()).toEqual([true, undefined, undefined])
  const sent = (await device.queue.oldest())?.detections.map(({ id, snoozed = false }) => `${id} ${snoozed}`)
  expect(sent).toEqual(['a true', 'b false', 'a true', 'c false'])
})
