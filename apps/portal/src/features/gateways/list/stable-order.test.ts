import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { keepOrder } from './stable-order.ts'

const gateway = (id: string, name: string) => ({ id, name }) as Gateway

it('keeps the rows where they were, as they are now, without those that are gone and with the new ones last', () => {
  const before = [gateway('a', 'Ash'), gateway('b', 'Birch'), gateway('c', 'Cedar')]
  const now = [gateway('d', 'Alder'), gateway('c', 'Cedar'), gateway('a', 'Zelkova')]
  expect(keepOrder(before, now).map(({ name }) => name)).toEqual(['Zelkova', 'Cedar', 'Alder'])
})
