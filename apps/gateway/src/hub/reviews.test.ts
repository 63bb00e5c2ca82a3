import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import type { GatewayReview } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { presetPassword } from '../../testing/preset-password.ts'
import { openRecord, RECORD_FILE } from '../detections/record.ts'
import { startGateway, type Gateway } from '../gateway.ts'

const until = (check: () => void) => vi.waitFor(check, { timeout: 50_000, interval: 20 })
const log = pino({ level: 'silent' })

let dataDir: string
let hub: FixtureHub
let gateway: Gateway

async function start(): Promise<void> {
  gateway = await startGateway({ name: 'Orchard', dataDir, host: '127.0.0.1', port: 0, hubUrl: hub.url, log })
}

async function join(): Promise<void> {
  await start()
  await until(() => expect(hub.registrations).toHaveLength(1))
  hub.decide({ status: 'approved' })
}

beforeEach(async () => {
  dataDir = await mkdtemp(joinPath(tmpdir(), 'hedgerow-reviews-'))
  presetPassword(dataDir)
  hub = await startFixtureHub()
})

afterEach(async () => {
  await gateway.stop()
  await hub.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const said = (seq: number, more: Partial<GatewayReview> = {}): GatewayReview => ({
  seq,
  detection: `d${seq}`,
  verdict: 'right',
  label: null,
  at: 1_790_000_000_000 + seq,
  ...more,
})

/** Reads the reviews on disk. */
function stored(): GatewayReview[] {
  const record = openRecord(joinPath(dataDir, RECORD_FILE), {
    settings: () => ({ days: 14, megabytes: 200 }),
    log,
    clock: Date.now,
  })
  try {
    return record.reviews.all()
  } finally {
    record.close()
  }
}

test('reach the record in pages, the latest of each detection, and go on after an outage and a restart', async () => {
  hub.reviews.push(said(1), said(2), said(3, { detection: 'd1', verdict: 'wrong', label: 'deer' }))
  hub.refuseReviews(1)
  await join()
  const first = [said(2), said(3, { detection: 'd1', verdict: 'wrong', label: 'deer' })]
  await until(() => expect(stored()).toEqual(first))
  expect(hub.reviewCalls).toEqual([0, 0, 2])
  await gateway.stop()
  hub.reviews.push(said(7, { detection: 'd2', verdict: null }))
  await start()
  const second = [first[1], said(7, { detection: 'd2', verdict: null })]
  await until(() => expect(stored()).toEqual(second))
  expect(hub.reviewCalls.slice(3)).toEqual([3])
})

test('a hub that names a newer review than it has is not asked in a loop', async () => {
  hub.reviews.push(said(1))
  hub.newestReview = 9
  await join()
  await until(() => expect(hub.heartbeats.length).toBeGreaterThan(1))
  expect(stored()).toEqual([said(1)])
  expect(hub.reviewCalls.length).toBeLessThanOrEqual(hub.heartbeats.length + 1)
})

test('a hub of the first version, which has no reviews, is not asked for them', async () => {
  hub.becomeVersion('first')
  hub.reviews.push(said(1))
  await join()
  await until(() => expect(hub.heartbeats.length).toBeGreaterThan(1))
  expect(hub.reviewCalls).toEqual([])
})
