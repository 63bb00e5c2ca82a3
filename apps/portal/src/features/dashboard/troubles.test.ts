import { expect, it } from 'vitest'
import { findTroubles } from './troubles.ts'

const gateway = (name: string, status: 'online' | 'offline' | 'warning', lastSeen: string | null) => ({
  id: name,
  name,
  status,
  statusReason: '',
  lastSeen,
})

it('lists the newest failure first, gateways that never connected separately, and no online gateway', () => {
  const fleet = [
    gateway('Mill', 'offline', null),
    gateway('Barn', 'online', '2026-11-22T07:00:00.000Z'),
    gateway('Gate', 'warning', '2026-11-22T07:00:00.000Z'),
    gateway('Ash', 'offline', '2026-11-21T07:00:00.000Z'),
    gateway('Brook', 'offline', '2026-11-22T06:00:00.000Z'),
    gateway('Beck', 'offline', null),
  ]
  const { failing, never } = findTroubles(fleet)
  expect(failing.map(({ name }) => name)).toEqual(['Gate', 'Brook', 'Ash'])
  expect(never.map(({ name }) => name)).toEqual(['Beck', 'Mill'])
})
