/**
 * The fleet in Home Assistant, over the operator's MQTT broker: each gateway is a device with its entities, all of it
 * retained, and withdrawn when the gateway is deleted. The hub remembers which gateways to publish, not a queue of
 * messages: after each connection it publishes the current state of all. commands.ts has the other direction.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact, FactKind, HomeAssistantState } from '@hedgerow/contract'
import { onceAMinute } from '@hedgerow/http'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Commands } from '../commands/commands.ts'
import type { Tables } from '../database/tables.ts'
import type { CommitFollower, Facts } from '../facts/facts.ts'
import type { FleetSignals, FleetStatus, Statuses } from '../fleet/fleet.ts'
import { slices } from '../kernel/slices.ts'
import { createTasks } from '../kernel/tasks.ts'
import { connectBroker, type Broker, type BrokerSettings } from '../mqtt/mqtt.ts'
import { readSettings } from '../settings/settings.ts'
import { createMqttCommands } from './commands.ts'
import { configOf, deviceOf, gatewayTopics, type StoredView } from './device.ts'
import { readStoredView } from './stored-view.ts'

/** How soon a heartbeat shows; facts show at once. */
const LOOK_INTERVAL_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000
/** The last will of a connection that was cut off may come long after the next connection: `online` is repeated. */
const ONLINE_AGAIN_MS = 15_000
/** A connection that lasted this long counts as a good one. */
const GOOD_AFTER_MS = 60_000
const GATEWAYS_AT_ONCE = 50
/** Facts of this time are published together. */
const COLLECT_MS = 250
/** The limit for one gateway, former components included: a gateway may invent names of cameras. */
const COMPONENTS_MAX = 400

const KINDS = [
  'gateway.approved',
  'gateway.rekeyed',
  'gateway.added',
  'gateway.edited',
  'gateway.renamed',
  'gateway.deleted',
  'gateway.status-changed',
  'detection.reported',
  'incident.reviewed',
  'incident.review-undone',
  'deterrent.fired',
  'gateway.armed',
  'gateway.disarmed',
  'settings.changed',
  'channel.changed',
] as const satisfies readonly FactKind[]
type Kind = (typeof KINDS)[number]

export type HomeAssistant = {
  start(): void
  state(): HomeAssistantState
  stop(): Promise<void>
}

type LatestHeartbeat = NonNullable<ReturnType<FleetSignals['heartbeats']['latest']>>
/**
 * The messages of a gateway that were published over this connection: their digests, and the detection of its picture.
 */
type Published = { config?: string; state?: string; picture?: string | null; reason?: Reason }
/** The reason for a gateway's status, as worded when the status began: later words would differ only in the seconds. */
type Reason = { status: FleetStatus['status']; heartbeat: LatestHeartbeat | undefined; words: string }
/** Changes that a gateway's ledger reported after its last heartbeat. */
type Since = { at: number; armed?: boolean; firing: Map<string, number> }

type Options = {
  db: Kysely<Tables>
  clock: () => number
  log: Logger
  facts: Pick<Facts, 'follow'>
  /** Undefined while this hub has no broker. */
  broker: () => BrokerSettings | undefined
  statuses: Statuses
  heartbeats: FleetSignals['heartbeats']
  readPicture: (gatewayId: string, detectionId: string) => Promise<{ jpeg: Buffer }>
  portalUrl: () => string
  commands: Pick<Commands, 'give'>
}

/** Begins anew with each change of the broker's settings. */
export function createHomeAssistant(options: Options): HomeAssistant {
  const { log } = options
  let settings = options.broker()
  let current = settings && createPublisher(options, settings)
  let isStopped = false
  let changing = Promise.resolve()

  async function followBroker(): Promise<void> {
    const now = options.broker()
    if (isStopped || isDeepStrictEqual(now, settings)) return
    await current?.stop()
    settings = now
    current = now && createPublisher(options, now)
    current?.start()
  }

  const follower: CommitFollower<Kind> = {
    name: 'home-assistant',
    kinds: KINDS,
    stage: 'notify',
    afterCommit(facts) {
      if (facts.some(({ kind }) => kind === 'channel.changed'))
        changing = changing
          .then(followBroker)
          .catch((error: unknown) => log.error({ err: error }, 'Home Assistant cannot use the changed broker'))
      current?.take(facts)
    },
  }

  return {
    start() {
      options.facts.follow(follower)
      current?.start()
    },
    state: () => current?.state() ?? { state: 'off', broker: null, since: null, problem: null, devices: 0 },
    async stop() {
      isStopped = true
      await changing
      await current?.stop()
    },
  }
}

/** Publishes the fleet at one broker. */
function createPublisher(options: Options, settings: BrokerSettings) {
  const { db, clock, log } = options
  const topics = { base: settings.topic, discovery: settings.discovery }
  const statusTopic = `${topics.base}/status`
  const broker = new URL(settings.url).host
  const stopping = new AbortController()
  const views = new Map<string, StoredView>()
  const since = new Map<string, Since>()
  /** Gateways to read again. */
  let stale = new Set<string>()
  /** Platforms of the entities in the discovery messages so far, former ones included, by gateway. */
  const components = new Map<string, Record<string, string>>()
  let published = new Map<string, Published>()
  let midnight = 0
  let mayCommand = false
  let settingsAreStale = true
  let wake = Promise.withResolvers<void>()
  const tasks = createTasks({
    log,
    name: 'home-assistant',
    on: 'one hub',
    failure: 'Home Assistant gets no more updates',
  })
  let now: Pick<HomeAssistantState, 'state' | 'since' | 'problem'> = { state: 'connecting', since: null, problem: null }
  const reportRefused = onceAMinute((reason: string, count: number) =>
    log.warn({ reason, count }, 'commands from MQTT were refused'),
  )

  const commands = createMqttCommands({
    base: topics.base,
    clock,
    give: options.commands.give,
    deterrentsOf: (id) => options.heartbeats.latest(id)?.content.deterrents.map(({ name }) => name) ?? [],
    onRefused: reportRefused,
    onEnded(id) {
      // Publishes the actual state again, because the switch in Home Assistant shows the requested one.
      const entry = published.get(id)
      if (entry) delete entry.state
      wake.resolve()
    },
  })

  function heed(fact: Fact<Kind>): void {
    if (fact.kind === 'settings.changed') settingsAreStale = true
    const { gatewayId, at } = fact
    if (gatewayId === undefined) return
    stale.add(gatewayId)
    if (fact.kind !== 'deterrent.fired' && fact.kind !== 'gateway.armed' && fact.kind !== 'gateway.disarmed') return
    const entry = since.get(gatewayId) ?? { at, firing: new Map<string, number>() }
    entry.at = at
    if (fact.kind === 'deterrent.fired') entry.firing.set(fact.data.deterrent, at + (fact.data.seconds ?? 0) * 1_000)
    else entry.armed = fact.kind === 'gateway.armed'
    since.set(gatewayId, entry)
  }

  /** Reads settings and stale gateways, after midnight all of them. */
  async function readAgain(connection: Broker): Promise<void> {
    if (settingsAreStale) {
      settingsAreStale = false
      const { homeAssistantCommands } = await readSettings(db)
      if (!homeAssistantCommands && mayCommand) await connection.unsubscribe(commands.topics)
      now.problem = homeAssistantCommands && !mayCommand ? await problemOfSubscribing(connection) : null
      mayCommand = homeAssistantCommands && now.problem === null
    }
    const today = new Date(clock()).setHours(0, 0, 0, 0)
    for (const { id } of await options.statuses()) if (today !== midnight || !views.has(id)) stale.add(id)
    midnight = today
    const due = stale
    stale = new Set()
    try {
      for (const id of due) {
        const view = await readStoredView(db, id, midnight)
        if (view) views.set(id, view)
        else await takeBack(connection, id)
        due.delete(id)
      }
    } finally {
      for (const id of due) stale.add(id)
    }
  }

  /**
   * The reason why the broker lets the hub publish but not subscribe; then the fleet is published without its switches.
   */
  async function problemOfSubscribing(connection: Broker): Promise<string | null> {
    try {
      await connection.subscribe(commands.topics)
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  async function takeBack(connection: Broker, id: string): Promise<void> {
    views.delete(id)
    since.delete(id)
    published.delete(id)
    if (!components.has(id)) return
    const { config, state, picture } = gatewayTopics(topics, id)
    for (const topic of [config, picture, state]) await connection.publish(topic, '', { retain: true })
    await db.deleteFrom('home_assistant_devices').where('gateway_id', '=', id).execute()
    components.delete(id)
  }

  async function publishChanges(connection: Broker): Promise<void> {
    for await (const some of slices(await options.statuses(), GATEWAYS_AT_ONCE))
      for (const status of some) {
        const view = views.get(status.id)
        if (view) await publishGateway(connection, view, status)
      }
  }

  async function publishGateway(connection: Broker, view: StoredView, standing: FleetStatus): Promise<void> {
    const { id, status } = standing
    const heartbeat = options.heartbeats.latest(id)
    const entry = published.get(id) ?? {}
    published.set(id, entry)
    if (entry.reason?.status !== status || (status === 'warning' && entry.reason.heartbeat !== heartbeat))
      entry.reason = { status, heartbeat, words: standing.reason }
    const device = deviceOf(
      {
        ...view,
        id,
        status,
        reason: entry.reason.words,
        heartbeat: heartbeat?.content,
        aheadMs: heartbeat ? heartbeat.at - heartbeat.content.clock : 0,
        ...sinceHeartbeat(id, heartbeat),
      },
      { topics, portalUrl: options.portalUrl(), commands: mayCommand },
    )
    const to = gatewayTopics(topics, id)
    const former = components.get(id) ?? {}
    const config = configOf(device.config, former)
    if (entry.config !== digestOf(config)) {
      const current = Object.entries(device.config.components).map(([key, { p }]) => [key, p] as const)
      const before = Object.entries(former).filter(([key]) => !(key in device.config.components))
      await remember(id, Object.fromEntries([...before, ...current].slice(-COMPONENTS_MAX)))
      await connection.publish(to.config, config, { retain: true })
      entry.config = digestOf(config)
    }
    const state = JSON.stringify(device.state)
    if (entry.state !== digestOf(state)) {
      await connection.publish(to.state, state, { retain: true })
      entry.state = digestOf(state)
    }
    const picture = view.last?.coverId ?? null
    if (entry.picture === picture) return
    const read = picture === null ? undefined : await options.readPicture(id, picture).catch(() => undefined)
    // When there is no picture, or the hub's limits deleted it, the previous one stays.
    if (read) await connection.publish(to.picture, read.jpeg, { retain: true })
    entry.picture = picture
  }

  /** Stored before the message is sent, so that a crash loses no entity. */
  async function remember(id: string, platforms: Record<string, string>): Promise<void> {
    const text = JSON.stringify(platforms)
    if (text === JSON.stringify(components.get(id))) return
    await db
      .insertInto('home_assistant_devices')
      .values({ gateway_id: id, components: text })
      .onConflict((conflict) => conflict.column('gateway_id').doUpdateSet({ components: text }))
      .execute()
    components.set(id, platforms)
  }

  function sinceHeartbeat(id: string, heartbeat: LatestHeartbeat | undefined) {
    const later = since.get(id)
    if (later && heartbeat && heartbeat.at > later.at) since.delete(id)
    const entry = since.get(id)
    const reported = (heartbeat?.content.deterrents ?? [])
      .filter(({ state }) => state === 'active')
      .map(({ name }) => name)
    const firing = [...(entry?.firing ?? [])].filter(([, until]) => until > clock()).map(([name]) => name)
    return { armed: entry?.armed, firing: new Set([...reported, ...firing]) }
  }

  /** Publishes until the connection ends; rejects with the reason. */
  async function serve(connection: Broker): Promise<never> {
    published = new Map()
    // Gateways may have been deleted while the broker was away.
    for (const id of components.keys()) stale.add(id)
    mayCommand = false
    settingsAreStale = true
    await connection.publish(statusTopic, 'online', { retain: true })
    let onlineAt = performance.now()
    now = { state: 'connected', since: new Date(clock()).toISOString(), problem: null }
    const over = new AbortController()
    void connection.ended.then(() => {
      over.abort()
      wake.resolve()
    })
    while (!over.signal.aborted) {
      wake = Promise.withResolvers()
      await readAgain(connection)
      await publishChanges(connection)
      if (performance.now() - onlineAt >= ONLINE_AGAIN_MS) {
        await connection.publish(statusTopic, 'online', { retain: true })
        onlineAt = performance.now()
      }
      const rest = new AbortController()
      await Promise.race([wake.promise, sleep(LOOK_INTERVAL_MS, undefined, { signal: rest.signal }).catch(() => {})])
      rest.abort()
      await sleep(COLLECT_MS, undefined, { signal: over.signal }).catch(() => {})
    }
    throw new Error(await connection.ended)
  }

  async function run(): Promise<void> {
    for (const row of await db.selectFrom('home_assistant_devices').selectAll().execute()) {
      components.set(row.gateway_id, JSON.parse(row.components) as Record<string, string>)
    }
    let retryMs = FIRST_RETRY_MS
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      let connection: Broker | undefined
      try {
        connection = await connectBroker(settings, {
          will: statusTopic,
          onMessage: (message) => (mayCommand ? commands.take(message) : reportRefused('they are off in the settings')),
          signal: stopping.signal,
        })
        await serve(connection)
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error)
        if (!stopping.signal.aborted && problem !== now.problem) log.warn({ problem }, 'MQTT is not available')
        now = { state: 'away', since: new Date(clock()).toISOString(), problem }
      }
      await connection?.close()
      if (performance.now() - startedAt > GOOD_AFTER_MS) retryMs = FIRST_RETRY_MS
      await sleep(retryMs * (0.5 + Math.random()), undefined, { signal: stopping.signal }).catch(() => {})
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2)
    }
  }

  return {
    start() {
      void tasks.run(run)
    },
    take(facts: readonly Fact<Kind>[]) {
      for (const fact of facts) heed(fact)
      wake.resolve()
    },
    state: (): HomeAssistantState => ({ ...now, broker, devices: components.size }),
    stop() {
      stopping.abort()
      return tasks.stop()
    },
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
