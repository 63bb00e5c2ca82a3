/**
 * The Prometheus series of each gateway, in the text format (version 0.0.4). Written by hand, not with prom-client: ten
 * thousand gateways are eighty thousand lines in each scrape. The label is the gateway's id; names stay out.
 */
import type { FleetStatus } from '../fleet/fleet.ts'
import type { VpnPeerStatus } from '../tunnel/tunnel.ts'

type Counted = { stored: number; refused: number }

export type GatewaySeries = {
  countDetections(gatewayId: string, result: keyof Counted, count: number): void
  /** The lines for these gateways; drops the counts of all others. */
  render(statuses: readonly FleetStatus[], peers: readonly VpnPeerStatus[]): string
}

export function createGatewaySeries(): GatewaySeries {
  let counted = new Map<string, Counted>()

  return {
    countDetections(gatewayId, result, count) {
      const known = counted.get(gatewayId) ?? { stored: 0, refused: 0 }
      known[result] += count
      counted.set(gatewayId, known)
    },

    render(statuses, peers) {
      const peerOf = new Map(peers.map((peer) => [peer.publicKey, peer]))
      const status = family('status', 'gauge', 'The status that a gateway has, as 1')
      const seen = family('last_seen_timestamp_seconds', 'gauge', 'When a gateway last sent a heartbeat or shook hands')
      const detections = family('detections_total', 'counter', 'Detections since the hub started, stored or refused')
      const traffic = family('tunnel_bytes_total', 'counter', 'Bytes through a tunnel since the hub started')
      const waiting = family('queued_detections', 'gauge', 'Detections that waited on the device at its last heartbeat')
      const lost = family('lost_detections', 'gauge', 'Detections that the device lost since its agent started')
      const kept = new Map<string, Counted>()
      for (const { id, status: now, lastSeenAt, publicKey, queue } of statuses) {
        const labels = `{gateway="${id}"`
        status.add(`${labels},status="${now}"} 1`)
        if (lastSeenAt !== undefined) seen.add(`${labels}} ${lastSeenAt / 1_000}`)
        const detected = counted.get(id)
        if (detected) kept.set(id, detected)
        detections.add(`${labels},result="stored"} ${detected?.stored ?? 0}`)
        detections.add(`${labels},result="refused"} ${detected?.refused ?? 0}`)
        if (queue) {
          waiting.add(`${labels}} ${queue.waiting}`)
          lost.add(`${labels}} ${queue.lost}`)
        }
        const peer = peerOf.get(publicKey)
        if (!peer) continue
        traffic.add(`${labels},direction="received"} ${peer.receivedBytes}`)
        traffic.add(`${labels},direction="sent"} ${peer.sentBytes}`)
      }
      counted = kept
      return [status, seen, detections, waiting, lost, traffic].map(({ text }) => text()).join('')
    },
  }
}

function family(suffix: string, type: 'gauge' | 'counter', help: string) {
  const name = `hedgerow_gateway_${suffix}`
  let lines = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  return {
    add(sample: string) {
      lines += `${name}${sample}\n`
    },
    text: () => lines,
  }
}
