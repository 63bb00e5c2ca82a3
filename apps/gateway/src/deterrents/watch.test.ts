/** Water fires only while somebody can look whether a person is there. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../testing/relay.ts'
import { openDeterrents, type Deterrents } from './deterrents.ts'
import { deterrentsSettings } from './schema.ts'
import type { CameraState, Watch } from './watch.ts'

const HUB = { kind: 'person', name: 'Rosa', via: 'hub' } as const
const HERE = { ...HUB, via: 'device' } as const
const PROGRAM = { kind: 'program' } as const
const RULE = {
  kind: 'rule',
  rule: 'Boar',
  detectionId: 'd',
  cameras: ['gate'],
  watchers: ['gate'],
  aboutPersons: false,
} as const
const FROM_AFAR = [HUB, PROGRAM, RULE]

let dataDir: string
let relay: Relay
let deterrents: Deterrents
let cameras: Record<string, CameraState>
let isComplete: boolean
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'watch-'))
  relay = await startRelay()
  cameras = { gate: 'looking', barn: 'looking' }
  isComplete = true
})
afterEach(async () => {
  await deterrents[Symbol.asyncDispose]()
  await relay.stop()
  await rm(dataDir, { recursive: true })
})

async function open(watchedBy?: string[]): Promise<void> {
  const limits = { seconds: 600, secondsAnHour: 3_600, coolDownSeconds: 0, ...(watchedBy && { watchedBy }) }
  const valve = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, ...limits }
  deterrents = await openDeterrents({
    dataDir,
    settings: deterrentsSettings.parse({ valve }),
    place: {},
    log: pino({ level: 'silent' }),
    watch: (): Watch => ({ cameras: new Map(Object.entries(cameras)), isComplete }),
  })
  await ready()
}

const ready = () => expect.poll(() => deterrents.list().map(({ state }) => state)).toEqual(['ready'])

/** Fires and stops. */
async function outcome(by: Parameters<Deterrents['stop']>[1]): Promise<string> {
  const answer = await deterrents.fire({ deterrent: 'valve', by })
  if ('refused' in answer) return `${answer.refused}: ${answer.message}`
  await deterrents.stop('valve', by)
  await ready()
  return 'fired'
}

describe('without watchedBy, all cameras of the device watch', () => {
  test('a person on any of them blocks everybody who is not at the device', async () => {
    await open()
    deterrents.personSeen('barn')
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(/^person_near/)
    expect(relay.calls).not.toContain('on')
    expect(await outcome(HERE)).toBe('fired')
    expect(await outcome({ ...RULE, aboutPersons: true })).toBe('fired')
  })

  test('one that gives no picture blocks, and one that is switched off does not', async () => {
    await open()
    cameras = { gate: 'looking', barn: 'dark' }
    for (const by of [HUB, PROGRAM])
      expect(await outcome(by)).toBe('not_watched: A camera that watches it does not look for persons now. (barn)')
    cameras = { gate: 'looking', barn: 'off' }
    expect(await outcome(HUB)).toBe('fired')
    cameras = { gate: 'off', barn: 'off' }
    expect(await outcome(HUB)).toMatch(/^not_watched: .*\(gate: it is switched off\)/)
  })

  test.each([
    ['silent', 'barn: no program has said for two minutes that it looks'],
    ['missing', 'barn: no source has it'],
  ] as const)('one that is %s blocks, and the refusal says why', async (state, why) => {
    await open()
    cameras = { gate: 'looking', barn: state }
    for (const by of [HUB, PROGRAM]) expect(await outcome(by)).toMatch(`does not look for persons now. (${why})`)
  })

  test('a rule fires while its own cameras look, whatever others do, and not with a person on any', async () => {
    await open()
    cameras = { gate: 'looking', barn: 'dark', yard: 'looking' }
    isComplete = false
    expect(await outcome(RULE)).toBe('fired')
    expect(await outcome({ ...RULE, watchers: ['Gate', 'barn'] })).toMatch(/^not_watched: .*\(barn\)/)
    isComplete = true
    expect(await outcome({ ...RULE, watchers: ['gate', 'garden'] })).toMatch(/^watcher_unknown: /)
    deterrents.personSeen('yard')
    expect(await outcome(RULE)).toMatch(/^person_near/)
  })

  test('where no camera of a rule can know persons, all others must look', async () => {
    await open()
    cameras = { gate: 'unable', barn: 'dark' }
    expect(await outcome(RULE)).toMatch(/^not_watched: .*\(barn\)/)
    cameras = { gate: 'off', barn: 'looking' }
    expect(await outcome(RULE)).toBe('fired')
  })

  test('one whose eye knows no persons watches nothing, and blocks where the file names it', async () => {
    await open()
    cameras = { gate: 'unable', barn: 'looking' }
    expect(await outcome(HUB)).toBe('fired')
    cameras = { gate: 'unable', barn: 'dark' }
    expect(await outcome(HUB)).toMatch(/^not_watched: .*\(barn\)/)
  })

  test('a person on its camera blocks, however a program writes the name', async () => {
    await open(['gate'])
    deterrents.personSeen('Gate')
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(/^person_near/)
  })

  test('while Frigate has not said which cameras it has, nothing fires', async () => {
    await open()
    isComplete = false
    for (const by of [HUB, PROGRAM]) expect(await outcome(by)).toMatch(/^not_watched/)
    cameras = {}
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(/^not_watched/)
    expect(relay.calls).not.toContain('on')
  })

  test('a device without cameras fires, and its ledger says that nobody looked', async () => {
    await open()
    cameras = {}
    for (const by of [HUB, PROGRAM]) expect(await outcome(by)).toBe('fired')
    expect(await outcome(RULE)).toMatch(/^watcher_unknown/)
    const fired = async () => (await deterrents.ledger({ limit: 50 })).filter(({ kind }) => kind === 'fired')
    await expect
      .poll(async () => (await fired()).map(({ message }) => message))
      .toEqual(Array(2).fill('No camera looked for persons.'))
  })
})

describe('with watchedBy', () => {
  test.each([['gaet'], ['gate '], ['garden']])('a camera %j that the device does not have blocks', async (name) => {
    await open(['gate', name])
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(/^watcher_unknown: /)
    expect(relay.calls).not.toContain('on')
    expect(await outcome(HERE)).toBe('fired')
  })

  test.each(['dark', 'off'] as const)('a camera of it that is %s blocks; others do not matter', async (state) => {
    await open(['gate'])
    cameras = { gate: 'looking', barn: state }
    deterrents.personSeen('barn')
    expect(await outcome(HUB)).toBe('fired')
    cameras = { gate: state, barn: 'looking' }
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(/^not_watched: .*\(gate(: it is switched off)?\)$/)
  })

  test.each([
    ['gate', 'Gate'],
    ['Gate', 'gate'],
    ['Kuhst\u00e4lle', 'KUHSTA\u0308LLE'],
  ])('%j is the camera %j, for persons and for whether it looks', async (named, reported) => {
    await open([named])
    cameras = { [reported]: 'looking' }
    expect(await outcome(HUB)).toBe('fired')
    cameras = { [named]: 'looking', [reported]: 'dark' }
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(`(${reported})`)
    cameras = { [reported]: 'looking' }
    deterrents.personSeen(reported)
    for (const by of FROM_AFAR) expect(await outcome(by)).toMatch(/^person_near/)
  })

  test('an empty list means that no camera watches, and the ledger says so', async () => {
    await open([])
    cameras = { gate: 'dark' }
    deterrents.personSeen('barn')
    expect(await outcome(HUB)).toBe('fired')
    const messages = async () => (await deterrents.ledger({ limit: 9 })).map(({ message }) => message)
    await expect.poll(messages).toContain('No camera looked for persons.')
  })
})

test('a firing ends when a camera that watches it goes dark', async () => {
  await open(['gate'])
  expect(await deterrents.fire({ deterrent: 'valve', by: HUB })).toHaveProperty('firing')
  expect(relay.isOn()).toBe(true)
  cameras = { gate: 'dark' }
  await expect.poll(relay.isOn, { timeout: 10_000 }).toBe(false)
  const ended = async () => (await deterrents.ledger({ limit: 9 })).find(({ kind }) => kind === 'ended')?.message
  await expect.poll(ended).toMatch(/does not look for persons now/)
})
