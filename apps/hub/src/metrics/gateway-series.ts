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
  render(statuses: readonly FleetStatus[], peers: readonly VpnPeerStatus[]): Buffer
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
      const page = createPage()
      const kept = new Map<string, Counted>()

      page.family('status', 'gauge', 'The status that a gateway has, as 1')
      for (const { id, status } of statuses) page.add(id, `,status="${status}"`, 1)
      page.family('last_seen_timestamp_seconds', 'gauge', 'When a gateway last sent a heartbeat or shook hands')
      for (const { id, lastSeenAt } of statuses) if (lastSeenAt !== undefined) page.add(id, '', lastSeenAt / 1_000)
      page.family('detections_total', 'counter', 'Detections since the hub started, stored or refused')
      for (const { id } of statuses) {
        const detected = counted.get(id)
        if (detected) kept.set(id, detected)
        page.add(id, ',result="stored"', detected?.stored ?? 0)
        page.add(id, ',result="refused"', detected?.refused ?? 0)
      }
      page.family('queued_detections', 'gauge', 'Detections that waited on the device at its last heartbeat')
      for (const { id, queue } of statuses) if (queue) page.add(id, '', queue.waiting)
      page.family('lost_detections', 'gauge', 'Detections that the device lost since its agent started')
      for (const { id, queue } of statuses) if (queue) page.add(id, '', queue.lost)
      page.family('tunnel_bytes_total', 'counter', 'Bytes through a tunnel since the hub started')
      const peerOf = new Map(peers.map((peer) => [peer.publicKey, peer]))
      for (const { id, publicKey } of statuses) {
        const peer = peerOf.get(publicKey)
        if (!peer) continue
        page.add(id, ',direction="received"', peer.receivedBytes)
        page.add(id, ',direction="sent"', peer.sentBytes)
      }
      counted = kept
      return page.bytes()
    },
  }
}

/** Bytes early, because one text of megabytes costs three times as much. */
const CHUNK_CHARACTERS = 32_768

/** All of it is ASCII. */
function createPage() {
  const chunks: Buffer[] = []
  let name = ''
  let text = ''
  return {
    family(suffix: string, type: 'gauge' | 'counter', help: string) {
      name = `hedgerow_gateway_${suffix}`
      text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    },
    /** `labels`: those beside the gateway's, each after a comma. */
    add(gatewayId: string, labels: string, value: number) {
      text += `${name}{gateway="${gatewayId}"${labels}} ${value}\n`
      if (text.length < CHUNK_CHARACTERS) return
      chunks.push(Buffer.from(text, 'latin1'))
      text = ''
    },
    bytes: () => Buffer.concat([...chunks, Buffer.from(text, 'latin1')]),
  }
}
