import { expect, it } from 'vitest'
import { findTroubles } from './troubles.ts'

const gateway = (
  name: string,
  status: 'online' | 'offline' | 'warning',
  lastSeen: string | null,
  troubleSince = status === 'offline' ? lastSeen : null,
) => ({
  id: name,
  name,
  status,
  protection: {
    state: status === 'offline' ? ('offline' as const) : ('protected' as const),
    reason: '',
    until: null,
    isBrief: false,
  },
  lastSeen,
  troubleSince,
})

it('lists offline gateways and then the newest failure first, never connected ones apart, no online one', () => {
  const now = '2026-11-22T07:00:00.000Z'
  const fleet = [
    gateway('Mill', 'offline', null),
    gateway('Barn', 'online', now),
    gateway('Elm', 'warning', now),
    gateway('Gate', 'warning', now, '2026-11-22T05:00:00.000Z'),
    gateway('Ash', 'offline', '2026-11-21T07:00:00.000Z'),
    gateway('Brook', 'offline', '2026-11-22T06:00:00.000Z'),
    gateway('Dell', 'warning', now, '2026-11-22T06:30:00.000Z'),
    gateway('Beck', 'offline', null),
  ]
  const { failing, never } = findTroubles(fleet)
  expect(failing.map(({ name }) => name)).toEqual(['Brook', 'Ash', 'Dell', 'Gate', 'Elm'])
  expect(never.map(({ name }) => name)).toEqual(['Beck', 'Mill'])
})

it('lists an online gateway that is known not to protect, the worst first, before a warning of a protected one', () => {
  const now = '2026-11-22T07:00:00.000Z'
  const as = (state: 'disarmed' | 'blind' | 'blocked' | 'unproven' | 'firing') => ({
    ...gateway(state, 'online', now),
    protection: { state, reason: '', until: null, isBrief: false },
  })
  const fleet = [
    gateway('warns', 'warning', now, now),
    as('unproven'),
    as('disarmed'),
    as('firing'),
    as('blocked'),
    as('blind'),
  ]
  expect(findTroubles(fleet).failing.map(({ name }) => name)).toEqual(['disarmed', 'blind', 'blocked', 'warns'])
})
