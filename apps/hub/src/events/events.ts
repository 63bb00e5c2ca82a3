/**
 * Notifies open pages of changes, so that they refetch at once instead of at their next poll. An event holds only a
 * topic; the scope of each reader decides whether they get it. No backlog: slow or disconnected readers refetch.
 * live-events.ts publishes the changes of facts after their commit.
 */
import { EVENT_STREAMS_PER_USER, type EventTopic } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createTasks } from '../kernel/tasks.ts'
import { ownershipOf } from '../access/objects.ts'
import { scopeOf, type Capability } from '../access/scope.ts'
import type { Caller, Sessions } from '../access/sessions.ts'

export const COALESCE_MS = 250
const HEARTBEAT_INTERVAL_MS = 15_000
/** The sessions of open streams are checked this often, because another process may end one too. */
const RECHECK_INTERVAL_MS = 1_000
/** An event has about 40 bytes: a client with this many unread ones is not reading. */
const UNREAD_LIMIT_BYTES = 16 * 1024

/** What a person needs to get a topic. */
const audience: Record<EventTopic, Capability> = {
  gateways: { gateway: 'see' },
  registrations: { gateway: 'see' },
  activity: { gateway: 'see' },
  stats: { gateway: 'see' },
  settings: { hub: 'see' },
  certificates: { hub: 'see' },
  threats: { gateway: 'see' },
  deterrents: { gateway: 'see' },
  alerts: { gateway: 'see' },
  invitations: { hub: 'manage' },
  users: { hub: 'manage' },
}

export type Change = {
  topic: EventTopic
  /** Only people who see this gateway get it. */
  gatewayId?: string | undefined
  /** Only this user, and people who see the whole fleet, get it. */
  userId?: string | undefined
}

/** The writing end of one stream: the part of an HTTP response that events need. */
export type EventSink = {
  write(text: string): boolean
  end(): void
  destroy(): void
  readonly writableLength: number
}

export type Events = {
  /** Call it after the commit. */
  publish(...changes: Change[]): void
  /**
   * Returns the function to call when the reader has left. Writes nothing before it returns. Throws `too_many_streams`.
   */
  open(caller: Caller, sink: EventSink): () => void
  streams(): number
  stop(): Promise<void>
}

type Stream = { caller: Caller; sink: EventSink }
type Pending = { everybody: boolean; gatewayIds: Set<string>; userIds: Set<string> }

export function createEvents(options: {
  db: Kysely<Tables>
  sessions: Pick<Sessions, 'find' | 'onEnded'>
  log: Logger
}): Events {
  const { db, sessions, log } = options
  const streams = new Set<Stream>()
  const pending = new Map<EventTopic, Pending>()
  const pauses = new Map<EventTopic, NodeJS.Timeout>()
  let isStopped = false

  // Apart from the other: a slow database must not stop the streams' signs of life.
  const signs = createTasks({ log, name: 'event-signs', on: 'each hub', failure: 'could not keep event streams open' })
  signs.every(HEARTBEAT_INTERVAL_MS, () => {
    for (const stream of streams) send(stream, ':\n\n')
  })
  const tasks = createTasks({
    log,
    name: 'event-streams',
    on: 'each hub',
    failure: 'could not check the sessions of event streams',
  })
  tasks.every(RECHECK_INTERVAL_MS, recheckSessions)
  const stopListening = sessions.onEnded((sessionId) => {
    for (const stream of streams) if (stream.caller.sessionId === sessionId) close(stream)
  })

  function close(stream: Stream): void {
    streams.delete(stream)
    stream.sink.end()
  }

  function send(stream: Stream, text: string): void {
    if (stream.sink.writableLength > UNREAD_LIMIT_BYTES) {
      streams.delete(stream)
      stream.sink.destroy()
    } else {
      stream.sink.write(text)
    }
  }

  async function recheckSessions(): Promise<void> {
    const bySession = Map.groupBy(streams, ({ caller }) => caller.sessionId)
    await Promise.all(
      [...bySession].map(async ([sessionId, ofSession]) => {
        // A short storage failure must not end streams.
        const caller = await sessions.find(sessionId).catch(() => ofSession[0]?.caller)
        for (const stream of ofSession) {
          if (caller) stream.caller = caller
          else close(stream)
        }
      }),
    )
  }

  function publish({ topic, gatewayId, userId }: Change): void {
    if (streams.size === 0 || isStopped) return
    const waiting = pending.get(topic) ?? { everybody: false, gatewayIds: new Set(), userIds: new Set() }
    pending.set(topic, waiting)
    if (gatewayId !== undefined) waiting.gatewayIds.add(gatewayId)
    if (userId !== undefined) waiting.userIds.add(userId)
    if (gatewayId === undefined && userId === undefined) waiting.everybody = true
    if (!pauses.has(topic)) flush(topic)
  }

  /** Sends the waiting changes, then nothing of this topic for a while. */
  function flush(topic: EventTopic): void {
    pauses.delete(topic)
    const waiting = pending.get(topic)
    if (!waiting) return
    pending.delete(topic)
    pauses.set(
      topic,
      setTimeout(() => flush(topic), COALESCE_MS),
    )
    deliver(topic, waiting).catch((error: unknown) => log.warn({ err: error, topic }, 'could not send an event'))
  }

  async function deliver(topic: EventTopic, { everybody, gatewayIds, userIds }: Pending): Promise<void> {
    const text = `event: change\ndata: ${JSON.stringify({ topic })}\n\n`
    const isSelective = !everybody && [...streams].some(({ caller }) => !scopeOf(caller).isWhole)
    const changed = isSelective && gatewayIds.size > 0 ? await ownershipOf(db, gatewayIds) : []
    for (const stream of streams) {
      const scope = scopeOf(stream.caller)
      if (!scope.may(audience[topic])) continue
      const concerns = everybody || scope.isWhole || userIds.has(stream.caller.userId) || changed.some(scope.has)
      if (concerns) send(stream, text)
    }
  }

  return {
    publish: (...changes) => changes.forEach(publish),
    open(caller, sink) {
      const own = [...streams].filter((stream) => stream.caller.userId === caller.userId)
      if (own.length >= EVENT_STREAMS_PER_USER) throw new HubError('too_many_streams')
      const stream = { caller, sink }
      streams.add(stream)
      return () => void streams.delete(stream)
    },
    streams: () => streams.size,
    stop() {
      isStopped = true
      for (const timer of pauses.values()) clearTimeout(timer)
      stopListening()
      for (const stream of streams) close(stream)
      void signs.stop()
      return tasks.stop()
    },
  }
}
