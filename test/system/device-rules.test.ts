import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { startAgent, type Agent } from '../harness/agent.ts'
import { waitFor } from '../harness/wait-for.ts'

let dataDir: string
let relay: Relay
let agent: Agent | undefined

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-device-'))
  relay = await startRelay()
})

afterEach(async () => {
  await agent?.stop()
  agent = undefined
  await relay.stop()
  await rm(dataDir, { recursive: true })
})

const file = (more = '') => `
site: { latitude: 52.1, longitude: 9.3, timeZone: Europe/Berlin }
sources:
  api: { loopbackNeedsToken: false }
deterrents:
  valve: { driver: http, on: { url: ${relay.onUrl} }, off: { url: ${relay.offUrl} }, seconds: 1, coolDownSeconds: 0 }
rules:
  - { name: Boar, labels: [boar], cameras: [orchard], fire: [valve] }
${more}`

async function start(text: string): Promise<Agent> {
  await writeFile(join(dataDir, 'gateway.yaml'), text)
  agent = await startAgent(dataDir)
  await isReady()
  return agent
}

/** Every deterrent is known to be off. */
function isReady(): Promise<true> {
  return waitFor(
    async () => {
      const { deterrents } = (await agent!.get('/status')) as { deterrents: { state: string }[] }
      return deterrents.every(({ state }) => state === 'ready') || undefined
    },
    { for: 'the valve to be off' },
  )
}

const seen = (id: string, label: string, camera = 'orchard') => ({
  id,
  camera,
  label,
  severity: 'alert',
  score: 0.9,
  startedAt: new Date().toISOString(),
})

const ons = () => relay.calls.filter((call) => call === 'on').length

test('a boar that a program reports switches the valve on, for its time, without a hub', async () => {
  const { post } = await start(file())
  expect(await post('/detections', { detections: [seen('deer-1', 'deer'), seen('boar-1', 'boar')] })).toEqual({
    accepted: 2,
  })
  await expect.poll(ons).toBe(1)
  await expect.poll(() => relay.isOn()).toBe(false)
  await post('/detections', { detections: [seen('boar-1', 'boar'), seen('boar-2', 'boar', 'gate')] })
  await isReady()
  await post('/detections', { detections: [seen('boar-3', 'boar')] })
  await expect.poll(ons).toBe(2)
})

test('a person on the camera keeps the valve off', async () => {
  const { post } = await start(file())
  await post('/detections', { detections: [seen('person-1', 'person'), seen('boar-1', 'boar')] })
  await agent!.says(/did not fire a deterrent/)
  expect(ons()).toBe(0)
})

test('a rule that is added to the file while the agent runs is in force, and a bad file changes nothing', async () => {
  const { post } = await start(file())
  await writeFile(join(dataDir, 'gateway.yaml'), file('  - { name: Fox, labels: [fox], fire: [valve], seconds: 1 }\n'))
  await agent!.says(/gateway\.yaml is in force[^]*gateway\.yaml is in force/)
  await writeFile(join(dataDir, 'gateway.yaml'), file('  - { name: Cat, labels: [cat], fire: [valvee] }\n'))
  await agent!.says(/the last good one stays in force/)
  await post('/detections', { detections: [seen('cat-1', 'cat'), seen('fox-1', 'fox')] })
  await expect.poll(ons).toBe(1)
})

test('after kill -9 the record is whole, and the same detection fires no second time', async () => {
  const first = await start(file())
  await first.post('/detections', { detections: [seen('boar-1', 'boar')] })
  await expect.poll(ons).toBe(1)
  await first.kill()
  const second = await start(file())
  await second.post('/detections', { detections: [seen('boar-1', 'boar'), seen('boar-2', 'boar')] })
  await expect.poll(ons).toBe(2)
})
