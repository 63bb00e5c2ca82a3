import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { keepOrder } from './stable-order.ts'

const gateway = (id: string, name: string) => ({ id, name }) as Gateway

it('keeps the order of the rows, drops deleted ones, and adds new ones at the end', () => {
  const before = [gateway('a', 'Ash'), gateway('b', 'Birch'), gateway('c', 'Cedar')]
  const now = [gateway('d', 'Alder'), gateway('c', 'Cedar'), gateway('a', 'Zelkova')]
  expect(keepOrder(before, now).map(({ name }) => name)).toEqual(['Zelkova', 'Cedar', 'Alder'])
})
