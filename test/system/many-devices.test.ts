import { randomBytes } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import {
  createGatewayInvitation,
  listGateways,
  listPendingRegistrations,
  editAutoApprovalSettings,
  editHubSettings,
} from '@hedgerow/contract'
import { fingerprint, generateIdentitySeed, identityOfSeed } from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { pino } from 'pino'
import type { Device } from '../../apps/gateway/src/hub/enrolment-calls.ts'
import { createConditions } from '../../apps/gateway/src/kernel/conditions.ts'
import { createNameService } from '../../apps/gateway/src/kernel/name-service.ts'
import { keepRegistered, REGISTRATION_PACE } from '../../apps/gateway/src/hub/registration.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

/** As many as the largest customer has at one site. */
const DEVICES = 245
/** The promised time; the test's own timeout is longer, so that a miss is reported as such. */
const ALL_IN_WITHIN_MS = 60_000

let hub: Hub | undefined
afterAll(() => hub?.stop())

/** A hub that nobody has asked yet: it limits how often an address asks, and how many wait. */
async function freshHub(): Promise<Hub> {
  await hub?.stop()
  hub = await startHub({ env: { HUB_METRICS_TOKEN: 'a-token-for-the-metrics-page' } })
  await hub.api(editHubSettings, { body: { maxGateways: 1_000 } })
  return hub
}

/** Devices that start together behind one address, each with the agent's own code, except for tunnel and disk. */
function powerUp(hub: Hub, prefix: string, invitationCode: string | undefined) {
  const stopping = new AbortController()
  const statuses = new Map<string, string>()
  const devices = Array.from({ length: DEVICES }, (_, i) => {
    const name = `${prefix} ${i}`
    const registration = keepRegistered({
      device: newDevice(name, invitationCode),
      trust: { hubKey: () => undefined, isSettled: () => false, check: () => {}, remember: async () => {} },
      names: createNameService([]),
      discover: async () => ({
        candidates: [{ url: new URL(hub.url), pins: [], domain: undefined, source: 'its address' }],
        problems: [],
      }),
      conditions: createConditions(() => {}),
      log: pino({ level: 'silent' }),
      signal: stopping.signal,
      pace: REGISTRATION_PACE,
      onHub: () => {},
      onStatus: async ({ status }) => void statuses.set(name, status),
    })
    return registration.done
  })
  return {
    count: (status: string) => [...statuses.values()].filter((one) => one === status).length,
    async stop() {
      stopping.abort()
      await Promise.all(devices)
    },
  }
}

function newDevice(name: string, invitationCode: string | undefined): Device {
  const identity = identityOfSeed(generateIdentitySeed())
  const { privateKey, publicKey } = generateKeyPair()
  const keys = {
    identity,
    fingerprint: fingerprint(identity.publicKey),
    wireguardPrivateKey: privateKey,
    wireguardPublicKey: publicKey,
    deviceToken: `DT-${randomBytes(6).toString('hex').toUpperCase()}`,
  }
  return { keys, name, location: '', version: '1.0.0', macAddress: '', invitationCode }
}

/** The hub whose queue the first test filled, for the second one. */
let full: Hub | undefined

async function fillTheQueue(hub: Hub): Promise<void> {
  const site = powerUp(hub, 'Queued', undefined)
  onTestFinished(site.stop)
  await waitFor(() => site.count('pending') === DEVICES, { for: 'every device to wait', timeoutMs: ALL_IN_WITHIN_MS })
  const pending = await hub.api(listPendingRegistrations)
  expect(new Set(pending.map(({ deviceName }) => deviceName)).size).toBe(DEVICES)
  await site.stop()
}

test(`${DEVICES} devices behind one address are all in the queue within a minute`, async () => {
  const hub = await freshHub()
  await fillTheQueue(hub)
  const metrics = await fetch(`${hub.url}/metrics`, {
    headers: { authorization: 'Bearer a-token-for-the-metrics-page' },
  })
  expect(await metrics.text()).toContain('# TYPE hedgerow_refused_total counter')
  full = hub
})

test(`${DEVICES} devices with one invitation are all gateways within a minute, beside a queue of as many`, async () => {
  let hub = full
  full = undefined
  if (hub === undefined) await fillTheQueue((hub = await freshHub()))
  const body = { label: 'Site', maxUses: DEVICES, expiresInHours: 1 }
  const { code } = await hub.api(createGatewayInvitation, { body })
  await hub.api(editAutoApprovalSettings, { body: { enabled: true } })
  const site = powerUp(hub, 'Invited', code)
  onTestFinished(site.stop)
  await waitFor(() => site.count('approved') === DEVICES, { for: 'every device to be in', timeoutMs: ALL_IN_WITHIN_MS })
  expect(await hub.api(listGateways)).toHaveLength(DEVICES)
  await site.stop()
})
