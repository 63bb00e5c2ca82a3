import { expect, test } from 'vitest'
import type { DeviceUpdates } from './agent-updates.ts'
import { updateLines } from './update-lines.ts'

const own: DeviceUpdates = {
  by: 'itself',
  advice: '',
  release: 5,
  since: '2026-05-01T10:00:00.000Z',
  startedAt: '2026-05-02T10:00:00.000Z',
  state: 'current',
  message: '',
  offered: null,
  failure: null,
  isEnabled: true,
  hours: [],
  checkedAt: '2026-05-03T10:00:00.000Z',
}
const offered = { number: 6, version: '0.6.0', byHand: false }
const failure = { number: 6, version: '0.6.0', at: '2026-05-03T09:00:00.000Z', message: 'The disk is full.' }
const linesOf = (changed: Partial<DeviceUpdates>) =>
  Object.fromEntries(updateLines({ ...own, ...changed }, (at) => at.slice(0, 10)))

test.each<[string, Partial<DeviceUpdates>, string]>([
  ['nothing is asked for', {}, 'The hub asks for no other version.'],
  ['no hub answered', { checkedAt: null }, 'The hub has not said yet which version it wants.'],
  [
    'it waits',
    { state: 'waiting', message: 'For its hours, 02:00-05:00.', offered: { ...offered, version: null } },
    'The hub offers release 6. It waits: For its hours, 02:00-05:00.',
  ],
  [
    'it has fetched a part',
    { state: 'fetching', offered, message: '12.0 of 30.0 MB' },
    'The gateway fetches version 0.6.0 (12.0 of 30.0 MB), then starts it on trial.',
  ],
  ['it fetches', { state: 'fetching', offered }, 'The gateway fetches version 0.6.0, then starts it on trial.'],
  [
    'it is on trial',
    { state: 'trying', message: 'It has run for 3 of 10 min without a restart.' },
    expect.stringMatching(/^This version is on trial: .* answer\. It has run for 3 of 10 min without a restart\.$/),
  ],
  [
    'it failed',
    { state: 'failed', message: failure.message, offered, failure },
    'Version 0.6.0 failed, and this version runs on. The disk is full.',
  ],
])('%s', (_, changed, words) => {
  expect(linesOf(changed)['Update']).toEqual(words)
})

test('it says since when, who asks, when it may, and the last check', () => {
  expect(updateLines({ ...own, state: 'fetching', offered }, (at) => at.slice(0, 10))).toEqual([
    ['Runs since', '2026-05-01'],
    ['Update', expect.any(String)],
    ['Asked for by', 'the automatic updates of the hub'],
    ['Automatic updates', 'at any time'],
    ['Last check', '2026-05-03'],
  ])
  expect(linesOf({ state: 'fetching', offered: { ...offered, byHand: true } })['Asked for by']).toBe('a person')
  expect(linesOf({ hours: ['02:00-05:00', '22:00-23:00'] })['Automatic updates']).toBe(
    '02:00-05:00, 22:00-23:00, by this device’s clock',
  )
  expect(linesOf({ isEnabled: false })['Automatic updates']).toMatch(/^refused by gateway\.yaml/)
  expect(linesOf({ checkedAt: null })['Last check']).toBe('none since the start')
})

test('a failure stays visible after the hub took its request back', () => {
  expect(linesOf({ failure })['Last failure']).toBe('2026-05-03: version 0.6.0 failed. The disk is full.')
  expect(linesOf({ failure, state: 'failed', offered })['Last failure']).toBeUndefined()
})

test('an installation that does not update itself says how a person does it', () => {
  const advice = 'It runs from the sources.'
  expect(updateLines({ ...own, by: 'sources', release: null, since: null, checkedAt: null, advice }, String)).toEqual([
    ['Started', own.startedAt],
    ['Update', advice],
  ])
  expect(linesOf({ advice: 'It cannot update itself: the disk is full.' })['Update']).toMatch(/^It cannot/)
})
