import { expect, it } from 'vitest'
import { createInterlock } from './interlock.ts'
import { savedState, type Instant, type SavedState } from './saved-state.ts'
import { deterrentsSettings } from './schema.ts'

const ROSA = { kind: 'person', name: 'rosa', via: 'hub' } as const
const START = Date.parse('2026-05-01T20:00:00Z')
const at = (seconds: number, wallJump = 0): Instant => ({
  mono: 1_000_000 + seconds * 1_000,
  wall: START + (seconds + wallJump) * 1_000,
})

function open(options: { saved?: SavedState; boot?: string; now?: Instant; settings?: object } = {}) {
  const { saved, boot = 'a', now = at(0), settings = {} } = options
  const urls = { on: { url: 'http://valve/on' }, off: { url: 'http://valve/off' } }
  const interlock = createInterlock({
    settings: deterrentsSettings.parse({ valve: { driver: 'http', ...urls, seconds: 10, ...settings } }),
    place: { timeZone: 'Europe/Berlin' },
    // As it comes from the disk.
    saved: saved && savedState.parse(JSON.parse(JSON.stringify(saved))),
    boot,
    now,
    newId: () => 'f1',
    watch: () => ({ cameras: new Map([['gate', 'looking']]), isComplete: true }),
  })
  interlock.guarded()
  interlock.off(interlock.units()[0]!.id, undefined, 'off', now)
  return interlock
}
const kindsOf = (outputs: readonly { do: string }[]) =>
  outputs.flatMap((output) => ('entry' in output ? [(output.entry as { kind: string }).kind] : []))

it('is armed again by itself when the time is over, and says until when', () => {
  const interlock = open()
  interlock.disarm(ROSA, at(0), '30m')
  expect(interlock.disarmed()).toEqual({ by: 'rosa', at: START, until: START + 1_800_000 })
  expect(interlock.nextDeadline()).toBe(at(1_800).mono)
  interlock.tick(at(1_799))
  expect(interlock.isArmed()).toBe(false)
  expect(kindsOf(interlock.tick(at(1_800)))).toEqual(['armed'])
  expect([interlock.isArmed(), interlock.disarmed()]).toEqual([true, undefined])
})

it('until morning is until seven at its place', () => {
  const interlock = open()
  interlock.disarm(ROSA, at(0), 'morning')
  expect(new Date(interlock.disarmed()!.until!).toISOString()).toBe('2026-05-02T05:00:00.000Z')
})

it.each([
  ['a restart of the agent', 'a', at(600), 1_800],
  ['a reboot', 'b', { mono: 5_000, wall: at(600).wall }, 1_800],
  // Without the time it cannot know how long it was off: it waits the whole time again.
  ['a reboot without the time', 'b', { mono: 5_000, wall: 0 }, 2_400],
])('the end survives %s', (_what, boot, now, ends) => {
  const before = open()
  before.disarm(ROSA, at(0), '30m')
  const after = open({ saved: before.saved(at(1)), boot, now })
  const later = (seconds: number) => ({ mono: now.mono + seconds * 1_000, wall: now.wall + seconds * 1_000 })
  after.tick(later(ends - 600 - 2))
  expect(after.isArmed()).toBe(false)
  after.tick(later(ends - 600 + 1))
  expect(after.isArmed()).toBe(true)
})

it('a clock that is set neither ends nor prolongs it', () => {
  const interlock = open()
  interlock.disarm(ROSA, at(0), '1h')
  interlock.tick(at(10, 86_400))
  expect(interlock.isArmed()).toBe(false)
  expect(interlock.disarmed()!.until).toBe(START + (86_400 + 3_600) * 1_000)
  interlock.tick(at(20, -86_400))
  interlock.tick(at(3_600, -86_400))
  expect(interlock.isArmed()).toBe(true)
})

it('a shorter time never ends a longer one, and the same is written once', () => {
  const interlock = open()
  expect(kindsOf(interlock.disarm(ROSA, at(0)))).toEqual(['disarmed'])
  expect(kindsOf(interlock.disarm({ ...ROSA, name: 'sam' }, at(1), '30m'))).toEqual([])
  expect(interlock.disarmed()).toEqual({ by: 'rosa', at: START, until: null })
  interlock.tick(at(100_000))
  expect(interlock.isArmed()).toBe(false)
  interlock.arm(ROSA, at(100_001))
  interlock.disarm(ROSA, at(100_002), '30m')
  expect(kindsOf(interlock.disarm(ROSA, at(100_003), '1h'))).toEqual(['disarmed'])
})

it('an older agent that reads this state stays disarmed', () => {
  const interlock = open()
  interlock.disarm(ROSA, at(0), '1h')
  expect(interlock.saved(at(1))).toMatchObject({ version: 1, armed: false })
})

const blocked = (interlock: ReturnType<typeof open>, now: Instant) => interlock.list(now)[0]!.blocked

it('says why a press would be refused, and until when', () => {
  const interlock = open({ settings: { coolDownSeconds: 12, secondsAnHour: 15 } })
  expect(blocked(interlock, at(0))).toBeUndefined()
  interlock.personSeen('gate', at(0))
  expect(blocked(interlock, at(5))).toEqual({ code: 'person_near', until: at(60).wall })
  interlock.request({ deterrent: 'valve', by: ROSA }, at(60))
  interlock.written(99, at(60))
  interlock.on('f1', 'on', at(60))
  expect([interlock.list(at(61))[0]!.state, blocked(interlock, at(61))]).toEqual(['active', undefined])
  interlock.off(interlock.units()[0]!.id, 'f1', 'off', at(70))
  expect(blocked(interlock, at(71))).toEqual({ code: 'cool_down', until: at(82).wall })
  expect(blocked(interlock, at(90))).toEqual({ code: 'hour_budget', until: at(3_670).wall })
  expect(blocked(interlock, at(3_671))).toBeUndefined()
})

it('says how long its quiet hours and the hours without rules are', () => {
  const inBerlin = (time: string) => Date.parse(`2026-05-02T${time}:00+02:00`)
  const quiet = open({ settings: { quietHours: '21:30-06:00' } })
  expect(blocked(quiet, at(0))).toEqual({ code: 'quiet_hours', until: inBerlin('06:00') })
  const rest = open({ settings: { armed: '23:00-05:00' } })
  expect(blocked(rest, at(0))).toEqual({ code: 'not_armed_now', until: inBerlin('23:00') - 86_400_000 })
  // People may fire it then.
  expect(rest.request({ deterrent: 'valve', by: ROSA }, at(0)).outputs.map((output) => output.do)).toEqual(['save'])
})
