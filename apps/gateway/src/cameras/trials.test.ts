import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { camerasSettings } from './schema.ts'
import { createTrials } from './trials.ts'

test('a trial ends when nobody asks for a while, and after ten minutes in any case', async () => {
  let now = 0
  const trials = createTrials(pino({ level: 'silent' }), () => now)
  onTestFinished(trials.stop)
  const url = 'http://127.0.0.1:9/'
  const settings = { ...camerasSettings.parse({ a: { url } })['a']!, url }
  const left = await trials.begin(settings)
  now = 10_000
  expect(trials.find(left)).toBeDefined()
  now = 20_000
  expect(trials.find(left)).toBeDefined()
  now = 36_000
  expect(trials.find(left)).toBeUndefined()
  const watched = await trials.begin(settings)
  for (let asked = 0; asked < 60; asked++) {
    expect(trials.find(watched)).toBeDefined()
    now += 10_000
  }
  now += 1_000
  expect(trials.find(watched)).toBeUndefined()
})

test('the problems of a trial begin with the words: this camera', async () => {
  const trials = createTrials(pino({ level: 'silent' }))
  onTestFinished(trials.stop)
  const url = 'http://127.0.0.1:9/'
  const id = await trials.begin({ ...camerasSettings.parse({ a: { url } })['a']!, url })
  await expect
    .poll(() => trials.find(id)?.problems(), { timeout: 30_000 })
    .toEqual(['This camera gives no pictures: nothing answers at its port.'])
})
