import { parseArgs } from 'node:util'
import { approveRegistration, listPendingRegistrations } from '@hedgerow/contract'
import { openGatewayUi } from '../test/harness/gateway-ui-client.ts'
import { startGateway } from '../test/harness/gateway.ts'
import { startHub } from '../test/harness/hub.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { distributionOf, report, reportGoals } from './report.ts'

/**
 * How long a person waits between Approve and the gateway's page: from the approve call, over the ticket and the
 * handover, to the first byte that came through the new tunnel. Everything runs on this machine's loopback: a hub
 * process of its own, and the gateways in this one. `--gateways N`, 40 by default, one approval after the other.
 */
export async function benchApprove(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { gateways: { type: 'string', default: '40' } } })
  const count = Number(values.gateways)
  const hub = await startHub()
  const names = Array.from({ length: count }, (_, index) => `Gateway ${index + 1}`)
  const gateways = await Promise.all(names.map((name) => startGateway(hub, { name })))
  try {
    const pending = await waitFor(
      async () => {
        const waiting = await hub.api(listPendingRegistrations)
        return waiting.length === count ? waiting : undefined
      },
      { for: 'every gateway to wait for approval', timeoutMs: 60_000 },
    )
    const approveMs: number[] = []
    const handoverMs: number[] = []
    const firstByteMs: number[] = []
    for (const { registrationId } of pending) {
      const startedAtMs = performance.now()
      const { gatewayId } = await hub.api(approveRegistration, { params: { registrationId } })
      approveMs.push(performance.now() - startedAtMs)
      const ui = await openGatewayUi(hub.url, hub.api, gatewayId)
      handoverMs.push(performance.now() - startedAtMs)
      const page = await ui.send('/')
      if (page.status >= 400) throw new Error(`The gateway's page answered ${page.status}: ${page.text}`)
      firstByteMs.push(page.firstByteAtMs - startedAtMs)
    }
    const firstByte = distributionOf(firstByteMs)
    report('approve', {
      'approved after (ms)': distributionOf(approveMs),
      'handed over after (ms)': distributionOf(handoverMs),
      'first byte after (ms)': firstByte,
    })
    reportGoals('approve', { 'first byte, p95, ms': firstByte.p95 })
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await hub.stop()
  }
}
