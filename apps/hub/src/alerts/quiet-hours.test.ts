import { expect, test } from 'vitest'
import { afterQuietHours } from './quiet-hours.ts'

test('quiet hours end by the clock of the person, also over midnight', () => {
  const at = (time: string) => Date.parse(`2026-05-01T${time}:00Z`)
  const night = { quietHours: { from: '22:00', to: '06:30' }, timeZone: 'Europe/Berlin' }
  expect(afterQuietHours(at('19:59'), night)).toBe(at('19:59'))
  expect(new Date(afterQuietHours(at('20:00'), night)).toISOString()).toBe('2026-05-02T04:30:00.000Z')
  expect(new Date(afterQuietHours(at('04:29'), night)).toISOString()).toBe('2026-05-01T04:30:00.000Z')
  expect(afterQuietHours(at('04:30'), night)).toBe(at('04:30'))
  expect(afterQuietHours(at('20:00'), { quietHours: null, timeZone: 'UTC' })).toBe(at('20:00'))
})
