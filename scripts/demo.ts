import { listGateways } from '@hedgerow/contract'
import { freeTcpPort, isTcpPortFree } from '../test/harness/free-ports.ts'
import { addDayOfConnections, addDayOfHistory } from '../test/harness/hub-database.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { approveDevices, startDevices } from './demo-arrivals.ts'
import { animate, fleet } from './demo-fleet.ts'
import { ensureWebBuilt } from './web-build.ts'

/**
 * `npm run demo`: a hub in a temporary directory and three gateways that run the real agent, joined to it by real
 * tunnels over loopback. Two are approved, one waits. Everything listens on this machine only, and ends with this
 * process; the hub is a process of its own, so that a person can kill it and watch it return.
 */
const PREFERRED_PORT = 8080

const life = new AsyncDisposableStack()
const ending = new AbortController()

for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => void end(0))

async function end(code: number): Promise<void> {
  if (ending.signal.aborted) return
  ending.abort()
  await life.disposeAsync()
  process.exit(code)
}

/** Restarts the hub whenever it ends, as a service supervisor would. */
async function keepRunning(hub: Hub): Promise<void> {
  while (!ending.signal.aborted) {
    const { code, signal } = await hub.process().ended
    if (ending.signal.aborted) return
    console.log(`The hub ended (${signal ?? `code ${code}`}) and is started again …`)
    await hub.restart()
    console.log(`The hub is back as process ${hub.process().pid}.`)
  }
}

/** The hub's charts show a day; this fills the past one. */
async function giveDay(hub: Hub): Promise<void> {
  const approved = await hub.api(listGateways)
  for (const [index, { id }] of approved.entries())
    await addDayOfHistory(hub, id, { scale: index === 0 ? 1 : 0.7, silentHours: [] })
  await addDayOfConnections(hub, approved.length)
}

async function main(): Promise<void> {
  await ensureWebBuilt()
  const port = (await isTcpPortFree(PREFERRED_PORT)) ? PREFERRED_PORT : await freeTcpPort()
  const hub = await startHub({ env: { HUB_PORT: String(port), HUB_LOG_LEVEL: 'warn' }, detached: true })
  life.defer(async () => void (await hub.stop()))
  const gateways = await startDevices(hub, fleet, life)
  const stopAnimation = await animate(gateways)
  life.defer(stopAnimation)
  await approveDevices(hub, fleet)
  await giveDay(hub)
  const waiting = gateways.find(({ name }) => !fleet.find((device) => device.name === name)?.isApproved)

  console.log(`
Hub: ${hub.url}
Sign in: ${hub.admin.username} / ${hub.admin.password}

Three gateways run on this machine. Two are approved and send heartbeats and detections; River gate waits.
What the charts and lists show of the day before the start is made up, and drawings stand in for pictures.
Try:
  Approvals   compare River gate's fingerprint with its own page, ${waiting?.pageUrl}, and approve it
  Gateways    Connect opens a gateway's page, carried through its tunnel
  kill -9 ${hub.process().pid}   ends the hub like a power cut; it is started again, and the tunnels are back in seconds
Ctrl-C ends all of it and removes its files.
`)
  await keepRunning(hub)
}

main().catch((error: unknown) => {
  if (ending.signal.aborted) return
  console.error(error instanceof Error ? error.message : error)
  void end(1)
})
