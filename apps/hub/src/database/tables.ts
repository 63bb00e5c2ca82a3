import type { Alert, Command, CommandAction, DisarmTime, RegistrationHold } from '@hedgerow/contract'
import type { Generated, Kysely, Transaction } from 'kysely'

/**
 * The tables, the same on SQLite and PostgreSQL. Times are milliseconds since 1970 and fit a double; booleans are 0 or
 * 1; structured values are JSON text. Keys and hashes are base64.
 */
export type Tables = {
  /** The hub's own keys and other generated values: `identity-seed`, `wireguard-private-key` and others. */
  secrets: { name: string; value: string }
  settings: { name: string; value: string }
  users: {
    id: string
    username: string
    /** The username in the form that must be unique. */
    username_key: string
    email: string
    first_name: string
    last_name: string
    role: 'user' | 'manager' | 'admin'
    active: number
    password_hash: string
    /** Two-factor: the secret in use, and one that waits for its first code; both sealed, base64. */
    two_factor_secret: string | null
    two_factor_pending: string | null
    /** The time step of the last accepted code (RFC 6238 section 5.2). */
    two_factor_step: number | null
    last_login_at: number | null
    /** Until then the person may use a password although the hub accepts none. */
    local_sign_in_until: number | null
    created_at: number
  }
  /** Unused recovery codes. */
  recovery_codes: { user_id: string; code_hash: string }
  /** Sign-ins with a right password that wait for their code. */
  sign_in_challenges: {
    token_hash: string
    user_id: string
    /** The network that must answer it. */
    source: string
    expires_at: number
    attempts: number
  }
  /** Wrong two-factor codes in a row, and when the owner was last notified of them. */
  code_guesses: { user_id: string; failures: number; last_at: number; told_at: number | null }
  /** The IPv4 addresses and IPv6 /64s that each person signed in from, the last few. */
  known_networks: { user_id: string; network: string; last_at: number }
  user_invitations: {
    id: string
    label: string
    code_hash: string
    role: 'user' | 'manager' | 'admin'
    max_uses: number
    uses: number
    expires_at: number
    revoked_at: number | null
    /** The username at that time, or `hub`. */
    created_by: string
    /** Null of the hub, and of invitations from before this was stored. */
    created_by_id: string | null
    created_at: number
  }
  sessions: {
    id: string
    user_id: string
    created_at: number
    expires_at: number
    source_ip: string
    user_agent: string
    /** Where a sign-in provider opened it: the link, the session there (`sid`), and the proof for ending that. */
    provider_link_id: Generated<string | null>
    provider_session: Generated<string | null>
    id_token: Generated<string | null>
  }
  /** People's accounts at sign-in providers; issuer and subject name one. */
  provider_links: {
    id: string
    user_id: string
    issuer: string
    subject: string
    created_at: number
    last_used_at: number
  }
  api_tokens: {
    id: string
    user_id: string
    name: string
    token_hash: string
    role: 'user' | 'manager' | 'admin'
    access: 'read' | 'all'
    created_at: number
    expires_at: number
    last_used_at: number | null
  }
  password_resets: {
    token_hash: string
    user_id: string
    created_at: number
    expires_at: number
  }
  registrations: {
    id: string
    status: 'pending' | 'approved' | 'rejected'
    identity_public_key: string
    wireguard_public_key: string
    /** The gateway whose key this request would change. */
    key_change_for: string | null
    device_name: string
    device_location: string
    device_version: string
    mac_address: string
    device_token: string
    source_ip: string
    /** The user who claimed it before its approval. */
    owner_id: string | null
    /** The gateway invitation whose code the last request carried. */
    invitation_id: string | null
    /** 1 when no rule may approve it. */
    needs_person: Generated<number>
    /** The driver stores its state on this object, so the object gets a new method instead of a wrapper. */
    waits_for: RegistrationHold | null
    reason: string | null
    gateway_id: string | null
    requested_at: number
    decided_at: number | null
    decided_by: string | null
  }
  gateway_invitations: {
    id: string
    label: string
    /** These are of the gateways that join with it. */
    description: Generated<string>
    /** Empty: the device's own. */
    name: Generated<string>
    location: Generated<string>
    /** Null: the site that the gateway's location names. */
    site_id: Generated<string | null>
    /** As in `gateways`. */
    tags: Generated<string>
    owner_id: Generated<string | null>
    /** 0: a person must approve them. */
    approves: Generated<number>
    /** SHA-256 of the code; the code itself is not stored. */
    code_hash: string
    max_uses: number
    uses: number
    expires_at: number
    revoked_at: number | null
    created_at: number
    created_by: string
  }
  /** The channels that admins set up in the portal; the operator's variables win. */
  channels: {
    /** The name of a channel: notifications/channels. */
    name: string
    enabled: number
    /** The values of its fields that are no secrets, as JSON. */
    fields: string
    /** Those of its secrets, as JSON, sealed for this channel: sealed.ts. */
    sealed: string
  }
  /** Outgoing notifications, one row for each channel; sent rows stay, so that nothing is sent twice. */
  notifications: {
    id: Generated<number>
    /** Identifies the event; unique with the channel. */
    key: string
    /** The name of a channel: notifications/channels. */
    channel: string
    kind: string
    /** The notification, as JSON. */
    content: string
    state: 'waiting' | 'sending' | 'sent' | 'failed'
    attempts: number
    created_at: number
    /** When the next attempt is due. */
    due_at: number
    error: string | null
    /** The alert that the message is about. */
    alert_id: string | null
    /** When its last attempt ended; null before the first. */
    attempted_at: number | null
    /** How often a person had it sent again. */
    sent_again: Generated<number>
  }
  gateways: {
    id: string
    kind: 'enrolled' | 'wireguard'
    name: string
    name_key: string
    location: string
    description: string
    site_id: Generated<string | null>
    /** A JSON array of words in lower case, sorted. */
    tags: Generated<string>
    device_token: string
    owner_id: string | null
    identity_public_key: string | null
    wireguard_public_key: string
    preshared_key: string
    /** A plain-WireGuard gateway's private key, until its first handshake; null for all others. */
    private_key: string | null
    address: string
    /** The last WireGuard endpoint, so that a restarted hub can start the handshakes. */
    endpoint_address: string | null
    endpoint_port: number | null
    last_handshake_at: number | null
    source_ip: string | null
    version: string | null
    last_heartbeat_at: number | null
    /** The last heartbeat as JSON. */
    heartbeat: string | null
    created_at: number
  }
  /** All ports of gateways' interfaces in port mode, also those of deleted gateways: no port is used again. */
  ui_ports: {
    port: number
    gateway_id: string
    /** Null for the gateway's own interface. */
    application: string | null
  }
  detections: {
    gateway_id: string
    id: string
    camera: string
    label: string
    severity: 'alert' | 'detection'
    score: number
    started_at: number
    ended_at: number | null
    /** Base64, from older hubs, until detections/carry-over.ts has moved it to `thumbnails`. */
    thumbnail: string | null
    /** The size of the JPEG in `thumbnails`; null without one. */
    thumbnail_bytes: number | null
    /** `DetectionDetails` of the contract as JSON in ASCII. */
    details: string | null
    validated: number | null
    false_positive: number | null
    deterrent: string | null
    received_at: number
    /** The incident that it is part of. */
    incident_id: string | null
    /** 1 while its gateway holds it back. */
    suppressed: Generated<number>
    /** 1 while its gateway asks people to look again. */
    doubtful: Generated<number>
    /** 1 when its camera or gateway was snoozed as it began. */
    snoozed: Generated<number>
  }
  /** One event for people: detections of one gateway and label with less than 45 s between them. */
  incidents: {
    id: string
    gateway_id: string
    /** A person's label where there is one. */
    label: string
    reported_label: string
    severity: 'alert' | 'detection'
    started_at: number
    /** When its last detection ended, or when that began, if it has not ended. */
    last_at: number
    detections: number
    /** The detection with a picture and the highest score, and its camera; else of the first detection. */
    cover_id: string | null
    camera: string
    score: number
    fired: number
    verdict: 'right' | 'wrong' | null
    /** The username at that time. */
    reviewed_by: string | null
    reviewed_at: number | null
    /** 1 when its gateway holds all of it back. */
    suppressed: Generated<number>
    /** 1 when its gateway asks people to look again. */
    doubtful: Generated<number>
    /** 1 when all of it is. */
    snoozed: Generated<number>
  }
  /** The cameras that saw each incident; `started_at` is the incident's. */
  incident_cameras: { incident_id: string; camera: string; gateway_id: string; started_at: number }
  alert_rules: {
    id: string
    /** AlertRuleFields as JSON. */
    fields: string
    created_at: number
    /** Its last message: number, time, and how many incidents it is about. */
    message: Generated<number>
    message_at: number | null
    incidents: Generated<number>
  }
  /** The content of one message of a rule, and who acknowledged it. */
  alerts: {
    id: string
    rule_id: string
    kind: Generated<Alert['kind']>
    /** The rule's name at that time. */
    rule_name: string
    /** The number of the rule's message, from 1. */
    number: number
    at: number
    /** When its message is or was due. */
    due_at: number
    /** The first lines of the message: `Line` of alerts/words.ts, as JSON. */
    lines: string
    /** How many things of each gateway it is about, as JSON; the key of the hub itself is empty. */
    counts: string
    /** How many incidents of each gateway, place, camera and label: `Tally` as JSON. Older alerts have none. */
    sightings: string | null
    /** The gateway, when everything that it is about is of one gateway. */
    gateway_id: string | null
    /** How many steps were told after the message, and when the next one is due. */
    step: Generated<number>
    next_step_at: number | null
    /** When people are told in the portal and by push; null once they were. */
    people_due_at: number | null
    acknowledged_at: number | null
    /** The username at that time; empty for the link of a shared channel. */
    acknowledged_by: string | null
    acknowledged_via: string | null
    /** When everything that it is about was over. */
    cleared_at: number | null
  }
  /** Outages that rules report after their hold-off: alerts/problems.ts. */
  alert_problems: {
    rule_id: string
    /** The outage, by a name that does not change while it lasts: `quiet <gateway>`. */
    subject: string
    since: number
    due_at: number
    /** `Line` of alerts/words.ts as JSON. */
    line: string
    /** The alert that reported it. */
    alert_id: string | null
  }
  /** The notices of alerts in the portal, for each person. */
  notices: { user_id: string; alert_id: string; at: number; read_at: number | null }
  /** Browsers that show push messages: an address of their push service, and their keys in base64url. */
  push_subscriptions: {
    id: string
    user_id: string
    endpoint: string
    p256dh: string
    auth: string
    user_agent: string
    /** The session in which it subscribed. */
    session_id: string | null
    created_at: number
    last_at: number | null
    last_error: string | null
  }
  /** AlertPreferences as JSON. */
  alert_preferences: { user_id: string; preferences: string }
  /** A rule reports an incident once. */
  alerted_incidents: { rule_id: string; incident_id: string; at: number; alert_id: string | null }
  /** Pictures that went to the vision endpoint. `day` is ISO 8601, UTC. */
  second_looks: { day: string; gateway_id: string; pictures: number }
  reviews: {
    gateway_id: string
    detection_id: string
    seq: number
    /** Null when it was taken back. */
    verdict: 'right' | 'wrong' | null
    label: string | null
    by_id: string
    at: number
    camera: string
    detected_at: number
  }
  /**
   * What an incident was before a review, to undo it: detections/undo.ts. `seq` rises with each review of a gateway.
   */
  former_reviews: {
    id: string
    incident_id: string
    gateway_id: string
    seq: number
    by_id: string
    at: number
    detections: number
    label: string
    verdict: 'right' | 'wrong' | null
    reviewed_by: string | null
    reviewed_at: number | null
  }
  /** Its detections then, with their reviews; `by_id` is null for one without. */
  former_detections: {
    review_id: string
    detection_id: string
    suppressed: number
    doubtful: number
    verdict: 'right' | 'wrong' | null
    label: string | null
    by_id: string | null
    at: number | null
  }
  /**
   * Gateways that the MQTT broker retains messages of. `components` is the platform of each of their entities by its
   * key, as JSON, former ones included: home-assistant/home-assistant.ts.
   */
  home_assistant_devices: { gateway_id: string; components: string }
  /** The newest request for an update of each gateway: updates/updates.ts. */
  gateway_updates: {
    gateway_id: string
    number: number
    version: string
    attempt: number
    /** The username at that time; null for automatic updates. */
    by_name: string | null
    state: 'asked' | 'done' | 'failed' | 'skipped'
    message: string
    asked_at: number
    ended_at: number | null
    /** When the hub said that it holds the other gateways back; null before that. */
    held_at: number | null
  }
  /** Places with gateways. */
  sites: {
    id: string
    name: string
    /** Degrees; null for an unknown place. */
    latitude: number | null
    longitude: number | null
    time_zone: string | null
    notes: Generated<string>
    created_at: number
  }
  /** The present and former names of sites: a gateway that joins with one as its location is put in the site. */
  site_names: { name: string; site_id: string }
  /** Sites whose automatic updates differ from the hub's settings. */
  site_updates: {
    /** Its id. */
    site: string
    /** 0 or 1; null for the hub's setting. */
    automatic: number | null
    /** Null for the hub's setting. */
    hours: string | null
  }
  /** Automatic updates to a release. */
  rollouts: {
    number: number
    version: string
    state: 'running' | 'stopped'
    message: string
    started_at: number
  }
  /** Commands of people to gateways: commands/commands.ts. */
  commands: {
    id: string
    gateway_id: string
    action: CommandAction
    deterrent: string | null
    seconds: number | null
    /** Of a `disarm` with an end. */
    lasts: DisarmTime | null
    /** JSON of `SnoozeOrder`. */
    snooze: string | null
    /** JSON of `LearningUndo`. */
    learning: string | null
    by_id: string
    /** The username at that time. */
    by_name: string
    source_ip: string
    state: Command['state']
    code: string | null
    message: string
    created_at: number
    expires_at: number
    ended_at: number | null
  }
  /** The entries of gateways' ledgers; `entry` is JSON. `entry_id` and `at` are the device's. */
  ledger: { gateway_id: string; entry_id: number; at: number; received_at: number; entry: string }
  thumbnails: { gateway_id: string; detection_id: string; jpeg: Uint8Array }
  /**
   * How many detections of a gateway are stored, and their bytes: `DETECTION_BYTES` each, details and thumbnail.
   */
  detection_totals: { gateway_id: string; detections: number; bytes: number }
  /** Refused detections, in the five minutes from `at`. */
  detection_refusals: { gateway_id: string; at: number; reason: RefusalReason; detections: number }
  /** Holds a row only while the hub tests whether its database accepts one. */
  storage_probe: { id: number; filler: string }
  activity: {
    id: Generated<number>
    at: number
    type: 'info' | 'success' | 'warning' | 'error'
    message: string
    gateway_id: string | null
    /** The fact's kind; null for entries of older hubs. */
    kind: string | null
    /** The gateway's detection. */
    detection_id: string | null
  }
  /** Filters of Threats that a person keeps, as the address has them. */
  saved_views: { id: string; user_id: string; name: string; filter: string; created_at: number }
  /** The dashboard's chart: a row for each hour (its start) and `fleet` or the id of a gateway. */
  hourly_stats: { hour: number; scope: string; active_connections: number; firings: Generated<number> }
  /** The charts of a gateway's page: a row for each gateway and hour (its start). Sums are of its heartbeats. */
  gateway_hours: {
    gateway_id: string
    hour: number
    heartbeats: number
    load_sum: number
    load_max: number
    memory_sum: number
    memory_max: number
    disk_sum: number
    disk_max: number
    /** Heartbeats with a temperature: a device may have no sensor. */
    temperatures: number
    temperature_sum: number
    temperature_max: number
    received_bytes: number
    sent_bytes: number
  }
  audit: {
    id: Generated<number>
    at: number
    /** The username, or `hub` or `gateway`. */
    actor: string
    actor_id: string | null
    action: string
    target: string | null
    source_ip: string | null
    result: 'ok' | 'refused'
    /** Why it was refused, in words, where the refusal has more than one reason. */
    reason: Generated<string | null>
  }
  /** The log of facts, in the order of commits on SQLite and of inserts on PostgreSQL: facts/facts.ts. */
  facts: {
    /** Ids only rise and are never reused. */
    id: Generated<number>
    kind: string
    at: number
    actor: string
    actor_id: string | null
    source_ip: string | null
    target: string | null
    gateway_id: string | null
    site_id: string | null
    /** JSON, by kind. */
    data: string
  }
  /**
   * One row: the clock at the hub's last check, and how long the hub still deletes nothing because the clock jumped.
   */
  hub_clock: { id: number; seen_at: number; hold_ms: number }
  /** Backups of the schedule: bytes and the file's time are null until it is complete. */
  backups: {
    id: Generated<number>
    file: string
    begun_at: number
    bytes: number | null
    modified_at: number | null
  }
  /** The greatest TAI64N of each key's WireGuard initiations, in hexadecimal. */
  handshake_timestamps: { wireguard_public_key: string; timestamp: string }
  ui_access: {
    id: Generated<number>
    gateway_id: string
    user_id: string
    started_at: number
    source_ip: string
    /** Null for the gateway's own interface. */
    application: string | null
  }
}

export type RefusalReason = 'rate' | 'bytes' | 'storage'

/** A database or, inside a transaction, the transaction: verbs take it first and work in both. */
export type Db = Kysely<Tables> | Transaction<Tables>
