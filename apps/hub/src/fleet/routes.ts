import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { findByDeviceToken } from '../access/objects.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { mount } from '../http/mount.ts'
import { by, record } from '../facts/facts.ts'
import { requireVpn, type Vpn } from '../tunnel/tunnel.ts'
import { addGateway } from './add.ts'
import { claimGateway, createClaimLock, recordRefusedClaim } from './claim.ts'
import { readGateway } from './detail.ts'
import { deleteGateway, updateGateway } from './edit.ts'
import { listGateways, presentGateway, type ListDependencies } from './fleet.ts'
import { readHistory } from './history.ts'
import { tagGateways } from './tags.ts'
import { vpnConfigText } from './vpn-config.ts'
import type { FleetListCache } from './fleet-list-cache.ts'

export type GatewayDependencies = {
  db: Kysely<Tables>
  clock: () => number
  vpn: Vpn
  list: ListDependencies
  fleetListCache: FleetListCache
}

/** The fleet for people: see, add, configure, edit, delete, claim. */
export function gatewayRoutes(app: FastifyInstance, dependencies: GatewayDependencies): void {
  const { db, list } = dependencies
  mount(app, contract.listGateways, ({ scope, query, raw, reply }) => {
    if (scope.isWhole && Object.keys(query).length === 0) return dependencies.fleetListCache.answer(raw, reply)
    return listGateways(scope, { ...list, query, reply })
  })
  mount(app, contract.readGateway, ({ scope, gateway }) =>
    readGateway(db, scope, gateway.id, { ...list, vpn: dependencies.vpn }),
  )
  mount(app, contract.gatewayHistory, ({ gateway, query }) =>
    readHistory(db, gateway.id, { hours: query.hours, now: dependencies.clock() }),
  )
  mount(app, contract.validateAccess, async ({ body, scope }) => {
    const gateway = await findByDeviceToken(db, scope, body.deviceToken)
    return { authorized: gateway !== undefined, gatewayId: gateway?.id ?? null }
  })
  mountAdding(app, dependencies)
  mountChanges(app, dependencies)
  mountClaiming(app, dependencies)
}

function mountAdding(app: FastifyInstance, dependencies: GatewayDependencies): void {
  const { db, vpn, list } = dependencies

  mount(app, contract.addGateway, async ({ body, scope, act }) => {
    requireVpn(vpn)
    const id = await addGateway(db, body, act)
    return presentGateway(scope, id, list)
  })

  mount(app, contract.gatewayVpnConfig, async ({ gateway: { id }, act, raw }) => {
    requireVpn(vpn)
    const [endpoint] = vpn.endpoints(raw.headers.host)
    if (endpoint === undefined)
      throw new HubError('invalid_request', { message: 'The Host header names no host that a gateway could reach.' })
    const row = await db
      .selectFrom('gateways')
      .select(['private_key', 'address', 'preshared_key'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw new HubError('gateway_not_found')
    await record(db, {
      kind: 'gateway.vpn-config-read',
      ...by(act),
      target: id,
      gatewayId: id,
      data: {},
    })
    return {
      config: vpnConfigText({
        privateKey: row.private_key,
        address: row.address,
        hubPublicKey: vpn.publicKey,
        presharedKey: row.preshared_key,
        endpoint,
        network: vpn.network,
      }),
    }
  })
}

function mountChanges(app: FastifyInstance, dependencies: GatewayDependencies): void {
  const { db, list } = dependencies

  for (const call of [contract.editGateway, contract.updateGateway])
    mount(app, call, async ({ gateway, scope, body, act }) => {
      await updateGateway(db, gateway.id, body, act)
      return presentGateway(scope, gateway.id, list)
    })

  mount(app, contract.tagGateways, async ({ body, act }) => ({
    changed: await tagGateways(db, body, act),
  }))

  mount(app, contract.deleteGateway, ({ gateway, body, act }) => deleteGateway(db, gateway.id, body.name, act))
}

function mountClaiming(app: FastifyInstance, { db, clock }: GatewayDependencies): void {
  const lock = createClaimLock(clock)
  mount(app, contract.claimGateway, async ({ body, caller, act }) => {
    const takeBack = lock.begin(caller.userId)
    try {
      const claimed = await claimGateway(db, body.deviceToken, act)
      takeBack()
      return claimed
    } catch (error) {
      if (!(error instanceof HubError && error.code === 'claim_refused')) takeBack()
      else await recordRefusedClaim(db, act)
      throw error
    }
  })
}
