import { expect, it } from 'vitest'
import { findTroubles } from './troubles.ts'

const gateway = (
  name: string,
  status: 'online' | 'offline' | 'warning',
  lastSeen: string | null,
  troubleSince = status === 'offline' ? lastSeen : null,
) => ({ id: name, name, status, statusReason: '', lastSeen, troubleSince })

it('lists the newest failure first, gateways that never connected separately, and no online gateway', () => {
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
  expect(failing.map(({ name }) => name)).toEqual(['Dell', 'Brook', 'Gate', 'Ash', 'Elm'])
  expect(never.map(({ name }) => name)).toEqual(['Beck', 'Mill'])
})
