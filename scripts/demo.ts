import { freeTcpPort, isTcpPortFree } from '../test/harness/free-ports.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { approveDevices, startDevices } from './demo-arrivals.ts'
import { prepareDetector } from './demo-detector.ts'
import { prepareFleet, WAITING } from './demo-fleet.ts'
import { startSwitches } from './demo-switches.ts'
import { ensureGatewayUiBuilt, ensureWebBuilt } from './web-build.ts'

/**
 * `npm run demo`: a hub in a temporary directory and five gateways that run the real agent, joined to it by real
 * tunnels over loopback. Four are approved, one waits. Their cameras send rendered scenes, and the valve and the siren
 * are simulated. Everything between is the product: a gateway's eye saw what the hub shows. Everything listens on this
 * machine only, and ends with this process; the hub is a process of its own, so that a person can kill it and watch it
 * return.
 */
const PREFERRED_PORT = 8080
/** Settings of the hub that hold here too. Its data are temporary. */
const HELD = /^HUB_(?:PORT|HOST|HTTPS_PORT|VPN_PORT|GATEWAY_PORTS|ADMIN_(?:USERNAME|EMAIL|PASSWORD)|LOG_LEVEL)$/

const DETECTOR_LOOKS = `photographs of animals and of a person walk through them, and a real detector, SSDLite MobileNet
v2, looks. It knows COCO's labels: person, cow, horse, sheep, dog, bird and others, but no boar, deer or fox.`
const DEMONSTRATION_LOOKS = 'the demonstration eye looks at them. It knows drawn outlines only.'

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

async function hubSettings(): Promise<Record<string, string>> {
  const given = Object.entries(process.env).filter(([name, value]) => name.startsWith('HUB_') && value)
  const settings: Record<string, string> = { HUB_LOG_LEVEL: 'warn', HUB_ADMIN_EMAIL: 'admin@example.net' }
  for (const [name, value] of given)
    if (HELD.test(name)) settings[name] = value!
    else if (name !== 'HUB_WEB_DIR') console.log(`${name} does not hold for the demo.`)
  const { HUB_PORT = '0', HUB_HOST = '0.0.0.0' } = settings
  // The gateways come over loopback.
  if (!['127.0.0.1', '0.0.0.0', '::'].includes(HUB_HOST))
    throw new Error(`HUB_HOST=${HUB_HOST} does not hold for the demo, whose gateways need 127.0.0.1, 0.0.0.0 or ::.`)
  if (HUB_PORT === '0')
    settings['HUB_PORT'] = String((await isTcpPortFree(PREFERRED_PORT)) ? PREFERRED_PORT : await freeTcpPort())
  else if (!(await isTcpPortFree(Number(HUB_PORT)).catch(() => true)))
    throw new Error(`HUB_PORT=${HUB_PORT}: something else listens on this port.`)
  return settings
}

async function main(): Promise<void> {
  const settings = await hubSettings()
  await ensureWebBuilt()
  await ensureGatewayUiBuilt()
  const detector = await prepareDetector()
  const models = 'folder' in detector ? detector.folder : undefined
  if ('why' in detector) console.log(`The demo has no detector, and looks with the demonstration eye: ${detector.why}`)
  const hub = await startHub({ env: settings, detached: true })
  life.defer(async () => void (await hub.stop()))
  const switches = await startSwitches()
  life.defer(() => switches.stop())
  const fleet = await prepareFleet(switches, life, models)
  const gateways = await startDevices(hub, fleet, life)
  await approveDevices(hub, fleet)
  const waiting = gateways.find(({ name }) => name === WAITING)

  console.log(`
Hub: ${hub.url}
Sign in: ${hub.admin.username} / ${hub.admin.password}
Valve and siren: ${switches.url}
The devices' own interfaces, with the password of each:
${gateways.map(({ name, pageUrl, newPassword }) => `  ${name.padEnd(14)}${pageUrl}device/  ${newPassword}`).join('\n')}

Five gateways run on this machine. Four are approved; River gate waits. Their cameras play rendered scenes, a minute
each; ${models ? DETECTOR_LOOKS : DEMONSTRATION_LOOKS}
Try:
  Threats     a ${models ? 'cow' : 'boar'} walks through the orchard; the gateway's rule opens the valve for 8 s
  Gateways    the cameras and deterrents of each; Connect opens its own interface through its tunnel,
              which asks for the device's password before it changes anything
  Approvals   compare River gate's fingerprint with its own page, ${waiting?.pageUrl}, and approve it
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
