import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGatewayInvitation, hubStats, listGateways, editAutoApprovalSettings } from '@hedgerow/contract'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startFleet, type Fleet } from '../fleet/fleet.ts'
import { parseSources, planFleet } from '../fleet/plan.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const GATEWAYS = 12
const sources = parseSources('127.64.0.0/10')
/** Leaves out events at random times, which would make a test wait. */
const shares = { flapping: 0, roaming: 0, clockErrors: 0.5, clones: 0 }
const TIMEOUT_MS = 60_000

let hub: Hub
let fleet: Fleet
let dataDir: string

beforeAll(async () => {
  hub = await startHub()
  await hub.api(editAutoApprovalSettings, { body: { enabled: true } })
  const body = { label: 'Fleet', maxUses: GATEWAYS, expiresInHours: 1 }
  const { code } = await hub.api(createGatewayInvitation, { body })
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-fleet-'))
  fleet = await startFleet({
    hubUrl: new URL(`http://127.0.0.1:${hub.port}`),
    dataDir,
    gateways: GATEWAYS,
    seed: 7,
    shares,
    sources,
    invitationCode: code,
    startsPerSecond: 100,
    detectionsPerSecond: 40,
    picturesShare: 1,
  })
  await fleet.allStarted
})
afterAll(async () => {
  await fleet.stop()
  await hub.stop()
  await rm(dataDir, { recursive: true, force: true })
})

test('the same seed plans the same gateway, in a fleet of any size', () => {
  const mixed = { flapping: 0.5, roaming: 0.5, clockErrors: 0.5, clones: 0.5 }
  const small = planFleet({ count: 20, seed: 7, shares: mixed, sources })
  expect(planFleet({ count: 500, seed: 7, shares: mixed, sources }).slice(0, 20)).toEqual(small)
  expect(planFleet({ count: 20, seed: 8, shares: mixed, sources })).not.toEqual(small)
})

test('all join with their names and clocks, and the hub gets every detection with its picture', async () => {
  await waitFor(() => fleet.state().heard === GATEWAYS && fleet.state().detectionsSent > 40, {
    for: 'all to be heard',
    timeoutMs: TIMEOUT_MS,
  })
  expect(await fleet.settle(TIMEOUT_MS)).toBe(true)
  const { enrolled, detectionsSent, detectionsAcknowledged, detectionsRefused } = fleet.state()
  expect({ enrolled, detectionsAcknowledged, detectionsRefused }).toEqual({
    enrolled: GATEWAYS,
    detectionsAcknowledged: detectionsSent,
    detectionsRefused: 0,
  })
  const listed = await hub.api(listGateways)
  const plans = fleet.gateways().map(({ plan }) => plan)
  expect(listed.map(({ name }) => name).toSorted()).toEqual(plans.map(({ name }) => name).toSorted())
  const wrong = plans.filter(({ clockErrorMs }) => Math.abs(clockErrorMs) > 30_000).map(({ name }) => name)
  expect(wrong.length).toBeGreaterThan(0)
  const told = listed.filter(({ statusReason }) => statusReason.includes('clock off')).map(({ name }) => name)
  expect(told.toSorted()).toEqual(wrong.toSorted())
})

test('a gateway that moves keeps its session, and one without a network sends its detections later', async () => {
  const [moving, silent] = fleet.gateways()
  moving!.network.moveTo('127.127.0.1')
  silent!.network.disconnect()
  onTestFinished(() => silent!.network.connect())
  const before = fleet.state()
  const detection = {
    camera: 'gate',
    label: 'fox',
    severity: 'alert',
    score: 0.9,
    startedAt: new Date().toISOString(),
  } as const
  await moving!.report({ ...detection, id: randomUUID() })
  await silent!.report({ ...detection, id: randomUUID() })
  await waitFor(() => fleet.state().detectionsAcknowledged === before.detectionsAcknowledged + 1, {
    for: 'the detection of the gateway that moved',
    timeoutMs: TIMEOUT_MS,
  })
  silent!.network.connect()
  expect(await fleet.settle(TIMEOUT_MS)).toBe(true)
  expect(fleet.state().reconnects).toBe(0)
  await waitFor(async () => (await hub.api(hubStats)).threats > 0, { for: 'the detections in the statistics' })
})
