import { expect, it } from 'vitest'
import { byVersion } from './natural-order.ts'

it('orders versions as versions', () => {
  const inOrder = [
    '',
    '0.9.2',
    '0.10.0',
    '1.0.0-beta',
    '1.0.0-rc.2',
    '1.0.0-rc.10',
    '1.0.0',
    '1.0.1',
    '1.10.0',
    '10.0.0',
  ]
  expect(inOrder.toReversed().toSorted(byVersion)).toEqual(inOrder)
  expect(byVersion('1.0.0+a', '1.0.0+b')).toBe(0)
})
