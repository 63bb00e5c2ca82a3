import type { Condition } from '../kernel/conditions.ts'

/** The state on the device page, in `GET /api/state` and in `Gateway.state()`. */
export type GatewayState = {
  name: string
  location: string
  version: string
  deviceToken: string
  /** The fingerprint of this device's identity key. */
  fingerprint: string
  /** The fingerprint of the trusted hub's identity key; null before the first registration. */
  hubFingerprint: string | null
  /** The hub's origin; null while no hub is found. */
  hubUrl: string | null
  /** The address of the hub's claim dialog for this device's token; null while no hub is found. */
  claimUrl: string | null
  gatewayId: string | null
  vpnAddress: string | null
  conditions: Condition[]
  detectionsWaiting: number
  /** Detections lost since the start: the queue was full, or the hub refused them for good. */
  detectionsDropped: number
}
