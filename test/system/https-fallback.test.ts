import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import {
  approveRegistration,
  listCertificates,
  listDetections,
  listGateways,
  listPendingRegistrations,
} from '@hedgerow/contract'
import { afterEach, expect, test } from 'vitest'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A hub whose tunnel is unreachable, as behind a firewall that blocks UDP. */
async function startBlockedHub() {
  const httpsPort = await freeTcpPort()
  const env = { HUB_HTTPS_PORT: String(httpsPort), HUB_VPN_ENDPOINT_HOST: 'blocked.invalid' }
  const hub = await startHub({ env })
  cleanups.push(() => hub.stop())
  return { hub, httpsUrl: `https://localhost:${httpsPort}` }
}

async function startApproved(hub: Hub, url: string) {
  const barn = await startGateway({ url }, { name: 'Barn', httpsFallbackAfterMs: 300 })
  cleanups.push(() => barn.stop())
  const [registration] = await waitFor(
    async () => {
      const pending = await hub.api(listPendingRegistrations)
      return pending.length === 1 ? pending : undefined
    },
    { for: 'the registration' },
  )
  await hub.api(approveRegistration, { params: { registrationId: registration!.registrationId } })
  const detection = { id: 'd1', camera: 'Gate', label: 'deer', severity: 'alert', score: 0.9 } as const
  await barn.localApi.reportDetections([{ ...detection, startedAt: new Date().toISOString() }])
  const gateway = await waitFor(
    async () => {
      const [found] = await hub.api(listGateways)
      return found?.status === 'warning' ? found : undefined
    },
    { for: 'a heartbeat around the tunnel' },
  )
  return { barn, gateway }
}

test('a gateway whose UDP is blocked reports over https: a warning that names the tunnel, and detections', async () => {
  const { hub, httpsUrl } = await startBlockedHub()
  const certificates = await hub.api(listCertificates)
  const trusted = getCACertificates('default')
  cleanups.push(() => setDefaultCACertificates(trusted))
  setDefaultCACertificates([...trusted, ...certificates.map(({ pem }) => pem)])
  const { barn, gateway } = await startApproved(hub, httpsUrl)
  expect(gateway.statusReason).toMatch(/^heartbeat \d+ s ago, no VPN handshake yet$/)
  const heartbeat = await waitFor(
    () => barn.state().conditions.find(({ step, state }) => step === 'heartbeat' && state === 'done'),
    { for: 'the gateway to have the answer' },
  )
  expect(heartbeat.detail).toBe('by the hub, outside the tunnel, which does not answer')
  const detections = await waitFor(
    async () => {
      const found = await hub.api(listDetections, { params: { id: gateway.id } })
      return found.length > 0 ? found : undefined
    },
    { for: 'the detection' },
  )
  expect(detections).toMatchObject([{ id: 'd1', camera: 'Gate' }])
  await waitFor(() => barn.state().detectionsWaiting === 0, { for: 'the queue to be empty' })
})

test('over plain http it sends its heartbeats, and keeps its detections for the tunnel', async () => {
  const { hub } = await startBlockedHub()
  const { barn, gateway } = await startApproved(hub, hub.url)
  await waitFor(() => barn.state().detectionsWaiting === 1, { for: 'the detection to wait' })
  const said = '1 detection stays on the device: UDP to the hub is blocked, and its address is not https'
  await waitFor(
    async () => {
      const [found] = await hub.api(listGateways)
      return found?.statusReason.includes(said) || undefined
    },
    { for: 'the hub to say what stays behind' },
  )
  // Enough time to leave over the wrong path.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(barn.state().detectionsWaiting).toBe(1)
  expect(await hub.api(listDetections, { params: { id: gateway.id } })).toEqual([])
})
