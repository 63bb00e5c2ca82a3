/** What needs no zod: screens import these from `@hedgerow/contract/constants`, and load no schemas for them. */

/** The path prefix of every call of the contract. */
export const API_BASE = '/api'
/** The browser's local storage key for the access token. */
export const TOKEN_STORAGE_KEY = 'hubToken'
/**
 * On the origin of a gateway's pages the hub answers here, so that a page of the hub knows that its browser gets there.
 */
export const GATEWAY_REACH_PATH = '/__hub/reach'
/** After a redirect for an ended session, the portal makes no further one for this long. */
export const SESSION_REDIRECT_SUPPRESSION_MS = 1_000
export const DASHBOARD_REFRESH_MS = 30_000
export const GATEWAY_LIST_REFRESH_MS = 30_000
export const PENDING_LIST_REFRESH_MS = 10_000
/** The port of a gateway's own interface, on the device and on its tunnel address. */
export const GATEWAY_PORT = 8080
export const HUB_DEFAULT_PORT = 8080
export const HUB_DEFAULT_HTTPS_PORT = 8443
export const VPN_LISTEN_PORT = 51820
export const KEEPALIVE_SECONDS = 25
/** How long a deterrent that gateway.yaml does not have may be on. */
export const TRIAL_SECONDS = 3
export const HEARTBEAT_INTERVAL_MS = 30_000
/** The port on the hub's tunnel address where gateways reach the gateway API. */
export const TUNNEL_API_PORT = 8080
/** How many characters of a WireGuard public key the registration details show. */
export const PUBLIC_KEY_DISPLAY_LENGTH = 40
/** The longest body of an enrolment message, in bytes. */
export const ENROLMENT_BODY_LIMIT = 16 * 1024
/** The longest body of a call of an approved gateway, in bytes; a gateway splits longer reports. */
export const GATEWAY_BODY_LIMIT = 2 * 1024 * 1024
/** How long a gateway may ask the hub to hold a status request open, in seconds. */
export const STATUS_WAIT_MAX_SECONDS = 25
/** A challenge's nonce is valid for one registration within this time. */
export const CHALLENGE_LIFETIME_MS = 120_000

/** The path prefix of a device's own interface, on port 8080 of the device. */
export const DEVICE_UI_BASE = '/device'
/** The path prefix of `deviceCalls`. */
export const DEVICE_API_BASE = `${DEVICE_UI_BASE}/api`
/**
 * The header of a device's answer with a camera's newest picture: a list of `LiveBox` as percent-encoded JSON, so that
 * boxes and picture belong together.
 */
export const LIVE_BOXES_HEADER = 'x-live-boxes'

/** Carries the cursor of the next page; see `pageQuery`. */
export const NEXT_CURSOR_HEADER = 'x-next-cursor'
/** The most gateways in a call of `tagGateways`. */
export const TAGGED_AT_ONCE_MAX = 500
/** The most detections in an export of Threats. */
export const EXPORT_DETECTIONS_MAX = 10_000
/** How long an address of `createClipLink` works. */
export const CLIP_LINK_LIFETIME_MS = 30 * 60_000
/** The most pictures in a call of `readThumbnails`. */
export const THUMBNAILS_AT_ONCE = 30
/** The longest `of` of `readThumbnails`; the whole address must pass the proxies in front of a hub. */
export const THUMBNAIL_NAMES_MAX = 6_000
/** A detection in that `of`. */
export const thumbnailName = (gateway: string, detection: string): string =>
  `${gateway}/${encodeURIComponent(detection)}`

/** What a gateway's eye is called among its detectors while it has no model. */
export const NO_MODEL = 'motion, no model'

/** The most lines of a file of labels. */
export const LABELS_MAX = 200

/** The names of channels in the words of a person. */
export const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  portal: 'Portal',
  push: 'Push',
  email: 'Mail',
  person: 'Mail',
  webhook: 'Webhook',
  ntfy: 'ntfy',
  telegram: 'Telegram',
  pushover: 'Pushover',
  mqtt: 'MQTT',
}
