import { expect, it } from 'vitest'
import { countProtection, isProtected, protectionOf, type KnownToProtect } from './protection.ts'

const gate = { name: 'Gate', state: 'online', fps: 5 } as const
const siren = { name: 'Siren', state: 'ready', secondsLeftThisHour: 600 } as const
const water = { name: 'Water', state: 'ready' } as const
type ReportedHeartbeat = NonNullable<KnownToProtect['heartbeat']>
const state = (change: Partial<ReportedHeartbeat> = {}, isOffline = false) => {
  const known = protectionOf({ isOffline, heartbeat: { armed: true, cameras: [gate], deterrents: [siren], ...change } })
  return [known.state, known.reason]
}
const told = (problem: string) => ({ cameraProblems: [{ camera: 'Gate', problem }] })

it.each<[Partial<ReportedHeartbeat>, string, string]>([
  [{}, 'protected', ''],
  [{ deterrents: [] }, 'protected', 'it only watches: no deterrent'],
  [{ armed: false }, 'disarmed', 'nothing fires until it is armed'],
  [{ armed: false, deterrents: [] }, 'disarmed', 'nothing fires until it is armed'],
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
  [told('Camera Gate: its picture is black.'), 'blind', 'Camera Gate: its picture is black.'],
  [
    told('Camera Gate reports nothing, because detect is off.'),
    'blind',
    'Camera Gate reports nothing, because detect is off.',
  ],
  [told('Camera Gate sends 2 of 5 pictures a second.'), 'protected', ''],
  [told('Camera Gate: this device is too slow for 5 pictures a second; some are dropped.'), 'protected', ''],
  [{ deterrents: [siren, { ...water, state: 'fault' }] }, 'blocked', 'Water has a fault'],
  [{ deterrents: [{ ...siren, secondsLeftThisHour: 0 }] }, 'blocked', 'Siren has no seconds left in this hour'],
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
  [
    { armed: false, cameras: [], deterrents: [{ ...siren, state: 'fault' }] },
    'disarmed',
    'nothing fires until it is armed',
  ],
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
  expect(counted.filter(([one]) => isProtected(one)).map(([one]) => one)).toEqual(['firing', 'protected'])
  expect(countProtection([])).toEqual([])
})
