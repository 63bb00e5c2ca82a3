/**
 * The Prometheus series of each gateway, in the text format (version 0.0.4). Written by hand and not with prom-client,
 * because ten thousand gateways are eighty thousand lines in each scrape. The label is the gateway's id; names stay
 * out.
 */
import type { FleetStatus } from '../fleet/fleet.ts'
import type { VpnTraffic } from '../tunnel/tunnel.ts'

type Counted = { stored: number; refused: number }

export type GatewaySeries = {
  countDetections(gatewayId: string, result: keyof Counted, count: number): void
  /** The page: `before`, then the lines of these gateways. Drops the counts of all others. */
  render(before: string, statuses: readonly FleetStatus[], traffic: ReadonlyMap<string, VpnTraffic>): Buffer
}

export function createGatewaySeries(): GatewaySeries {
  let counted = new Map<string, Counted>()
  let lastBytes = 0

  return {
    countDetections(gatewayId, result, count) {
      const counts = counted.get(gatewayId) ?? { stored: 0, refused: 0 }
      counts[result] += count
      counted.set(gatewayId, counts)
    },

    render(before, statuses, traffic) {
      const page = createPage(lastBytes)
      page.text(before)
      const remaining = new Map<string, Counted>()

      page.family('status', 'gauge', 'The status that a gateway has, as 1')
      for (const { id, status } of statuses) page.add(id, `,status="${status}"`, 1)
      page.family('last_seen_timestamp_seconds', 'gauge', 'When a gateway last sent a heartbeat or shook hands')
      for (const { id, lastSeenAt } of statuses) if (lastSeenAt !== undefined) page.add(id, '', lastSeenAt / 1_000)
      page.family('detections_total', 'counter', 'Detections since the hub started, stored or refused')
      for (const { id } of statuses) {
        const detected = counted.get(id)
        if (detected) remaining.set(id, detected)
        page.add(id, ',result="stored"', detected?.stored ?? 0)
        page.add(id, ',result="refused"', detected?.refused ?? 0)
      }
      page.family('queued_detections', 'gauge', 'Detections that waited on the device at its last heartbeat')
      for (const { id, queue } of statuses) if (queue) page.add(id, '', queue.waiting)
      page.family('lost_detections', 'gauge', 'Detections that the device lost since its agent started')
      for (const { id, queue } of statuses) if (queue) page.add(id, '', queue.lost)
      page.family('restarts_total', 'counter', 'Restarts of the agent that nobody asked for, since its device started')
      for (const { id, restarts } of statuses) if (restarts) page.add(id, '', restarts.sinceBoot)
      page.family('tunnel_bytes_total', 'counter', 'Bytes through a tunnel since the hub started')
      for (const { id, publicKey } of statuses) {
        const peer = traffic.get(publicKey)
        if (!peer) continue
        page.add(id, ',direction="received"', peer.receivedBytes)
        page.add(id, ',direction="sent"', peer.sentBytes)
      }
      counted = remaining
      const bytes = page.bytes()
      lastBytes = bytes.length
      return bytes
    },
  }
}

/** Text is converted to bytes in parts of this size: one text of megabytes costs more. */
const CHUNK_CHARACTERS = 16_384

/** Writes ASCII into one buffer: copies of megabytes cost as much as the text. */
function createPage(expectedBytes: number) {
  let bytes = Buffer.allocUnsafeSlow(expectedBytes + CHUNK_CHARACTERS)
  let length = 0
  let name = ''
  let text = ''

  function flush(): void {
    if (length + text.length > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (length + text.length))
      bytes.copy(larger, 0, 0, length)
      bytes = larger
    }
    length += bytes.write(text, length, 'latin1')
    text = ''
  }

  return {
    text(before: string) {
      text = before
      flush()
    },
    family(suffix: string, type: 'gauge' | 'counter', help: string) {
      name = `hedgerow_gateway_${suffix}`
      text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    },
    /** `labels`: those beside the gateway's, each after a comma. */
    add(gatewayId: string, labels: string, value: number) {
      text += `${name}{gateway="${gatewayId}"${labels}} ${value}\n`
      if (text.length >= CHUNK_CHARACTERS) flush()
    },
    bytes() {
      flush()
      return bytes.subarray(0, length)
    },
  }
}
