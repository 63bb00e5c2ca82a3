/**
 * People with the portal open, for `npm run bench fleet` and the soak: each follows the hub's live events and refetches
 * what its page shows, as `apps/portal/src/api/events.ts` does: at once, then at most every two seconds, never while a
 * fetch runs.
 */
import { Agent, request } from 'node:http'
import { createUser } from '@hedgerow/contract'
import type { Hub } from '../harness/hub.ts'

const REFRESH_EVERY_MS = 2_000
const STREAMS_PER_USER = 10
const PASSWORD = 'the password of the bench'

/** The calls of each kind of page, and the topics after which it repeats them. */
const PAGES = [
  {
    topics: ['activity', 'stats'],
    paths: ['/hub/stats', '/hub/activity/recent', '/hub/problems', '/hub/timeline'],
  },
  { topics: ['gateways'], paths: ['/hub/gateways'] },
  { topics: ['threats'], paths: ['/hub/incidents?limit=60', '/hub/incidents/counts'] },
]

export type People = {
  /** The durations of all answers since the last call, in milliseconds. */
  take(): number[]
  /** Answers other than 200, since the start. */
  failures(): number
  stop(): void
}

/** How many people this process has named: a second call for a hub adds others. */
let named = 0

export async function openPortals(hub: Hub, count: number): Promise<People> {
  const stopping = new AbortController()
  const agent = new Agent({ keepAlive: true })
  let took: number[] = []
  let failures = 0

  async function read(path: string, authorization: string): Promise<void> {
    const startedAt = performance.now()
    const status = await get({ path, authorization, agent })
    took.push(performance.now() - startedAt)
    if (status !== 200) failures += 1
  }

  /** Resolves with the status when the whole answer is here; 0 when there was none. */
  function get(options: { path: string; authorization: string; agent: Agent }): Promise<number> {
    return new Promise((resolve) => {
      const headers = { authorization: options.authorization, 'accept-encoding': 'br' }
      const asking = request(
        { ...options, headers, host: '127.0.0.1', port: hub.port, path: `/api/v1${options.path}` },
        (answer) =>
          answer
            .resume()
            .on('end', () => resolve(answer.statusCode ?? 0))
            .on('error', () => resolve(0)),
      )
      asking.on('error', () => resolve(0)).end()
    })
  }

  function open(page: (typeof PAGES)[number], authorization: string): void {
    let isStale = true
    let isFetching = false
    const refresh = async () => {
      if (!isStale || isFetching || stopping.signal.aborted) return
      isStale = false
      isFetching = true
      await Promise.all(page.paths.map((path) => read(path, authorization)))
      isFetching = false
    }
    void refresh()
    const timer = setInterval(() => void refresh(), REFRESH_EVERY_MS)
    const follow = () => {
      const headers = { authorization }
      const { signal } = stopping
      const following = request(
        { agent: false, host: '127.0.0.1', port: hub.port, path: '/api/v1/hub/events', headers, signal },
        (events) => {
          isStale = true
          events.setEncoding('utf8').on('data', (text: string) => {
            if (page.topics.some((topic) => text.includes(`"${topic}"`))) isStale = true
          })
        },
      )
      following
        .on('error', () => {})
        .on('close', () => !signal.aborted && setTimeout(follow, REFRESH_EVERY_MS))
        .end()
    }
    follow()
    stopping.signal.addEventListener('abort', () => clearInterval(timer))
  }

  for (let opened = 0; opened < count;) {
    const username = `person-${named++}`
    const body = { username, email: `${username}@example.net`, role: 'manager', password: PASSWORD } as const
    await hub.api(createUser, { body })
    const authorization = await signIn(hub.url, username)
    for (let own = 0; own < STREAMS_PER_USER && opened < count; own++)
      open(PAGES[opened++ % PAGES.length]!, authorization)
  }
  return {
    take() {
      const taken = took
      took = []
      return taken
    },
    failures: () => failures,
    stop() {
      stopping.abort()
      agent.destroy()
    },
  }
}

async function signIn(url: string, username: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORD }),
  })
  const { accessToken } = (await answer.json()) as { accessToken: string }
  return `Bearer ${accessToken}`
}
