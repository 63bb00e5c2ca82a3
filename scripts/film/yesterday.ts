import { randomUUID } from 'node:crypto'
import { listDetections, listGateways, readDetectionThumbnail } from '@hedgerow/contract'
import type { TestGateway } from '../../test/harness/gateway.ts'
import type { Hub } from '../../test/harness/hub.ts'
import { waitFor } from '../../test/harness/wait-for.ts'

const HOUR_MS = 3_600_000
const LASTS_MS = 12_000
/** Far enough apart to be incidents of their own. */
const APART_MS = 240_000
const TIMEOUT_MS = 60_000

/**
 * A demo is minutes old, and a chart shows a day: each gateway reports what its detector saw once more, at hours of the
 * past day, most at dusk and dawn. Only the hours are made up.
 */
export async function giveYesterday(hub: Hub, gateways: readonly TestGateway[]): Promise<void> {
  for (const [index, { id, name }] of (await hub.api(listGateways)).entries()) {
    const list = async () => hub.api(listDetections, { params: { id } })
    const seen = (await list()).find(({ hasThumbnail }) => hasThumbnail)
    if (!seen) continue
    const { camera, label, severity, score } = seen
    const jpeg = await hub.api(readDetectionThumbnail, { params: { id, detectionId: seen.id } })
    const thumbnail = Buffer.from(jpeg).toString('base64')
    const again = visits(index).map((atMs) => ({
      id: randomUUID(),
      camera,
      label,
      severity,
      score,
      thumbnail,
      startedAt: new Date(atMs).toISOString(),
      endedAt: new Date(atMs + LASTS_MS).toISOString(),
    }))
    await gateways.find((one) => one.name === name)!.reportDetections(again)
    const isStored = async () => (await list()).some((one) => one.id === again.at(-1)!.id)
    await waitFor(isStored, { for: `yesterday of ${name}`, timeoutMs: TIMEOUT_MS })
  }
}

/** When gateway number `index` had visitors, newest last. */
function visits(index: number): number[] {
  const found: number[] = []
  for (let ago = 23; ago > 0; ago--) {
    const atMs = Date.now() - ago * HOUR_MS
    const hour = new Date(atMs).getHours()
    const isTwilight = (hour >= 5 && hour <= 8) || (hour >= 18 && hour <= 22)
    const times = (ago * 5 + index * 3) % (isTwilight ? 5 : 2)
    for (let time = 0; time < times; time++) found.push(atMs + time * APART_MS)
  }
  return found
}
