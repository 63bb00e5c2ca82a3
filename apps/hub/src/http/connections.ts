/**
 * Shared by all listeners of the hub: the limit of open connections, and the guard that ends a connection instead of
 * the process.
 */
import { readFileSync } from 'node:fs'
import {
  createConnectionLimits,
  createFaults,
  onceAMinute,
  type ConnectionLimits,
  type Faults,
  type Refusal,
} from '@hedgerow/http'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { networkOf } from '../access/networks.ts'
import { createTrust } from '../access/source-address.ts'

/** The rest of the descriptors is for the database, the tunnel, files and outgoing calls. */
const SHARE_OF_DESCRIPTORS = 0.75

export type Connections = { limits: ConnectionLimits; faults: Faults }

/** The metrics' counters of refusals and failures. */
type Counters = { countRefusedConnection(reason: Refusal): void; countFault(): void }

export function createConnections({
  config,
  metrics,
  log,
}: {
  config: Pick<Config, 'connections' | 'trustedProxies'>
  metrics: Counters
  log: Logger
}): Connections {
  const noteRefused = onceAMinute<{ reason: string; address: string }>((first, count) =>
    log.warn({ ...first, count }, 'connections are refused: too many are open'),
  )
  return {
    limits: createConnectionLimits({
      perSource: config.connections.perAddress,
      total: Math.min(config.connections.total, Math.floor(openFilesLimit() * SHARE_OF_DESCRIPTORS)),
      sourceOf: networkOf,
      isTrusted: createTrust(config.trustedProxies),
      onRefused(reason, address) {
        metrics.countRefusedConnection(reason)
        noteRefused({ reason, address })
      },
    }),
    faults: createFaults({
      onFault: metrics.countFault,
      report: (err, count) => log.error({ err, count }, 'a connection was ended by an error of the hub'),
    }),
  }
}

/** How many files and sockets this process may have open; Infinity where the system does not say. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return Infinity
  }
}
