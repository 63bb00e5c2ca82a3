import type { Condition } from './hub/conditions.ts'

/** What the device page shows, `GET /api/state` gives, and `Gateway.state()` returns. */
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
  /** Opens the hub's claim dialog with this device's token; null while no hub is found. */
  claimUrl: string | null
  gatewayId: string | null
  vpnAddress: string | null
  conditions: Condition[]
  detectionsWaiting: number
  /** Count since start: the queue was full, or the hub refused them for good. */
  detectionsDropped: number
}
