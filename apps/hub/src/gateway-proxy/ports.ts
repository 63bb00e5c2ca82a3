/**
 * Port mode: one port of HUB_GATEWAY_PORTS for each place, assigned when its page is first opened and never reused for
 * another one, because browsers keep storage, permissions and cached pages by port. Owns those listeners.
 */
import type { Server } from 'node:http'
import { APPLICATIONS_MAX } from '@hedgerow/contract'
import { cutConnections } from '@hedgerow/http'
import type { Kysely, Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { HubError } from '../kernel/hub-error.ts'
import { isSamePlace, type Place } from './origins.ts'

/** A gateway chooses the names of its applications: with new ones it must not use up the ports of all others. */
const PORTS_OF_A_GATEWAY = APPLICATIONS_MAX + 1

type PortRange = { first: number; last: number }

export type GatewayPorts = {
  /** The place's port, listening. Throws gateway_ports_exhausted or gateway_port_unavailable. */
  portOf(place: Place): Promise<number>
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
  createServer: (place: Place) => Server
  onUnavailable: (port: number, error: unknown) => void
}): GatewayPorts {
  const servers = new Map<number, Server>()
  let turn: Promise<unknown> = Promise.resolve()

  async function listen(port: number, place: Place): Promise<void> {
    if (servers.has(port)) return
    const server = createServer(place)
    await listenOn(server, port, host)
    servers.set(port, server)
  }

  async function close(port: number): Promise<void> {
    const server = servers.get(port)
    servers.delete(port)
    if (server) cutConnections(server)
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  }

  async function findOrAllocate(place: Place): Promise<number> {
    const { gatewayId } = place
    const row = await db.selectFrom('gateways').select('id').where('id', '=', gatewayId).executeTakeFirst()
    if (!row) throw new HubError('gateway_not_found')
    const given = await givenPorts()
    const own = given.find((one) => isSamePlace(one, place))
    if (own) {
      await listen(own.port, place).catch((cause: unknown) => {
        throw new HubError('gateway_port_unavailable', { cause })
      })
      return own.port
    }
    if (given.filter((one) => one.gatewayId === gatewayId).length >= PORTS_OF_A_GATEWAY)
      throw new HubError('gateway_ports_exhausted')
    const taken = new Set(given.map(({ port }) => port))
    for (let port = range.first; port <= range.last; port++) {
      if (taken.has(port)) continue
      const isOpen = await listen(port, place).then(
        () => true,
        () => false,
      )
      if (!isOpen) continue
      if (await record(port, place)) return port
      await close(port)
    }
    throw new HubError('gateway_ports_exhausted')
  }

  /** The ports of the range that were ever assigned, also to deleted gateways. */
  async function givenPorts(): Promise<(Place & { port: number })[]> {
    const { first, last } = range
    const given = db.selectFrom('ui_ports').where('port', '>=', first).where('port', '<=', last)
    return (await given.selectAll().orderBy('port').execute()).map(placed)
  }

  /** Returns false when another process (a hub that is being replaced) was first. */
  function record(port: number, place: Place): Promise<boolean> {
    return inTransaction(db, async (transaction) => {
      await transaction
        .insertInto('ui_ports')
        .values({ port, gateway_id: place.gatewayId, application: place.application ?? null })
        .onConflict((conflict) => conflict.column('port').doNothing())
        .execute()
      const row = await transaction.selectFrom('ui_ports').selectAll().where('port', '=', port).executeTakeFirst()
      return row !== undefined && isSamePlace(placed(row), place)
    })
  }

  return {
    portOf(place) {
      const result = turn.then(() => findOrAllocate(place))
      turn = result.catch(() => {})
      return result
    },
    async start() {
      const rows = await db.selectFrom('gateways').select('id').execute()
      const existing = new Set(rows.map(({ id }) => id))
      for (const { port, ...place } of await givenPorts()) {
        if (existing.has(place.gatewayId))
          await listen(port, place).catch((error: unknown) => onUnavailable(port, error))
      }
    },
    async stop() {
      await turn
      await Promise.all([...servers.keys()].map(close))
    },
  }
}

function placed({ port, gateway_id, application }: Selectable<Tables['ui_ports']>): Place & { port: number } {
  return { port, gatewayId: gateway_id, application: application ?? undefined }
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
