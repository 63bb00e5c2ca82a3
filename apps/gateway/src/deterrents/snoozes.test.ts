import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SNOOZES_MAX, type SnoozeOrder } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../testing/relay.ts'
import { openDeterrents, type Deterrents } from './deterrents.ts'
import { createInterlock } from './interlock.ts'
import { savedState, type Instant, type SavedState } from './saved-state.ts'
import { deterrentsSettings } from './schema.ts'

const ROSA = { kind: 'person', name: 'rosa', via: 'hub' } as const
const ruleOn = (camera: string) => ({
  kind: 'rule' as const,
  rule: 'Boar',
  detectionId: 'd1',
  cameras: [camera],
  watchers: [camera],
  aboutPersons: false,
  camera,
})
const everything = (lasts: SnoozeOrder['lasts'] = '2h'): SnoozeOrder => ({ kind: 'snooze', lasts })
const gate: SnoozeOrder = { kind: 'snooze', camera: 'gate', lasts: '30m' }

const START = Date.parse('2026-05-01T20:00:00Z')
const at = (seconds: number, wallJump = 0): Instant => ({
  mono: 1_000_000 + seconds * 1_000,
  wall: START + (seconds + wallJump) * 1_000,
})

describe('the interlock', () => {
  function open(options: { saved?: SavedState; boot?: string; now?: Instant } = {}) {
    const { saved, boot = 'a', now = at(0) } = options
    const urls = { on: { url: 'http://valve/on' }, off: { url: 'http://valve/off' } }
    const interlock = createInterlock({
      settings: deterrentsSettings.parse({ valve: { driver: 'http', ...urls, seconds: 10 } }),
      place: { timeZone: 'Europe/Berlin' },
      saved: saved && savedState.parse(JSON.parse(JSON.stringify(saved))),
      boot,
      now,
      newId: () => 'f1',
      watch: () => ({
        cameras: new Map([
          ['gate', 'looking'],
          ['yard', 'looking'],
        ]),
        isComplete: true,
      }),
    })
    interlock.guarded()
    interlock.off(interlock.units()[0]!.id, undefined, 'off', now)
    return interlock
  }
  type Interlock = ReturnType<typeof open>
  const entriesOf = (outputs: readonly { do: string }[] = []) =>
    outputs.flatMap((output) => ('entry' in output ? [output.entry as { kind: string }] : []))
  const refusedTo = (interlock: Interlock, by: Parameters<Interlock['request']>[0]['by'], now: Instant) => {
    const [answer] = interlock.request({ deterrent: 'valve', by }, now).outputs
    return answer?.do === 'answer' && 'refused' in answer.answer ? answer.answer.refused : undefined
  }

  test('a snoozed gateway fires for nobody, and ends its snooze by itself', () => {
    const interlock = open()
    expect(entriesOf(interlock.snooze(ROSA, at(0), everything()))).toEqual([
      expect.objectContaining({ kind: 'snoozed', by: ROSA, until: START + 7_200_000 }),
    ])
    expect(interlock.nextDeadline()).toBe(at(7_200).mono)
    expect([refusedTo(interlock, ROSA, at(1)), refusedTo(interlock, ruleOn('gate'), at(1))]).toEqual([
      'snoozed',
      'snoozed',
    ])
    expect([interlock.isArmed(), interlock.isSnoozed('gate'), interlock.disarmed()]).toEqual([false, true, undefined])
    interlock.tick(at(7_199))
    expect(interlock.isSnoozed('gate')).toBe(true)
    expect(entriesOf(interlock.tick(at(7_200)))).toMatchObject([{ kind: 'snooze-ended' }])
    expect([interlock.isArmed(), interlock.isSnoozed('gate')]).toEqual([true, false])
    expect(refusedTo(interlock, ROSA, at(7_201))).toBeUndefined()
  })

  test('a snoozed camera sets nothing off, others and people do; names are compared as everywhere', () => {
    const interlock = open()
    interlock.snooze(ROSA, at(0), { ...gate, camera: 'Gate' })
    expect(refusedTo(interlock, ruleOn('gate'), at(1))).toBe('snoozed')
    expect([interlock.isArmed(), interlock.isSnoozed('gate'), interlock.isSnoozed('yard')]).toEqual([true, true, false])
    expect(refusedTo(interlock, ruleOn('yard'), at(1))).toBeUndefined()
  })

  test('it ends what the camera has set off, and nothing else', () => {
    const firing = (camera: string) => {
      const interlock = open()
      interlock.request({ deterrent: 'valve', by: ruleOn(camera) }, at(0))
      interlock.written(99, at(0))
      interlock.on('f1', 'on', at(0))
      return interlock.snooze(ROSA, at(1), gate)!.map((output) => output.do)
    }
    expect(firing('gate')).toContain('switch-off')
    expect(firing('yard')).not.toContain('switch-off')
  })

  test('until morning is until seven at its place, and a number is seconds', () => {
    const interlock = open()
    interlock.snooze(ROSA, at(0), everything('morning'))
    interlock.snooze(ROSA, at(0), { ...gate, lasts: 86_400 * 30 })
    expect(interlock.snoozes().map(({ camera, until }) => [camera, new Date(until).toISOString()])).toEqual([
      [null, '2026-05-02T05:00:00.000Z'],
      ['gate', '2026-05-31T20:00:00.000Z'],
    ])
  })

  test.each([
    ['a restart of the agent', 'a', at(600), 1_800],
    ['a reboot', 'b', { mono: 5_000, wall: at(600).wall }, 1_800],
    // Without the time it cannot know how long it was off: it waits the whole time again.
    ['a reboot without the time', 'b', { mono: 5_000, wall: 0 }, 2_400],
  ])('the end survives %s', (_what, boot, now, ends) => {
    const before = open()
    before.snooze(ROSA, at(0), gate)
    before.snooze(ROSA, at(0), everything('30m'))
    const after = open({ saved: before.saved(at(1)), boot, now })
    expect(after.disarmed()).toBeUndefined()
    const later = (seconds: number) => ({ mono: now.mono + seconds * 1_000, wall: now.wall + seconds * 1_000 })
    after.tick(later(ends - 600 - 2))
    expect([after.isArmed(), after.snoozes().length]).toEqual([false, 2])
    after.tick(later(ends - 600 + 1))
    expect([after.isArmed(), after.snoozes()]).toEqual([true, []])
  })

  test('a clock that is set neither ends nor prolongs it', () => {
    const interlock = open()
    interlock.snooze(ROSA, at(0), gate)
    interlock.tick(at(10, 86_400))
    expect(interlock.snoozes()[0]!.until).toBe(START + (86_400 + 1_800) * 1_000)
    interlock.tick(at(20, -86_400))
    interlock.tick(at(1_799, -86_400))
    expect(interlock.isSnoozed('gate')).toBe(true)
    interlock.tick(at(1_800, -86_400))
    expect(interlock.isSnoozed('gate')).toBe(false)
  })

  test('the later one of the same scope counts; ending one leaves the others', () => {
    const interlock = open()
    interlock.snooze(ROSA, at(0), gate)
    interlock.snooze(ROSA, at(0), { ...gate, lasts: 60 })
    interlock.snooze(ROSA, at(0), everything())
    interlock.snooze(ROSA, at(0), { kind: 'maintenance', lasts: '2h' })
    expect(interlock.snoozes()).toHaveLength(3)
    expect(entriesOf(interlock.endSnooze(ROSA, at(1), { kind: 'snooze' }))).toMatchObject([
      { kind: 'snooze-ended', by: ROSA },
    ])
    expect(interlock.snoozes().map(({ kind, camera }) => [kind, camera])).toEqual([
      ['snooze', 'gate'],
      ['maintenance', null],
    ])
    expect(interlock.endSnooze(ROSA, at(2), { kind: 'snooze' })).toEqual([])
  })

  test('to end a snooze does not arm a disarmed device; to arm ends snoozes of everything', () => {
    const interlock = open()
    interlock.disarm(ROSA, at(0))
    interlock.snooze(ROSA, at(0), everything())
    interlock.endSnooze(ROSA, at(1), { kind: 'snooze' })
    expect(refusedTo(interlock, ROSA, at(1))).toBe('disarmed')
    interlock.snooze(ROSA, at(2), everything())
    interlock.snooze(ROSA, at(2), gate)
    interlock.arm(ROSA, at(3))
    expect([interlock.isArmed(), interlock.snoozes().length]).toEqual([true, 1])
  })

  test('an older agent that reads the state of a snoozed device is disarmed, and armed again at the end', () => {
    const interlock = open()
    interlock.snooze(ROSA, at(0), everything())
    expect(interlock.saved(at(1))).toMatchObject({ armed: false, disarmed: { by: ROSA, seconds: 7_200 } })
  })

  test('there is a limit, and the one that is there may still be changed', () => {
    const interlock = open()
    for (let i = 0; i < SNOOZES_MAX; i++) interlock.snooze(ROSA, at(0), { ...gate, camera: `c${i}` })
    expect(interlock.snooze(ROSA, at(0), gate)).toBeUndefined()
    expect(interlock.snooze(ROSA, at(0), { ...gate, camera: 'c3' })).toBeDefined()
    expect(interlock.snoozes()).toHaveLength(SNOOZES_MAX)
  })
})

describe('a device', () => {
  let dataDir: string
  let relay: Relay
  let deterrents: Deterrents | undefined
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'snoozes-'))
    relay = await startRelay()
  })
  afterEach(async () => {
    await deterrents?.[Symbol.asyncDispose]()
    deterrents = undefined
    await relay.stop()
    await rm(dataDir, { recursive: true })
  })

  async function open(): Promise<Deterrents> {
    const urls = { on: { url: relay.onUrl }, off: { url: relay.offUrl } }
    deterrents = await openDeterrents({
      dataDir,
      settings: deterrentsSettings.parse({
        sprinkler: { driver: 'http', ...urls, seconds: 600, secondsAnHour: 3_600, coolDownSeconds: 0 },
      }),
      place: {},
      log: pino({ level: 'silent' }),
      watch: () => ({ cameras: new Map([['gate', 'looking']]), isComplete: true }),
    })
    await expect.poll(() => deterrents!.list()[0]!.state).toBe('ready')
    return deterrents
  }

  test('a snooze ends a firing at once, holds after a restart, and is in the ledger', async () => {
    const running = await open()
    await running.fire({ deterrent: 'sprinkler', by: ROSA })
    expect(relay.isOn()).toBe(true)
    expect(await running.snooze(ROSA, everything())).toBe(true)
    expect(relay.isOn()).toBe(false)
    await running.snooze(ROSA, gate)
    await running[Symbol.asyncDispose]()
    const again = await open()
    expect(again.snoozes()).toMatchObject([
      { camera: null, by: 'rosa' },
      { camera: 'gate', by: 'rosa' },
    ])
    expect(await again.fire({ deterrent: 'sprinkler', by: ROSA })).toMatchObject({ refused: 'snoozed' })
    expect(await again.endSnooze(ROSA, { kind: 'snooze' })).toBe(true)
    expect(await again.fire({ deterrent: 'sprinkler', by: ruleOn('gate') })).toMatchObject({ refused: 'snoozed' })
    expect(await again.endSnooze(ROSA, gate)).toBe(true)
    expect(await again.endSnooze(ROSA, gate)).toBe(false)
    expect(await again.fire({ deterrent: 'sprinkler', by: ruleOn('gate') })).toMatchObject({ firing: { seconds: 600 } })
    await again[Symbol.asyncDispose]()
    const last = await open()
    expect(last.snoozes()).toEqual([])
    const kinds = async () => (await last.ledger({ limit: 20 })).map(({ kind }) => kind)
    await expect.poll(kinds).toEqual(expect.arrayContaining(['snoozed', 'snooze-ended', 'snoozed', 'refused']))
  })
})
