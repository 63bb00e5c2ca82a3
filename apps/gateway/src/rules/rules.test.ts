import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startRelay, type Relay } from '../../testing/relay.ts'
import type { DetectionFiring } from '../detections/intake.ts'
import { openDeterrents, type Deterrents } from '../deterrents/deterrents.ts'
import { deterrentsSettings } from '../deterrents/schema.ts'
import { createRules, type Rules } from './rules.ts'
import { rulesSettings } from './schema.ts'

const log = pino({ level: 'silent' })
const SITE = { latitude: 52.1, longitude: 9.3, timeZone: 'Europe/Berlin' }

const TEST = { kind: 'program' } as const

/** One for the file: their supervisor is a process, which takes longer to start than a test does. */
let deterrents: Deterrents
let dataDir: string
let relays: Record<'sprinkler' | 'siren', Relay>
let rules: Rules | undefined
let now: number
let cameras: string[]
let firings: DetectionFiring[]
let recorded: Set<string>

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-rules-'))
  relays = { sprinkler: await startRelay(), siren: await startRelay() }
  const relay = ({ onUrl, offUrl }: Relay) => ({
    driver: 'http',
    on: { url: onUrl },
    off: { url: offUrl },
    seconds: 1,
    maximumSeconds: 20,
    coolDownSeconds: 0,
    watchedBy: [],
  })
  const watch = () => ({ cameras: new Map(), isComplete: true })
  const settings = deterrentsSettings.parse({ sprinkler: relay(relays.sprinkler), siren: relay(relays.siren) })
  deterrents = await openDeterrents({ dataDir, settings, place: SITE, log, watch })
})

beforeEach(async () => {
  now = Date.parse('2026-05-01T21:00:00+02:00')
  cameras = ['orchard', 'gate']
  firings = []
  recorded = new Set()
  await deterrents.arm(TEST)
  await vi.waitFor(() => assert(deterrents.list().every(({ state }) => state === 'ready')), { timeout: 30_000 })
  for (const { calls } of Object.values(relays)) calls.length = 0
})

afterEach(async () => {
  rules?.stop()
  // One that is idle would be switched off too, and the next test could not fire it meanwhile.
  for (const { name, state } of deterrents.list()) if (state === 'active') await deterrents.stop(name, TEST)
})

afterAll(async () => {
  await deterrents[Symbol.asyncDispose]()
  await Promise.all(Object.values(relays).map((relay) => relay.stop()))
  await rm(dataDir, { recursive: true })
})

/** The rules of one run; the record of their requests outlives it. */
function start(wanted: object, random?: () => number): Rules {
  rules?.stop()
  const file = {
    rules: rulesSettings.parse([{ name: 'Boar', labels: ['boar'], fire: ['sprinkler'], ...wanted }]),
    site: SITE,
    deterrents: { sprinkler: { seconds: 1 }, siren: { seconds: 1 } },
  }
  rules = createRules({
    file: () => file,
    deterrents,
    cameras: () => cameras,
    markAsked(rule, id) {
      const isNew = !recorded.has(`${rule} ${id}`)
      recorded.add(`${rule} ${id}`)
      return isNew
    },
    onFiring: (_id, firing) => firings.push(firing),
    log,
    clock: () => now,
    ...(random && { random }),
  })
  return rules
}

function boar(more: Partial<Detection> = {}): Detection {
  const startedAt = new Date(now).toISOString()
  return { id: 'b1', camera: cameras[0]!, label: 'boar', severity: 'alert', score: 0.8, startedAt, ...more }
}

const outcomes = () => firings.map(({ deterrent, outcome }) => `${deterrent} ${outcome}`)
const fires = (count: number) => relays.sprinkler.calls.filter((call) => call === 'on').length === count

test('a detection that matches fires the deterrent, once, whatever updates follow', async () => {
  const running = start({})
  running.see(boar())
  for (const score of [0.81, 0.9, 0.99]) running.see(boar({ score }))
  await expect.poll(outcomes).toEqual(['sprinkler fired'])
  expect(firings[0]).toMatchObject({ seconds: 1, at: new Date(now).toISOString() })
  await expect.poll(() => deterrents.list()[0]!.state).toBe('ready')
  running.see(boar({ score: 1 }))
  start({}).see(boar({ score: 1 }))
  expect(fires(1)).toBe(true)
  expect(outcomes()).toHaveLength(1)
})

test('an update may fire when the first report did not', async () => {
  const running = start({ minimumScore: 0.7, zones: ['rows'], verdict: 'confirmed' })
  const confirmed = { stage: 'second look', by: 'model', outcome: 'confirmed' } as const
  running.see(boar({ score: 0.6 }))
  running.see(boar({ score: 0.9 }))
  running.see(boar({ score: 0.9, zone: 'rows' }))
  expect(relays.sprinkler.isOn()).toBe(false)
  running.see(boar({ score: 0.9, zone: 'rows', verdicts: [confirmed] }))
  await expect.poll(outcomes).toEqual(['sprinkler fired'])
})

test.each<[string, object, Partial<Detection>]>([
  ['another label', {}, { label: 'deer' }],
  [
    'motion, which no label but its own means',
    { labels: ['boar', 'any', 'all', '*', 'animal', 'mot*'] },
    { label: 'motion' },
  ],
  ['another camera', { cameras: ['gate'] }, {}],
  ['another zone', { zones: ['rows'] }, { zone: 'path' }],
  ['a rejection by a later stage', {}, { verdicts: [{ stage: 'second look', by: 'model', outcome: 'rejected' }] }],
  ['a false positive', {}, { falsePositive: true }],
  ['other hours', { hours: '22:00-06:00' }, {}],
  ['a rule that is not enabled', { enabled: false }, {}],
  ['what began long ago', {}, { startedAt: '2026-05-01T18:45:00.000Z' }],
  ['what has ended', {}, { startedAt: '2026-05-01T18:58:00.000Z', endedAt: '2026-05-01T18:59:00.000Z' }],
])('%s fires nothing', async (_what, wanted, seen) => {
  const running = start(wanted)
  running.see(boar(seen))
  // When the control rule fires, the report before it was decided.
  const control = start({ name: 'Control', labels: ['control'], fire: ['siren'] })
  control.see(boar({ id: 'control', label: 'control' }))
  await expect.poll(outcomes).toEqual(['siren fired'])
  expect(relays.sprinkler.calls).not.toContain('on')
})

test('a rule that names motion fires at it', async () => {
  start({ labels: ['boar', 'Motion'] }).see(boar({ label: 'motion', severity: 'detection', score: 1 }))
  await expect.poll(outcomes).toEqual(['sprinkler fired'])
})

describe('a person', () => {
  let visits = 0
  let orchard: string
  let gate: string
  // Deterrents remember a person on a camera for a minute.
  beforeEach(() => {
    visits += 1
    cameras = [orchard, gate] = [`orchard ${visits}`, `gate ${visits}`]
  })

  test('on a camera of the rule blocks it, and is told as the reason', async () => {
    const running = start({ cameras: [orchard, gate] })
    running.see(boar({ id: 'p1', label: 'person', camera: gate }))
    running.see(boar())
    await expect.poll(outcomes).toEqual(['sprinkler refused'])
    expect(firings[0]!.reason).toMatch(/person/)
  })

  test('on any camera blocks a rule that names none', async () => {
    const running = start({})
    running.see(boar({ id: 'p1', label: 'Person', camera: gate }))
    running.see(boar())
    await expect.poll(outcomes).toEqual(['sprinkler refused'])
  })

  test('on another camera does not', async () => {
    const running = start({ cameras: [orchard] })
    running.see(boar({ id: 'p1', label: 'person', camera: gate }))
    running.see(boar())
    await expect.poll(outcomes).toEqual(['sprinkler fired'])
  })

  test('does not block a rule about persons', async () => {
    const running = start({ labels: ['person'], aboutPersons: true })
    running.see(boar({ label: 'person' }))
    await expect.poll(outcomes).toEqual(['sprinkler fired'])
  })
})

test('a refused firing is tried again with an update a minute later, not sooner', async () => {
  const running = start({})
  await deterrents.disarm(TEST)
  running.see(boar())
  await expect.poll(outcomes).toEqual(['sprinkler refused'])
  await deterrents.arm(TEST)
  // The "off" of the disarming has priority over "on" as long as it is under way.
  for (const deterrent of ['sprinkler', 'siren'])
    await expect.poll(() => deterrents.fire({ deterrent, seconds: 20, by: TEST })).toHaveProperty('firing')
  await deterrents.stop(undefined, TEST)
  await expect.poll(() => deterrents.list().map(({ state }) => state)).toEqual(['ready', 'ready'])
  running.see(boar())
  now += 61_000
  running.see(boar())
  await expect.poll(outcomes).toEqual(['sprinkler refused', 'sprinkler fired'])
})

test('a rule that chooses one does so by chance, within the bounds of its length, and reports it', async () => {
  const running = start({ fire: ['sprinkler', 'siren'], choose: 'one', seconds: [1, 3] }, () => 0.99)
  const chosen: string[] = []
  for (const id of ['a', 'b', 'c']) {
    running.see(boar({ id }))
    await expect.poll(() => firings.length).toBe(chosen.length + 1)
    const { deterrent, seconds, outcome } = firings.at(-1)!
    expect([outcome, seconds]).toEqual(['fired', 3])
    chosen.push(deterrent)
    await deterrents.stop(deterrent, TEST)
  }
  expect(chosen).toEqual(['siren', 'sprinkler', 'siren'])
  const entries = await deterrents.ledger({ limit: 20 })
  expect(entries.filter(({ kind }) => kind === 'fired').map(({ by }) => by)).toContainEqual(
    expect.objectContaining({ rule: 'Boar', chose: 'siren for 3 s' }),
  )
})

test('a program that reports in a loop is held, the ledger stays short, and the device reports it', async () => {
  const running = start({})
  const before = (await deterrents.ledger({ limit: 1 }))[0]?.id ?? 0
  for (let index = 0; index < 5_000; index++) running.see(boar({ id: `loop-${index}` }))
  await expect.poll(() => outcomes().length).toBe(20)
  expect(outcomes().filter((outcome) => outcome === 'sprinkler fired')).toHaveLength(1)
  expect(running.problems()).toEqual([expect.stringContaining('The rule Boar is held')])
  expect((await deterrents.ledgerAfter(before, 500)).length).toBeLessThan(60)
  now += 601_000
  running.see(boar({ id: 'later' }))
  await expect.poll(() => outcomes().length).toBe(21)
  expect(running.problems()).toEqual([])
})
