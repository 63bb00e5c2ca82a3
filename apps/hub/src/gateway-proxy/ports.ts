/**
 * Port mode: one port of HUB_GATEWAY_PORTS for each gateway, assigned when its page is first opened and never reused
 * for another gateway, because browsers keep storage, permissions and cached pages by port. Owns those listeners.
 */
import type { Server } from 'node:http'
import { cutConnections } from '@hedgerow/http'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'

type PortRange = { first: number; last: number }

export type GatewayPorts = {
  /** The gateway's port, listening. Throws gateway_ports_exhausted or gateway_port_unavailable. */
  portOf(gatewayId: string): Promise<number>
  /** Listens on every assigned port. An occupied port is logged and skipped. */
  start(): Promise<void>
  stop(): Promise<void>
}

export function createGatewayPorts({
  db,
  range,
  host,
  createServer,
  onUnavailable,
}: {
  db: Kysely<Tables>
  range: PortRange
  /** HUB_HOST; undefined for every address. */
  host: string | undefined
  createServer: (gatewayId: string) => Server
  onUnavailable: (port: number, error: unknown) => void
}): GatewayPorts {
  const servers = new Map<number, Server>()
  let turn: Promise<unknown> = Promise.resolve()

  async function listen(port: number, gatewayId: string): Promise<void> {
    if (servers.has(port)) return
    const server = createServer(gatewayId)
    await listenOn(server, port, host)
    servers.set(port, server)
  }

  async function close(port: number): Promise<void> {
    const server = servers.get(port)
    servers.delete(port)
    if (server) cutConnections(server)
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  }

  const isInRange = (port: number | null | undefined): port is number =>
    typeof port === 'number' && port >= range.first && port <= range.last

  async function findOrAllocate(gatewayId: string): Promise<number> {
    const row = await db.selectFrom('gateways').select('ui_port').where('id', '=', gatewayId).executeTakeFirst()
    if (!row) throw new HubError('gateway_not_found')
    if (isInRange(row.ui_port)) {
      await listen(row.ui_port, gatewayId).catch((cause: unknown) => {
        throw new HubError('gateway_port_unavailable', { cause })
      })
      return row.ui_port
    }
    const given = new Map((await db.selectFrom('ui_ports').selectAll().execute()).map((r) => [r.port, r.gateway_id]))
    for (let port = range.first; port <= range.last; port++) {
      if ((given.get(port) ?? gatewayId) !== gatewayId) continue
      const isOpen = await listen(port, gatewayId).then(
        () => true,
        () => false,
      )
      if (!isOpen) continue
      if (await record(port, gatewayId)) return port
      await close(port)
    }
    throw new HubError('gateway_ports_exhausted')
  }

  /** Returns false when another hub on the same database was first. */
  function record(port: number, gatewayId: string): Promise<boolean> {
    return inTransaction(db, async (transaction) => {
      await transaction
        .insertInto('ui_ports')
        .values({ port, gateway_id: gatewayId })
        .onConflict((conflict) => conflict.column('port').doNothing())
        .execute()
      const owner = await transaction
        .selectFrom('ui_ports')
        .select('gateway_id')
        .where('port', '=', port)
        .executeTakeFirst()
      if (owner?.gateway_id !== gatewayId) return false
      await transaction.updateTable('gateways').set({ ui_port: port }).where('id', '=', gatewayId).execute()
      return true
    })
  }

  return {
    portOf(gatewayId) {
      const result = turn.then(() => findOrAllocate(gatewayId))
      turn = result.catch(() => {})
      return result
    },
    async start() {
      const rows = await db.selectFrom('gateways').select(['id', 'ui_port']).where('ui_port', 'is not', null).execute()
      for (const { id, ui_port: port } of rows) {
        if (isInRange(port)) await listen(port, id).catch((error: unknown) => onUnavailable(port, error))
      }
    },
    async stop() {
      await turn
      await Promise.all([...servers.keys()].map(close))
    },
  }
}

/** Without a host, listens on every address: IPv6, which includes IPv4, or IPv4 alone where there is no IPv6. */
async function listenOn(server: Server, port: number, host: string | undefined): Promise<void> {
  try {
    await listening(server, port, host ?? '::')
  } catch (error) {
    if (host !== undefined || (error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error
    await listening(server, port, '0.0.0.0')
  }
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
