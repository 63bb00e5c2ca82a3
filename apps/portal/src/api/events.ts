/**
 * Live updates: keeps the hub's event stream open while the page is visible, and refetches changed data. Polling
 * continues, so a proxy that buffers streams only makes updates slower.
 */
import type { EventTopic } from '@hedgerow/contract'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { hubEvents } from 'virtual:contract-calls'
import { ApiError, openStream } from './client.ts'
import { createEventParser, pauseMs } from './event-stream.ts'

/** The first parts of the query keys that a topic makes stale. */
const STALE: Readonly<Record<EventTopic, readonly string[]>> = {
  gateways: ['gateways', 'gateway', 'sites'],
  registrations: ['registrations'],
  activity: ['dashboard', 'detections'],
  stats: ['dashboard'],
  users: ['users'],
  invitations: ['gateway-invitations', 'user-invitations'],
  settings: ['hub-settings'],
  certificates: ['certificates'],
  threats: ['threats'],
  deterrents: ['deterrents', 'gateway', 'gateways', 'cameras'],
  alerts: ['alerts'],
}
/** The hub writes every 15 s, so a stream that is silent for this long is dead, whatever TCP says. */
const SILENCE_MS = 40_000
const REFRESH_EVERY_MS = 2_000
/** A shorter pause is not shown. */
const SHOWN_AFTER_MS = 1_500

/**
 * Follows the hub's events while it is mounted. Returns since when they are interrupted, in milliseconds since 1970;
 * undefined while they are not.
 */
export function useLiveUpdates(): number | undefined {
  const queries = useQueryClient()
  const [lostSince, setLostSince] = useState<number | undefined>()
  useEffect(() => {
    let notice: ReturnType<typeof setTimeout> | undefined
    const cancelNotice = () => {
      clearTimeout(notice)
      notice = undefined
    }
    const onState = (open: boolean) => {
      const now = Date.now()
      if (!open) notice ??= setTimeout(() => setLostSince((since) => since ?? now), SHOWN_AFTER_MS)
      else {
        cancelNotice()
        setLostSince(undefined)
      }
    }
    const refresher = createRefresher(queries)
    const onTopics = refresher.add
    let controller: AbortController | undefined
    // A browser opens six connections to a plain-HTTP hub, for all tabs together, so a hidden page keeps none.
    const followAgain = () => {
      controller?.abort()
      controller = undefined
      cancelNotice()
      if (document.hidden) return
      controller = new AbortController()
      void follow({ onState, onTopics, signal: controller.signal })
    }
    followAgain()
    document.addEventListener('visibilitychange', followAgain)
    // A device that loses its network hears nothing of its open connections, and tries again at once with a new
    // network.
    window.addEventListener('offline', followAgain)
    window.addEventListener('online', followAgain)
    return () => {
      document.removeEventListener('visibilitychange', followAgain)
      window.removeEventListener('offline', followAgain)
      window.removeEventListener('online', followAgain)
      controller?.abort()
      cancelNotice()
      refresher.stop()
    }
  }, [queries])
  return lostSince
}

/**
 * Refetches stale queries at once, then at most every two seconds: a large fleet changes all the time, and a running
 * fetch must be able to finish.
 */
function createRefresher(queries: QueryClient) {
  const roots = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const stale = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => roots.has(String(queryKey[0])) }
  const flush = () => {
    timer = undefined
    if (roots.size === 0) return
    if (queries.isFetching(stale) === 0) {
      void queries.invalidateQueries(stale)
      roots.clear()
    }
    timer = setTimeout(flush, REFRESH_EVERY_MS)
  }
  return {
    add: (topics: readonly EventTopic[]) => {
      for (const topic of topics) for (const root of STALE[topic] ?? []) roots.add(root)
      if (timer === undefined) flush()
    },
    stop: () => clearTimeout(timer),
  }
}

type Follower = {
  onState: (open: boolean) => void
  onTopics: (topics: readonly EventTopic[]) => void
  signal: AbortSignal
}

async function follow({ onState, onTopics, signal }: Follower): Promise<void> {
  let failures = 0
  let opened = false
  while (!signal.aborted) {
    try {
      await readUntilEnd({
        onOpen: () => {
          onState(true)
          failures = 0
          // There is no backlog, so everything is refetched after a pause.
          if (opened) onTopics(Object.keys(STALE) as EventTopic[])
          opened = true
        },
        onTopics,
        signal,
      })
    } catch (error) {
      // The person has too many windows open. Polling serves this one.
      if (error instanceof ApiError && error.code === 'too_many_streams') return onState(true)
    }
    if (signal.aborted) return
    onState(false)
    await pause(pauseMs(failures++, Math.random()), signal)
  }
}

async function readUntilEnd({
  onOpen,
  onTopics,
  signal,
}: {
  onOpen: () => void
  onTopics: Follower['onTopics']
  signal: AbortSignal
}): Promise<void> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const stream = await openStream(hubEvents, AbortSignal.any([signal, silence.signal]))
    onOpen()
    const parse = createEventParser()
    const reader = stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const topics = parse(part.value).flatMap(topicOf)
      if (topics.length > 0) onTopics(topics)
    }
  } finally {
    clearTimeout(timer)
  }
}

function topicOf({ event, data }: { event: string; data: string }): EventTopic[] {
  if (event !== 'change') return []
  const { topic } = JSON.parse(data) as { topic: EventTopic }
  return [topic]
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
