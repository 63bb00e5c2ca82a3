import { expect, it } from 'vitest'
import { findTroubles } from './troubles.ts'

const gateway = (name: string, status: 'online' | 'offline' | 'warning') => ({
  id: name,
  name,
  status,
  statusReason: '',
})

it('lists warnings before offline gateways, each by name, without online ones', () => {
  const fleet = [
    gateway('Mill', 'offline'),
    gateway('Barn', 'online'),
    gateway('Gate', 'warning'),
    gateway('Ash', 'offline'),
  ]
  expect(findTroubles(fleet).map(({ name }) => name)).toEqual(['Gate', 'Ash', 'Mill'])
})
