import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytes } from '../soak/bytes.ts'
import { day } from '../soak/day.ts'
import { flood } from '../soak/flood.ts'
import { kills } from '../soak/kills.ts'
import { openSite, type Site } from '../soak/site.ts'
import { standstill } from '../soak/standstill.ts'

/**
 * The short form of `npm run test:soak`: every part runs, and results that need more than a few seconds are not judged.
 */
const GATEWAYS = 3
const life = new AsyncDisposableStack()
let site: Site

beforeAll(async () => {
  site = await openSite({ gateways: GATEWAYS }, life)
})
afterAll(() => life.disposeAsync())

test('gateways and people for a second: every detection arrives and no answer fails', async () => {
  const short = { people: 3, detectionsPerSecond: 10, seconds: 1, judgesMemory: false }
  expect((await day(site, short)).broken).toEqual([])
})

test('after a standstill of the hub every gateway is back and nothing is lost', async () => {
  expect((await standstill(site, { seconds: 1 })).broken).toEqual([])
})

test('handshakes with a wrong mac1 are refused beside live tunnels', async () => {
  const short = { packetsPerSecond: 2_000, seconds: 1, judgesLoss: false }
  expect((await flood(site, short)).broken).toEqual([])
})

test('megabytes through Connect arrive whole, down and up', async () => {
  expect((await bytes({ megabytes: 5, judgesMemory: false })).broken).toEqual([])
})

test('a hub that is killed while it approves loses no approval and doubles none', async () => {
  expect((await kills({ kills: 1 })).broken).toEqual([])
})
