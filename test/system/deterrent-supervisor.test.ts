/** The real agent and its supervisor are killed, stopped and restarted while a relay is on. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { AGENT_COMMAND } from '../harness/agent.ts'
import { startChild, type Child } from '../harness/child-process.ts'
import { startMosquitto } from '../harness/mosquitto.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

/** Longer than any test, so that only switching off ends a firing. */
const LONG = 'seconds: 1800, coolDownSeconds: 0, secondsAnHour: 3600, secondsADay: 86400'

type Agent = { child: Child; supervisor: number; url: string }

let dataDir: string
let relay: Relay
let agents: { child: Child; supervisor?: number }[] = []
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-deterrents-'))
  relay = await startRelay()
  await configure(`{ driver: http, "on": { url: "${relay.onUrl}" }, "off": { url: "${relay.offUrl}" }, ${LONG} }`)
})
afterEach(async () => {
  for (const { child, supervisor } of agents) {
    // A test that failed may have left one that took over.
    const others = childrenOf(child.pid)
    if (!child.hasEnded()) {
      child.signal('SIGCONT')
      await child.stop()
    }
    for (const pid of new Set([supervisor, ...others])) if (pid) kill(pid, 'SIGKILL')
  }
  agents = []
  await relay.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const configure = (deterrent: string) =>
  writeFile(
    join(dataDir, 'gateway.yaml'),
    `sources: { api: { loopbackNeedsToken: false } }
deterrents: { sprinkler: ${deterrent} }
rules: [{ name: Boar, labels: [boar], fire: [sprinkler] }]
`,
  )

const start = (env: Record<string, string> = {}): Promise<Child> =>
  startChild(
    process.execPath,
    [...AGENT_COMMAND, '--hub', 'http://127.0.0.1:9', '--name', 'Barn', '--data', dataDir, '--port', '0'],
    { env: { GATEWAY_HOST: '127.0.0.1', ...env } },
  )

async function startAgent(): Promise<Agent> {
  const started = { child: await start() }
  agents.push(started)
  const [, port] = await started.child.says(/"port":(\d+)/)
  const supervisor = await waitFor(() => childrenOf(started.child.pid)[0], { for: 'the supervisor' })
  return Object.assign(started, { supervisor, url: `http://127.0.0.1:${port}/api/v1` })
}

/** proc_pid_children(5); none when the process has ended. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** The agent stands still itself until its child has become another program. */
function nextSupervisor({ pid: agent }: Child, before?: number): Promise<number> {
  const isSupervisor = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('in-charge')
  return waitFor(() => childrenOf(agent).find((pid) => pid !== before && isSupervisor(pid)), {
    for: 'a supervisor',
    timeoutMs: 60_000,
    everyMs: 5,
  })
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

const hasEnded = (pid: number) => waitFor(() => !kill(pid, 0), { for: `process ${pid} to end`, timeoutMs: 60_000 })
const PATIENCE = { timeout: 60_000 }

/** Kills both at once, so that neither sees the other end. */
async function killBoth({ child, supervisor }: Agent): Promise<void> {
  child.signal('SIGSTOP')
  kill(supervisor, 'SIGKILL')
  child.signal('SIGKILL')
  await child.ended
}

let ids = 0
async function detect({ url }: Agent): Promise<void> {
  const seen = { camera: 'orchard', label: 'boar', severity: 'alert', score: 0.9, startedAt: new Date().toISOString() }
  const answer = await fetch(`${url}/detections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ detections: [{ id: `boar-${++ids}`, ...seen }] }),
  })
  expect(answer.status).toBe(200)
}

async function isReady({ url }: Agent): Promise<boolean> {
  const { deterrents } = (await (await fetch(`${url}/status`)).json()) as { deterrents: { state: string }[] }
  return deterrents[0]?.state === 'ready'
}

/**
 * Sends a detection once the relay is known to be off, which takes 15 s after the loss of a supervisor: a request that
 * it sent may arrive that late. Detections sent before would use up the rate at which a rule may ask.
 */
async function fire(agent: Agent): Promise<void> {
  await waitFor(
    async () => {
      if (!relay.isOn() && (await isReady(agent))) await detect(agent)
      return relay.isOn()
    },
    { for: 'the relay to be on', timeoutMs: 90_000, everyMs: 300 },
  )
}

test('an agent that is killed leaves nothing on, and its supervisor ends afterwards', async () => {
  const agent = await startAgent()
  await fire(agent)
  agent.child.signal('SIGKILL')
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
  await hasEnded(agent.supervisor)
})

test('an agent that hangs leaves nothing on', async () => {
  const agent = await startAgent()
  await fire(agent)
  agent.child.signal('SIGSTOP')
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
})

test('an agent whose supervisor is killed switches off by itself, and fires again with another', async () => {
  const agent = await startAgent()
  await fire(agent)
  kill(agent.supervisor, 'SIGKILL')
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
  const next = await waitFor(() => childrenOf(agent.child.pid).find((pid) => pid !== agent.supervisor), {
    for: 'another supervisor',
    timeoutMs: 60_000,
  })
  await fire(agent)
  agent.supervisor = next
})

test('a supervisor that hangs is replaced', async () => {
  const agent = await startAgent()
  await fire(agent)
  kill(agent.supervisor, 'SIGSTOP')
  await hasEnded(agent.supervisor)
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
})

test('a supervisor that starts slower than one may be silent gets the time, and all is off meanwhile', async () => {
  const agent = await startAgent()
  await fire(agent)
  kill(agent.supervisor, 'SIGKILL')
  const next = await nextSupervisor(agent.child, agent.supervisor)
  agent.supervisor = next
  kill(next, 'SIGSTOP')
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
  await sleep(7_000)
  kill(next, 'SIGCONT')
  await fire(agent)
  expect(childrenOf(agent.child.pid)).toEqual([next])
})

test('when both are killed the next start switches off first', async () => {
  const first = await startAgent()
  await fire(first)
  await killBoth(first)
  expect(relay.isOn()).toBe(true)
  await startAgent()
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
})

/** JavaScript that the agent runs first. */
const NO_SUPERVISOR = {
  'has no program': `process.execPath = '/nowhere/node'`,
  'gets no memory': `import processes from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
processes.spawn = () => { throw new Error('spawn ENOMEM') }
syncBuiltinESMExports()`,
  'says nothing': `process.execPath = process.env.HOME + '/silent'`,
} as const

test.for(Object.entries(NO_SUPERVISOR))(
  'when both are killed and the next supervisor %s, the agent itself switches off',
  async ([, first]) => {
    const before = await startAgent()
    await fire(before)
    await killBoth(before)
    expect(relay.isOn()).toBe(true)
    await writeFile(join(dataDir, 'silent'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 })
    const runFirst = `--import=data:text/javascript,${encodeURIComponent(first)}`
    const child = await start({ NODE_OPTIONS: runFirst, HOME: dataDir })
    agents.push({ child })
    await child.says(/there is no supervisor of the deterrents, so the agent switches off by itself/)
    await expect.poll(relay.isOn, PATIENCE).toBe(false)
  },
)

test('an agent that is ended in the moment of its start still switches off what a crash left on', async () => {
  const before = await startAgent()
  await fire(before)
  await killBoth(before)
  const child = await start()
  const started: (typeof agents)[number] = { child }
  agents.push(started)
  const supervisor = await nextSupervisor(child)
  started.supervisor = supervisor
  child.signal('SIGTERM')
  await child.ended
  await hasEnded(supervisor)
  expect(relay.isOn()).toBe(false)
})

test('a deterrent is switched off with the settings that switched it on, also after an edit of the file', async () => {
  const first = await startAgent()
  await fire(first)
  await killBoth(first)
  expect(relay.isOn()).toBe(true)
  await configure('{ driver: command, "on": ["true"], "off": ["true"] }')
  await startAgent()
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
})

test('an agent that is stopped switches off before it ends', async () => {
  const agent = await startAgent()
  await fire(agent)
  await agent.child.stop(60_000)
  expect(relay.isOn()).toBe(false)
  await hasEnded(agent.supervisor)
})

describe('a device that takes connections and never answers', () => {
  let device: Server
  let url: string
  beforeEach(async () => {
    device = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(device, 'listening')
    url = `127.0.0.1:${(device.address() as AddressInfo).port}`
  })
  afterEach(() => void device.close())

  const settings = {
    http: () => `{ driver: http, "on": { url: "http://${url}" }, "off": { url: "http://${url}" } }`,
    mqtt: () => `{ driver: mqtt, broker: "mqtt://${url}", topic: siren/set, "on": "ON", "off": "OFF" }`,
  }
  test.for([
    ['http', 'SIGKILL'],
    ['mqtt', 'SIGTERM'],
  ] as const)('keeps no supervisor when nothing was on (%s, %s)', async ([driver, signal]) => {
    await configure(settings[driver]())
    const agent = await startAgent()
    const connected = once(device, 'connection')
    agent.child.signal(signal)
    await agent.child.ended
    // It still tries.
    await connected
    await expect.poll(() => kill(agent.supervisor, 0), PATIENCE).toBe(false)
  })
})

test('a device that refuses is switched off once it accepts calls again, also when the agent is gone', async () => {
  const agent = await startAgent()
  await fire(agent)
  relay.behave('refuses')
  agent.child.signal('SIGKILL')
  await agent.child.ended
  // By then it would have ended if nothing had been on.
  await sleep(25_000)
  expect(relay.isOn()).toBe(true)
  relay.behave('well')
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
})

test('a second SIGTERM cuts no stop short, and the supervisor hands a device in fault to the next one', async () => {
  const first = await startAgent()
  await fire(first)
  relay.behave('refuses')
  first.child.signal('SIGTERM')
  await first.child.says(/"msg":"stopping"/)
  first.child.signal('SIGTERM')
  expect(await first.child.ended).toEqual({ code: 0, signal: null })
  expect(first.child.output()).toContain(
    `not known to be off: sprinkler. Process ${first.supervisor} goes on switching it off`,
  )
  expect(kill(first.supervisor, 0)).toBe(true)
  const second = await startAgent()
  await hasEnded(first.supervisor)
  expect(relay.isOn()).toBe(true)
  relay.behave('well')
  await expect.poll(relay.isOn, PATIENCE).toBe(false)
  expect(kill(second.supervisor, 0)).toBe(true)
})

describe.skipIf(skipWithout('deterrents over a broker', 'command mosquitto'))('over a broker', () => {
  let broker: Awaited<ReturnType<typeof startMosquitto>>
  let valve: MqttClient
  beforeEach(async () => {
    broker = await startMosquitto()
    await plugIn()
    await configure(`{ driver: mqtt, broker: "${broker.url}", topic: siren/set, "on": "ON", "off": "OFF", ${LONG} }`)
  })
  afterEach(async () => {
    await valve.endAsync(true)
    await broker.stop()
  })

  /** A device that follows the messages on its topic. */
  async function plugIn(): Promise<void> {
    valve = await connectAsync(broker.url)
    valve.on('error', () => {})
    valve.on('message', (_topic, message) => relay.force(message.toString() === 'ON'))
    await valve.subscribeAsync('siren/set', { qos: 1 })
  }

  test('a broker that goes away in the middle of a firing gets "off" when it is back', async () => {
    const agent = await startAgent()
    await fire(agent)
    await broker.kill9()
    await valve.endAsync(true)
    const stopping = agent.child.stop(60_000)
    // Nothing is published before the valve listens again.
    for (const pid of [agent.child.pid, agent.supervisor]) kill(pid, 'SIGSTOP')
    await broker.start()
    await plugIn()
    for (const pid of [agent.child.pid, agent.supervisor]) kill(pid, 'SIGCONT')
    await stopping
    await expect.poll(relay.isOn, PATIENCE).toBe(false)
  })

  test('a gateway that dies as a whole is switched off by the broker', async () => {
    const agent = await startAgent()
    await fire(agent)
    await killBoth(agent)
    await expect.poll(relay.isOn, PATIENCE).toBe(false)
  })
})
