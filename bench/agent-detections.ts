import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { approveRegistration, listGateways, listPendingRegistrations, readDetectionThumbnail } from '@hedgerow/contract'
import { startRelay } from '../apps/gateway/testing/relay.ts'
import { startAgent, type Agent } from '../test/harness/agent.ts'
import type { Hub } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { distributionOf, type Distribution } from './report.ts'

/** The number of rounds: an alert rule fires this many times before it is held. */
const ROUNDS = 20
const LOOK_MS = 2
const FRAME = join(import.meta.dirname, '../scripts/demo-frames/boar.jpg')

/**
 * How long it takes from a program's report to the relay's request "on", and from the report to the moment when the hub
 * serves the picture, in milliseconds. The agent is a process of its own, over loopback.
 */
export async function timeDetections(
  hub: Hub,
  command: readonly [string, ...string[]],
): Promise<Record<string, Distribution>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-bench-'))
  const relay = await startRelay()
  let agent: Agent | undefined
  try {
    await writeFile(
      join(dataDir, 'gateway.yaml'),
      `
sources: { api: { loopbackNeedsToken: false } }
deterrents:
  valve: { driver: http, on: { url: ${relay.onUrl} }, off: { url: ${relay.offUrl} }, seconds: 10, coolDownSeconds: 0 }
rules:
  - { name: Boar, labels: [boar], fire: [valve] }
`,
    )
    const thumbnail = (await readFile(FRAME)).toString('base64')
    agent = await startAgent(dataDir, { command, args: ['--hub', hub.url, '--name', 'Orchard'] })
    const gatewayId = await joinHub(hub)
    const toRelay: number[] = []
    const toHub: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const id = `boar-${round}`
      await isOff(agent)
      const [relayMs, hubMs] = await timeOne(agent, id, thumbnail)
      toRelay.push(relayMs)
      toHub.push(hubMs)
      await agent.post('/deterrents/valve/stop')
    }
    return { 'report to relay on': distributionOf(toRelay), 'report to picture in the hub': distributionOf(toHub) }

    async function timeOne(running: Agent, id: string, picture: string): Promise<[number, number]> {
      const ons = () => relay.calls.filter((call) => call === 'on').length
      const before = ons()
      const startedAt = performance.now()
      const report = running.post('/detections', {
        detections: [
          {
            id,
            camera: 'orchard',
            label: 'boar',
            severity: 'alert',
            score: 0.9,
            startedAt: new Date().toISOString(),
            thumbnail: picture,
          },
        ],
      })
      const until = async (done: () => boolean | Promise<boolean>) => {
        while (!(await done())) await sleep(LOOK_MS)
        return performance.now() - startedAt
      }
      const inHub = () =>
        hub.api(readDetectionThumbnail, { params: { id: gatewayId, detectionId: id } }).then(
          () => true,
          () => false,
        )
      const [relayMs, hubMs] = await Promise.all([until(() => ons() > before), until(inHub), report])
      return [relayMs, hubMs]
    }
  } finally {
    await agent?.stop()
    await relay.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Approves the gateway and waits until its tunnel carries heartbeats. */
async function joinHub(hub: Hub): Promise<string> {
  const registration = await waitFor(
    async () => (await hub.api(listPendingRegistrations)).find(({ deviceName }) => deviceName === 'Orchard'),
    { for: 'the registration' },
  )
  await hub.api(approveRegistration, { params: { registrationId: registration.registrationId } })
  const gateway = await waitFor(
    async () => (await hub.api(listGateways)).find(({ name, status }) => name === 'Orchard' && status !== 'offline'),
    { for: 'the first heartbeat' },
  )
  return gateway.id
}

function isOff(agent: Agent): Promise<true> {
  return waitFor(
    async () => {
      const { deterrents } = (await agent.get('/status')) as { deterrents: { state: string }[] }
      return deterrents.every(({ state }) => state === 'ready') || undefined
    },
    { for: 'the valve to be off' },
  )
}
