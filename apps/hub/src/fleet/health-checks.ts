/**
 * Checks plain-WireGuard gateways, which send no heartbeats: requests `/api/health` through the tunnel every 30 s. It
 * checks only gateways with a live tunnel, a few at a time, with a short timeout, and reads only the status. Gateways
 * that did not answer last time have slots of their own, so that they do not delay the others.
 */
import { GATEWAY_PORT } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { callOut } from '../http/outgoing-call.ts'
import { createTasks } from '../kernel/tasks.ts'
import type { Vpn } from '../tunnel/tunnel.ts'
import type { Fleet } from './snapshot.ts'

const CHECK_INTERVAL_MS = 30_000
/** How soon a new gateway is checked for the first time. */
const LOOK_INTERVAL_MS = 5_000
const ANSWER_TIMEOUT_MS = 5_000
const CONCURRENCY = 16
/** A tunnel without a handshake within this time is dead, so its gateway is not checked. */
const HANDSHAKE_ALIVE_MS = 180_000

export type HealthChecks = {
  start(): void
  /** Checks every gateway whose last check is older than 30 s. */
  check(): Promise<void>
  isHealthy(gatewayId: string): boolean | undefined
  stop(): Promise<void>
}

type Options = {
  fleet: Fleet
  vpn: Vpn
  clock: () => number
  handshakes(): ReadonlyMap<string, number>
  log: Logger
}

export function createHealthChecks({ fleet, vpn, clock, handshakes, log }: Options): HealthChecks {
  const health = new Map<string, { isHealthy: boolean; at: number }>()
  const stopped = new AbortController()
  const failure = 'could not check the health of gateways'
  const lanes = [false, true].map((isSilent) => ({
    tasks: createTasks({ log, name: 'health-checks', on: 'each hub', failure }),
    probe: () => probeLane(isSilent),
  }))

  async function probeLane(isSilent: boolean): Promise<void> {
    const gateways = await fleet()
    const handshakeAt = handshakes()
    const now = clock()
    const alive = gateways.filter(
      ({ kind, wireguard_public_key: key }) =>
        kind === 'wireguard' && now - (handshakeAt.get(key) ?? -Infinity) <= HANDSHAKE_ALIVE_MS,
    )
    const ids = new Set(alive.map(({ id }) => id))
    for (const id of health.keys()) if (!ids.has(id)) health.delete(id)
    const queue = alive
      .filter(({ id }) => {
        const before = health.get(id)
        const isDue = before === undefined || Math.abs(now - before.at) >= CHECK_INTERVAL_MS
        return isDue && (before?.isHealthy === false) === isSilent
      })
      .values()
    const worker = async () => {
      for (const { id, address } of queue) health.set(id, { isHealthy: await answers(address), at: now })
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  }

  async function answers(address: string): Promise<boolean> {
    if (stopped.signal.aborted) return false
    try {
      const { status } = await callOut({
        url: `http://${address}:${GATEWAY_PORT}/api/health`,
        method: 'GET',
        timeoutMs: ANSWER_TIMEOUT_MS,
        signal: stopped.signal,
        connect: () => vpn.dial(address, GATEWAY_PORT),
      })
      return status >= 200 && status < 300
    } catch {
      return false
    }
  }

  async function check(): Promise<void> {
    await Promise.all(lanes.map(({ tasks, probe }) => tasks.run(probe)))
  }

  return {
    start() {
      for (const { tasks, probe } of lanes) tasks.every(LOOK_INTERVAL_MS, probe)
    },
    check,
    isHealthy: (gatewayId) => health.get(gatewayId)?.isHealthy,
    async stop() {
      stopped.abort()
      await Promise.all(lanes.map(({ tasks }) => tasks.stop()))
    },
  }
}
