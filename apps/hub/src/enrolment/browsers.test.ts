import { audienceOf, policy } from '../access/policy.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDevice } from '#testing/device.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub('sqlite')
})
afterAll(() => hub.stop())

const callsOf = (...accesses: string[]) =>
  Object.entries(policy)
    .filter(([, access]) => accesses.includes(audienceOf(access)))
    .map(([call]) => call)
const send = async (call: string, headers: Record<string, string>) => {
  const [method, path] = call.split(' ') as ['POST', string]
  const url = `/api${path.replace(':registrationId', 'a'.repeat(20))}`
  const { statusCode, body } = await hub.app.inject({ method, url, headers, ...(method === 'POST' && { payload: {} }) })
  return [statusCode, (JSON.parse(body) as { error?: string }).error]
}

it.each(callsOf('gateway', 'member'))('%s refuses headers that only browsers send', async (call) => {
  for (const headers of [
    { origin: 'http://hub.example:8080' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-mode': 'no-cors' },
  ])
    expect(await send(call, headers)).toEqual([403, 'browser_refused'])
  expect((await send(call, {}))[1]).not.toBe('browser_refused')
})

it.each(callsOf('anyone'))('%s refuses pages of other sites and accepts the hub’s own page', async (call) => {
  expect(await send(call, { 'sec-fetch-site': 'cross-site' })).toEqual([403, 'origin_not_allowed'])
  expect(await send(call, { 'sec-fetch-site': 'same-site' })).toEqual([403, 'origin_not_allowed'])
  const own = { origin: 'http://hub.example:8080', 'sec-fetch-site': 'same-origin' }
  expect((await send(call, own))[1]).not.toBe('origin_not_allowed')
})

it('a device registers without these headers', async () => {
  expect((await createTestDevice(hub.app, { now: hub.clock.now }).register()).status).toBe(202)
})
