/**
 * Asks plain-WireGuard gateways, which send no heartbeats, for `/api/health` through the tunnel every 30 s: those with
 * a living tunnel only, a few at a time, with little patience and no interest in what they say beyond the status.
 */
import { GATEWAY_PORT } from '@hedgerow/contract'
import { request } from 'node:http'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../database/tables.ts'
import type { Vpn } from '../tunnel/tunnel.ts'

const CHECK_INTERVAL_MS = 30_000
/** How soon a gateway that has just come is asked for the first time. */
const LOOK_INTERVAL_MS = 5_000
const ANSWER_TIMEOUT_MS = 5_000
const CONCURRENCY = 16
/** A tunnel without a handshake within this time is dead: no need to ask. */
const HANDSHAKE_ALIVE_MS = 180_000

export type HealthChecks = {
  start(): void
  /** Asks every gateway that was not asked within the last 30 s. */
  check(): Promise<void>
  isHealthy(gatewayId: string): boolean | undefined
  stop(): Promise<void>
}

type Options = {
  db: Kysely<Tables>
  vpn: Vpn
  clock: () => number
  handshakes(): Map<string, number>
  log: Logger
}

export function createHealthChecks({ db, vpn, clock, handshakes, log }: Options): HealthChecks {
  let health = new Map<string, { isHealthy: boolean; at: number }>()
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> = Promise.resolve()
  const stopped = new AbortController()

  async function check(): Promise<void> {
    const rows = await db
      .selectFrom('gateways')
      .select(['id', 'address', 'wireguard_public_key'])
      .where('kind', '=', 'wireguard')
      .execute()
    const handshakeAt = handshakes()
    const alive = rows.filter(
      (row) => clock() - (handshakeAt.get(row.wireguard_public_key) ?? -Infinity) <= HANDSHAKE_ALIVE_MS,
    )
    const known = health
    const now = clock()
    const found: typeof health = new Map()
    const queue = alive.values()
    const worker = async () => {
      for (const { id, address } of queue) {
        const before = known.get(id)
        const isDue = before === undefined || Math.abs(now - before.at) >= CHECK_INTERVAL_MS
        found.set(id, isDue ? { isHealthy: await answers(address), at: now } : before)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    health = found
  }

  function answers(address: string): Promise<boolean> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)])
    return new Promise((resolve) => {
      const asking = request({
        method: 'GET',
        host: address,
        port: GATEWAY_PORT,
        path: '/api/health',
        signal,
        createConnection: () => vpn.dial(address, GATEWAY_PORT, signal),
      })
      asking.on('response', (response) => {
        const { statusCode = 0 } = response
        resolve(statusCode >= 200 && statusCode < 300)
        response.destroy()
      })
      asking.on('error', () => resolve(false))
      asking.end()
    })
  }

  function checkInTurn(): void {
    checking = checking
      .then(check)
      .catch((error: unknown) => log.warn({ err: error }, 'gateways could not be asked for their health'))
  }

  return {
    start() {
      timer = setInterval(checkInTurn, LOOK_INTERVAL_MS).unref()
    },
    check,
    isHealthy: (gatewayId) => health.get(gatewayId)?.isHealthy,
    async stop() {
      clearInterval(timer)
      stopped.abort()
      await checking
    },
  }
}
