/** Hostile callers get only what gateway.yaml allows. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../testing/relay.ts'
import { openDeterrents, type Deterrents } from './deterrents.ts'
import { deterrentsSettings } from './schema.ts'

const HUB = { kind: 'person', name: 'Mallory', via: 'hub' } as const
const RULE = {
  kind: 'rule',
  rule: 'Loop',
  detectionId: 'd',
  cameras: ['orchard'],
  watchers: ['orchard'],
  aboutPersons: false,
} as const

/** All cameras look. */
const watch = () => ({
  cameras: new Map([
    ['orchard', 'looking'],
    ['gate', 'looking'],
  ] as const),
  isComplete: true,
})

let dataDir: string
let relay: Relay
let deterrents: Deterrents
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'abuse-'))
  relay = await startRelay()
})
afterEach(async () => {
  await deterrents[Symbol.asyncDispose]()
  await relay.stop()
  await rm(dataDir, { recursive: true })
})

async function open(changes: object): Promise<void> {
  const sprinkler = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, ...changes }
  const settings = deterrentsSettings.parse({ sprinkler })
  deterrents = await openDeterrents({ dataDir, settings, place: {}, log: pino({ level: 'silent' }), watch })
  await ready()
}

const ready = () => expect.poll(() => deterrents.list().map(({ state }) => state)).toEqual(['ready'])
const codeOf = (answer: Awaited<ReturnType<Deterrents['fire']>>) => ('refused' in answer ? answer.refused : 'fired')
const timesOn = () => relay.calls.filter((call) => call === 'on').length

test('a rule that fires in a loop fires once, and its refusals take a few lines of the ledger', async () => {
  await open({ seconds: 1, coolDownSeconds: 600 })
  const answers = await Promise.all(
    Array.from({ length: 2_000 }, () => deterrents.fire({ deterrent: 'sprinkler', by: RULE })),
  )
  expect(answers.filter((answer) => 'firing' in answer)).toHaveLength(1)
  await ready()
  for (let count = 0; count < 2_000; count++)
    expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: RULE }))).toBe('cool_down')
  expect(timesOn()).toBe(1)
  const entries = await deterrents.ledger({ limit: 100 })
  expect(entries.length).toBeLessThan(10)
  const why = 'It fired a moment ago, and its pause is not over.'
  expect(entries.filter(({ kind }) => kind === 'refused').map(({ message }) => message)).toContain(why)
})

test('a compromised hub gets no length, no name and no firing beyond the file', async () => {
  await open({ seconds: 1, maximumSeconds: 2, coolDownSeconds: 0, secondsAnHour: 3 })
  for (const seconds of [3, 1_801, 1e9, Number.NaN, Infinity, -1, 0, 1.5, '1; reboot' as unknown as number])
    expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', seconds, by: HUB }))).toBe('too_long')
  for (const deterrent of ['__proto__', 'constructor', 'toString', '', 'sprinkler\n{}', '../sprinkler'])
    expect(codeOf(await deterrents.fire({ deterrent, by: HUB }))).toBe('unknown_deterrent')
  expect(timesOn()).toBe(0)
  const codes = new Set<string>()
  while (!codes.has('hour_budget')) {
    codes.add(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: HUB })))
    await ready()
  }
  expect(timesOn()).toBeLessThanOrEqual(3)
  expect([...codes].toSorted()).toEqual(['fired', 'hour_budget'])
})

test('a hub cannot fire while a camera of the deterrent sees a person; somebody at the device can', async () => {
  await open({ seconds: 1, coolDownSeconds: 0, watchedBy: ['gate'] })
  deterrents.personSeen('gate')
  expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: HUB }))).toBe('person_near')
  expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: { kind: 'program' } }))).toBe('person_near')
  expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: { ...HUB, via: 'device' } }))).toBe('fired')
})

test('a person who walks into a firing of a rule ends it', async () => {
  await open({ seconds: 600, secondsAnHour: 3_600, watchedBy: ['orchard'] })
  expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: RULE }))).toBe('fired')
  deterrents.personSeen('gate')
  expect(relay.isOn()).toBe(true)
  deterrents.personSeen('orchard')
  await expect.poll(relay.isOn).toBe(false)
})

test('nobody fires in quiet hours', async () => {
  await open({ quietHours: '00:00-24:00' })
  for (const by of [HUB, RULE, { ...HUB, via: 'device' } as const, { kind: 'program' } as const])
    expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by }))).toBe('quiet_hours')
})

test('stop, arm and disarm in a loop take a few lines and leave it off', async () => {
  await open({ seconds: 1, coolDownSeconds: 0 })
  await Promise.all(Array.from({ length: 500 }, () => deterrents.stop(undefined, HUB)))
  await deterrents.disarm(HUB)
  await Promise.all(Array.from({ length: 500 }, () => deterrents.disarm(HUB)))
  expect((await deterrents.ledger({ limit: 100 })).length).toBeLessThan(10)
  expect(timesOn()).toBe(0)
})

test('secrets of a deterrent are in no entry, even if the device repeats them', async () => {
  const secret = 'tell-nobody-4711'
  const on = { url: `${relay.onUrl}?key=${secret}`, headers: { Authorization: `Bearer ${secret}` } }
  relay.repeat(`welcome, ${secret}`)
  await open({ on, seconds: 1 })
  expect(codeOf(await deterrents.fire({ deterrent: 'sprinkler', by: HUB }))).toBe('fired')
  await expect.poll(async () => (await deterrents.ledger({ limit: 9 })).map(({ kind }) => kind)).toContain('fired')
  const folder = join(dataDir, 'deterrents', 'ledger')
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  expect(texts.join('')).toContain('welcome, •••')
  expect(texts.join('')).not.toContain(secret)
})
