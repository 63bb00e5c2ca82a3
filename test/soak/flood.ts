import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { joinTunnel, type TestPeer } from '../../apps/hub/testing/peer.ts'
import { startChild } from '../harness/child-process.ts'
import { waitFor } from '../harness/wait-for.ts'
import { metric, usageOf, type Found, type Site } from './site.ts'

const PING_EVERY_MS = 50
const PING_TIMEOUT_MS = 2_000
const LOSS_MAX = 0.01
/** The first address of the hub's own default network. */
const HUB_ADDRESS = '10.100.0.1'

/**
 * Handshakes with a wrong mac1 arrive while gateways are in their tunnels: those lose almost nothing. Ends the site's
 * fleet.
 */
export async function flood(
  site: Site,
  options: {
    packetsPerSecond: number
    seconds: number
    /** Whether the machine does nothing else, so that losses are the hub's. */
    judgesLoss: boolean
  },
): Promise<Found> {
  await using life = new AsyncDisposableStack()
  const { hub, fleet } = site
  // The same gateways, with a stack that can ping.
  await fleet.stop()
  const tunnels = await Promise.all(
    fleet.gateways().map(async (_gateway, index) => {
      const tunnel = await openStored(site, index)
      life.defer(() => tunnel.stop())
      return tunnel
    }),
  )
  const ping = (tunnel: TestPeer) =>
    tunnel.stack.ping(HUB_ADDRESS, { timeoutMs: PING_TIMEOUT_MS }).then(
      () => true,
      () => false,
    )
  await Promise.all(tunnels.map((tunnel) => waitFor(() => ping(tunnel), { for: 'a tunnel', timeoutMs: 60_000 })))
  const before = await usageOf(hub)
  const sender = await startChild(process.execPath, [
    fileURLToPath(import.meta.resolve('./bad-handshakes.ts')),
    ...[hub.vpnPort, options.packetsPerSecond, options.seconds].map(String),
  ])
  life.defer(async () => void (await sender.stop(0)))
  const pings: Promise<boolean>[] = []
  while (!sender.hasEnded()) {
    pings.push(...tunnels.map(ping))
    await sleep(PING_EVERY_MS)
  }
  const answers = await Promise.all(pings)
  const lost = answers.filter((isAnswered) => !isAnswered).length
  const refused = await metric(hub, 'hedgerow_tunnel_drops_total', 'bad-mac1')
  const after = await usageOf(hub)
  const stillLive = (await Promise.all(tunnels.map(ping))).filter(Boolean).length
  const broken: string[] = []
  if (refused === 0) broken.push('the hub saw no handshake with a wrong mac1')
  if (options.judgesLoss && lost > answers.length * LOSS_MAX)
    broken.push(`${lost} of ${answers.length} pings were lost`)
  if (options.judgesLoss && stillLive < tunnels.length)
    broken.push(`${tunnels.length - stillLive} tunnels are silent afterwards`)
  return {
    figures: {
      'packets sent': Number(sender.output()),
      'refused for their mac1': refused,
      pings: answers.length,
      'pings lost': lost,
      'memory before, MB': before.megabytes,
      'memory after, MB': after.megabytes,
    },
    broken,
  }
}

async function openStored({ hub, dataDir }: Site, index: number): Promise<TestPeer> {
  const read = async (name: string) =>
    JSON.parse(await readFile(join(dataDir, String(index), name), 'utf8')) as Record<string, string>
  const [{ wireguardPrivateKey }, approval] = await Promise.all([read('keys.json'), read('approval.json')])
  return joinTunnel({
    privateKey: wireguardPrivateKey!,
    presharedKey: approval['presharedKey']!,
    assignedIp: approval['assignedIp']!,
    hubVpnIp: approval['hubVpnIp']!,
    hubPublicKey: approval['hubPublicKey']!,
    hubPort: hub.vpnPort,
  })
}
