/**
 * A gateway as a device of Home Assistant: its discovery message and its state. Pure. Names of people and devices are
 * values of JSON and never part of a topic or a template.
 */
import { createHash } from 'node:crypto'
import { PROTECTION_STATES, protectionOf, type Heartbeat } from '@hedgerow/contract'

/** The part of a gateway's state that the database holds. */
export type StoredView = {
  name: string
  threatsToday: number
  /** Its newest incident that is not held back. */
  last: {
    id: string
    label: string
    camera: string
    severity: 'alert' | 'detection'
    score: number
    startedAt: number
    coverId: string | null
  } | null
}

export type GatewayView = StoredView & {
  id: string
  status: 'online' | 'offline' | 'warning'
  reason: string
  heartbeat: Heartbeat | undefined
  /** By how many milliseconds the hub's clock is ahead of the device's. */
  aheadMs: number
  /** Changes since that heartbeat. */
  armed: boolean | undefined
  /** Names of deterrents that are on. */
  firing: ReadonlySet<string>
}

export type Topics = { base: string; discovery: string }
type Component = { p: string } & Record<string, unknown>
export type Device = {
  config: { components: Record<string, Component>; rest: Record<string, unknown> }
  state: Record<string, unknown>
}

const STATE_MAX = 255

export const gatewayTopics = ({ base, discovery }: Topics, id: string) => ({
  config: `${discovery}/device/hedgerow_${id}/config`,
  state: `${base}/gateways/${id}/state`,
  picture: `${base}/gateways/${id}/picture`,
  commands: `${base}/gateways/${id}/set`,
})

/** The key of a camera or a deterrent in topics and templates. */
export function keyOf(kind: 'camera' | 'deterrent', name: string): string {
  return `${kind}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

/** With `commands`, switches and buttons control the device; without, these entities only show their state. */
export function deviceOf(view: GatewayView, options: { topics: Topics; portalUrl: string; commands: boolean }): Device {
  const { topics, portalUrl, commands } = options
  const { id, name, heartbeat, last } = view
  const { state, picture, commands: set } = gatewayTopics(topics, id)
  const isAway = view.status === 'offline'
  const hub = { topic: `${topics.base}/status` }
  /** Makes entities unavailable while the gateway is offline. */
  const whileOnline = {
    availability: [
      hub,
      { topic: state, value_template: "{{ 'offline' if value_json.status == 'offline' else 'online' }}" },
    ],
    availability_mode: 'all',
  }
  const entity = (key: string, p: string, words: string, more: Record<string, unknown>): [string, Component] => [
    key,
    { p, unique_id: `hedgerow_${id}_${key}`, name: words, ...more },
  ]
  /** A switch under this key, or the same as a sensor under another: an entity cannot change its platform. */
  const switchable = (key: string, words: string, template: string): [string, Component] =>
    commands
      ? entity(key, 'switch', words, {
          ...whileOnline,
          value_template: template,
          command_topic: `${set}/${key}`,
        })
      : entity(`${key}_state`, 'binary_sensor', words, { ...whileOnline, value_template: template })
  const deterrents = heartbeat?.deterrents ?? []
  const cameras = heartbeat?.cameras ?? []
  const armed = view.armed ?? heartbeat?.armed
  const components = Object.fromEntries([
    entity('online', 'binary_sensor', 'Online', {
      device_class: 'connectivity',
      value_template: "{{ 'OFF' if value_json.status == 'offline' else 'ON' }}",
    }),
    entity('status', 'sensor', 'Status', {
      device_class: 'enum',
      options: ['online', 'warning', 'offline'],
      value_template: '{{ value_json.status }}',
      json_attributes_topic: state,
      json_attributes_template: "{{ {'reason': value_json.reason} | tojson }}",
    }),
    entity('protection', 'sensor', 'Protection', {
      device_class: 'enum',
      options: PROTECTION_STATES,
      value_template: '{{ value_json.protection }}',
      json_attributes_topic: state,
      json_attributes_template:
        "{{ {'reason': value_json.protection_reason, 'until': value_json.protection_until} | tojson }}",
    }),
    entity('threats', 'sensor', 'Threats today', {
      state_class: 'measurement',
      value_template: '{{ value_json.threats }}',
    }),
    entity('last_detection', 'sensor', 'Last detection', {
      value_template: '{{ value_json.last.words }}',
      json_attributes_topic: state,
      json_attributes_template: '{{ value_json.last | tojson }}',
    }),
    entity('picture', 'image', 'Last picture', { image_topic: picture, content_type: 'image/jpeg' }),
    ...(armed === undefined ? [] : [switchable('armed', 'Armed', '{{ value_json.armed }}')]),
    ...(commands && deterrents.length > 0
      ? [
          entity('stop', 'button', 'Stop all deterrents', {
            ...whileOnline,
            command_topic: `${set}/stop`,
            payload_press: 'STOP',
          }),
        ]
      : []),
    ...deterrents.map(({ name: words }) => {
      const key = keyOf('deterrent', words)
      return switchable(key, words, `{{ value_json.${key} }}`)
    }),
    ...cameras.map(({ name: words }) => {
      const key = keyOf('camera', words)
      return entity(key, 'binary_sensor', `Camera ${words}`, {
        device_class: 'connectivity',
        value_template: `{{ value_json.${key} }}`,
      })
    }),
  ])
  const protection = protectionOf({
    isOffline: isAway,
    heartbeat: heartbeat && withChanges(heartbeat, view),
    aheadMs: view.aheadMs,
  })
  const onOff = (isOn: boolean) => (isOn ? 'ON' : 'OFF')
  return {
    config: {
      components,
      rest: {
        device: {
          identifiers: [`hedgerow_${id}`],
          name,
          manufacturer: 'Hedgerow',
          model: 'Gateway',
          configuration_url: `${portalUrl}/gateways/${id}`,
          ...(heartbeat && { sw_version: heartbeat.version }),
        },
        origin: { name: 'Hedgerow', support_url: portalUrl },
        availability: [hub],
        state_topic: state,
      },
    },
    state: {
      status: view.status,
      reason: view.reason,
      protection: protection.state,
      protection_reason: protection.reason,
      protection_until: protection.until,
      threats: view.threatsToday,
      last: last
        ? {
            words: `${last.label} at ${last.camera}`.slice(0, STATE_MAX),
            label: last.label,
            camera: last.camera,
            severity: last.severity,
            score: last.score,
            at: new Date(last.startedAt).toISOString(),
            url: `${portalUrl}/threats?incident=${last.id}`,
          }
        : { words: 'None' },
      ...(armed !== undefined && { armed: onOff(armed) }),
      ...Object.fromEntries(deterrents.map((one) => [keyOf('deterrent', one.name), onOff(view.firing.has(one.name))])),
      ...Object.fromEntries(
        cameras.map((one) => [keyOf('camera', one.name), onOff(one.state === 'online' && !isAway)]),
      ),
    },
  }
}

/** The heartbeat as it would be after the changes that the ledger told since. */
function withChanges(heartbeat: Heartbeat, { armed, firing }: GatewayView): Heartbeat {
  const { disarmed, ...rest } = heartbeat
  const deterrents = heartbeat.deterrents.map((one) =>
    firing.has(one.name) ? { ...one, state: 'active' as const } : one,
  )
  if (armed === undefined) return { ...heartbeat, deterrents }
  return { ...rest, deterrents, armed, ...(!armed && disarmed && { disarmed }) }
}

/**
 * The discovery message. A component that is no longer there keeps its platform and nothing else: Home Assistant
 * removes it, also when it starts later.
 */
export function configOf({ components, rest }: Device['config'], former: Readonly<Record<string, string>>): string {
  const gone = Object.entries(former).filter(([key]) => !(key in components))
  return JSON.stringify({
    ...rest,
    components: { ...Object.fromEntries(gone.map(([key, p]) => [key, { p }])), ...components },
  })
}
