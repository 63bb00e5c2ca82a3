import { expect, test } from 'vitest'
import { certificateStatus } from './certificate-status.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')

test.each([
  ['2026-11-21T11:59:59.999Z', 'Expired', ''],
  ['2026-11-21T12:00:00.000Z', 'Expiring', 'less than a day left'],
  ['2026-11-22T11:59:59.000Z', 'Expiring', 'less than a day left'],
  ['2026-11-22T12:00:00.000Z', 'Expiring', '1 day left'],
  ['2026-12-21T11:59:59.999Z', 'Expiring', '29 days left'],
  ['2026-12-21T12:00:00.000Z', 'Valid', ''],
])('one that expires at %s is %s', (expiresAt, word, reason) => {
  expect(certificateStatus(expiresAt, NOW)).toEqual({ word, reason })
})
