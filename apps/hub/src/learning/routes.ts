import {
  doorPaths,
  gatewayLearning,
  LEARNING_MAX_BYTES,
  LEARNING_MAX_VALUES,
  readGatewayLearning,
} from '@hedgerow/contract'
import { readJson } from '@hedgerow/contract/bounded-json'
import type { FastifyInstance } from 'fastify'
import { noAnswer, type GatewayDoor } from '../gateway-door/gateway-door.ts'
import { mount } from '../http/mount.ts'
import { HubError } from '../kernel/hub-error.ts'
import { requireVpn, type Vpn } from '../tunnel/tunnel.ts'

const TIMEOUT_MS = 10_000

/** What a gateway learned from reviews: requested from it while somebody looks, and not stored here. */
export function learningRoutes(
  app: FastifyInstance,
  { vpn, door }: { vpn: Vpn; door: Pick<GatewayDoor, 'get'> },
): void {
  mount(app, readGatewayLearning, async ({ gateway: { kind, address } }) => {
    requireVpn(vpn)
    if (kind !== 'enrolled') throw new HubError('gateway_takes_no_commands')
    const ask = { timeoutMs: TIMEOUT_MS, limitBytes: LEARNING_MAX_BYTES }
    const { status, body } = await door.get(address, doorPaths.learning, ask).catch((error: unknown) => {
      throw noAnswer(error, 'learning_unavailable')
    })
    const read = readJson(body, LEARNING_MAX_VALUES)
    const parsed = gatewayLearning.safeParse(read.problem ? undefined : read.value)
    if (status !== 200 || !parsed.success) throw new HubError('learning_unavailable')
    return parsed.data
  })
}
