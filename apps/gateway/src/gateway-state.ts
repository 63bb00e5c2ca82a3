import type { Condition } from './hub/conditions.ts'

/** What the device page shows, `GET /api/state` gives, and `Gateway.state()` returns. */
export type GatewayState = {
  name: string
  location: string
  version: string
  deviceToken: string
  /** Of this device's identity key. */
  fingerprint: string
  /** Of the trusted hub's identity key; null before the first registration. */
  hubFingerprint: string | null
  /** The hub's origin; null while it is not found. */
  hubUrl: string | null
  /** Opens the hub's claim dialog with this device's token; null while the hub is not found. */
  claimUrl: string | null
  gatewayId: string | null
  vpnAddress: string | null
  conditions: Condition[]
  detectionsWaiting: number
  /** Since start, because too many waited or the hub will never take them. */
  detectionsDropped: number
}
