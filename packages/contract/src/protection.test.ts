import { expect, it } from 'vitest'
import { countProtection, isProtected, protectionLine, protectionOf, type KnownToProtect } from './protection.ts'

const gate = { name: 'Gate', state: 'online', fps: 5 } as const
const siren = { name: 'Siren', state: 'ready', secondsLeftThisHour: 600 } as const
const water = { name: 'Water', state: 'ready' } as const
type ReportedHeartbeat = NonNullable<KnownToProtect['heartbeat']>
const state = (change: Partial<ReportedHeartbeat> = {}, isOffline = false) => {
  const known = protectionOf({ isOffline, heartbeat: { armed: true, cameras: [gate], deterrents: [siren], ...change } })
  return [known.state, known.reason]
}
const blockedBy = (code: string) => ({ deterrents: [{ ...siren, blocked: { code, until: null } }] })
const told = (problem: string) => ({ cameraProblems: [{ camera: 'Gate', problem }] })

it.each<[Partial<ReportedHeartbeat>, string, string]>([
  [{}, 'protected', ''],
  [{ deterrents: [] }, 'protected', 'it only watches: no deterrent'],
  [{ armed: false }, 'disarmed', ''],
  [{ armed: false, deterrents: [] }, 'disarmed', ''],
  [{ armed: undefined }, 'unproven', 'it has not told whether it is armed'],
  [{ armed: undefined, deterrents: [] }, 'protected', 'it only watches: no deterrent'],
  [{ cameras: [] }, 'blind', 'no camera watches'],
  [{ cameras: [{ ...gate, state: 'disabled' }] }, 'blind', 'no camera watches'],
  [{ cameras: [gate, { ...gate, name: 'Yard', state: 'disabled' }] }, 'protected', ''],
  [{ cameras: [gate, { ...gate, name: 'Yard', state: 'offline' }] }, 'blind', 'camera Yard is offline'],
  [
    {
      cameras: [
        { ...gate, state: 'frozen' },
        { ...gate, name: 'Yard', state: 'offline' },
      ],
    },
    'blind',
    'camera Gate is frozen, and 1 more',
  ],
  [{ cameras: [{ ...gate, state: 'covered' }] }, 'blind', 'camera Gate is covered'],
  [{ cameras: [{ ...gate, state: 'turned' }] }, 'blind', 'camera Gate was turned'],
  [{ cameras: [{ ...gate, state: 'unfocused' }] }, 'blind', 'camera Gate is out of focus'],
  [told('Camera Gate: its picture is black.'), 'blind', 'Camera Gate: its picture is black.'],
  [
    told('Camera Gate reports nothing, because detect is off.'),
    'blind',
    'Camera Gate reports nothing, because detect is off.',
  ],
  [told('Camera Gate sends 2 of 5 pictures a second.'), 'protected', ''],
  [told('Camera Gate: this device is too slow for 5 pictures a second; some are dropped.'), 'protected', ''],
  [{ deterrents: [siren, { ...water, state: 'fault' }] }, 'blocked', 'Water has a fault'],
  [{ deterrents: [{ ...siren, secondsLeftThisHour: 0 }] }, 'blocked', 'its seconds for this hour are used up'],
  [
    {
      deterrents: [
        { ...siren, state: 'active' },
        { ...water, state: 'active' },
      ],
    },
    'firing',
    'Siren, Water',
  ],
  [{ armed: false, deterrents: [{ ...siren, state: 'active' }] }, 'firing', 'Siren'],
  [{ armed: false, disarmed: { by: 'rosa', at: 0, until: null } }, 'disarmed', 'by rosa'],
  [blockedBy('cool_down'), 'blocked', 'cooling down'],
  [blockedBy('person_near'), 'blocked', 'a person was seen'],
  [blockedBy('quiet_hours'), 'blocked', 'quiet hours'],
  [blockedBy('something_new'), 'blocked', 'it would refuse'],
  [
    { deterrents: [water, { ...siren, secondsLeftThisHour: 0 }] },
    'blocked',
    'Siren: its seconds for this hour are used up',
  ],
  [{ armed: false, ...blockedBy('quiet_hours') }, 'disarmed', ''],
  [{ armed: false, cameras: [], deterrents: [{ ...siren, state: 'fault' }] }, 'disarmed', ''],
])('a gateway with %j is %s: %s', (change, wanted, reason) => {
  expect(state(change)).toEqual([wanted, reason])
})

it('is offline whatever it told before, and unproven with plain WireGuard', () => {
  expect(state({}, true)).toEqual(['offline', 'nothing is heard from it'])
  expect(state({ armed: false, deterrents: [{ ...siren, state: 'active' }] }, true)[0]).toBe('offline')
  expect(protectionOf({ isOffline: true, heartbeat: undefined }).state).toBe('offline')
  expect(protectionOf({ isOffline: false, heartbeat: undefined }).state).toBe('unproven')
})

it('counts states, the worst first, and takes only a firing one as protected too', () => {
  const counted = countProtection(['protected', 'disarmed', 'protected', 'offline', 'firing'])
  expect(counted).toEqual([
    ['offline', 1],
    ['disarmed', 1],
    ['firing', 1],
    ['protected', 2],
  ])
  const isBrief = false
  const safe = counted.filter(([one]) => isProtected({ state: one, isBrief })).map(([one]) => one)
  expect(safe).toEqual(['firing', 'protected'])
  expect(countProtection([])).toEqual([])
})

const NIGHT = Date.parse('2026-05-01T22:00:00Z')
it.each([
  ['blocked', 'Siren: cooling down', 12, 'Blocked: Siren: cooling down, 12 s left'],
  ['blocked', 'Siren: cooling down', -1, 'Blocked: Siren: cooling down'],
  ['blocked', 'Siren: quiet hours', 28_800, 'Blocked: Siren: quiet hours until 08:00'],
  ['blocked', 'Siren: quiet hours', 93_600, 'Blocked: Siren: quiet hours until Sun 02:00'],
  ['firing', 'Siren', 8, 'Firing: Siren, 8 s left'],
  ['disarmed', 'by rosa', 1_800, 'Disarmed by rosa until 00:30'],
  ['disarmed', 'by rosa', null, 'Disarmed by rosa until somebody arms it'],
  ['disarmed', '', null, 'Disarmed until somebody arms it'],
  ['protected', '', null, 'Protected'],
] as const)('%s, %s with %s s left reads as %s', (known, reason, seconds, words) => {
  const until = seconds === null ? null : new Date(NIGHT + seconds * 1_000).toISOString()
  expect(protectionLine({ state: known, reason, until }, NIGHT, 'Europe/Berlin')).toBe(words)
})

it('counts by the clock of the reader, whatever the clock of the device says', () => {
  const active = [{ ...siren, state: 'active' as const, until: 5_000 }]
  const heartbeat = { armed: true, cameras: [gate], deterrents: active }
  expect(protectionOf({ isOffline: false, heartbeat, aheadMs: 60_000 }).until).toBe('1970-01-01T00:01:05.000Z')
})

it('counts a cool-down of seconds as protected, and nothing else that blocks', () => {
  const blocked = (...codes: [code: string, seconds: number | null][]) =>
    protectionOf({
      isOffline: false,
      heartbeat: {
        armed: true,
        cameras: [gate],
        clock: NIGHT,
        deterrents: codes.map(([code, seconds]) => ({
          ...siren,
          blocked: { code, until: seconds === null ? null : NIGHT + seconds * 1_000 },
        })),
      },
    })
  expect(blocked(['cool_down', 12])).toMatchObject({ state: 'blocked', reason: 'cooling down' })
  expect(isProtected(blocked(['cool_down', 12]))).toBe(true)
  expect(isProtected(blocked(['cool_down', 120], ['cool_down', 3]))).toBe(true)
  for (const told of [
    blocked(['cool_down', 121]),
    blocked(['cool_down', null]),
    blocked(['person_near', 12]),
    blocked(['cool_down', 12], ['person_near', 12]),
    blocked(['quiet_hours', 12]),
    blocked(['hour_budget', 12]),
  ])
    expect(isProtected(told)).toBe(false)
})

it('says what is snoozed, by whom and until when; maintenance also of a silent gateway', () => {
  const of = (kind: 'snooze' | 'maintenance', camera: string | null) => ({
    kind,
    camera,
    by: 'rosa',
    at: 0,
    until: NOON,
  })
  const NOON = Date.UTC(2026, 4, 1, 12)
  const line = (snoozes: ReturnType<typeof of>[], change: Partial<ReportedHeartbeat> = {}, isOffline = false) =>
    protectionLine(
      protectionOf({
        isOffline,
        heartbeat: { armed: true, cameras: [gate], deterrents: [siren], snoozes, ...change },
      }),
      NOON - 3_600_000,
      'UTC',
    )
  expect(line([of('snooze', null)], { armed: false })).toBe('Snoozed by rosa until 12:00')
  expect(line([of('snooze', 'Gate')])).toBe('Snoozed: camera Gate by rosa until 12:00')
  expect(line([of('snooze', null)], {}, true)).toBe('Offline: nothing is heard from it')
  expect(line([of('maintenance', null)], {}, true)).toBe('Maintenance by rosa until 12:00')
  expect(line([of('snooze', null), of('maintenance', null)])).toBe('Maintenance by rosa until 12:00')
  const disarmed = { by: 'sam', at: 0, until: null }
  expect(line([of('snooze', null)], { armed: false, disarmed })).toBe('Disarmed by sam until somebody arms it')
  expect(line([of('snooze', 'Gate')], { cameras: [{ ...gate, state: 'covered' }] })).toBe(
    'Blind: camera Gate is covered',
  )
})
