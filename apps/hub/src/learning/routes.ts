import { doorCalls, LEARNING_MAX_BYTES, LEARNING_MAX_VALUES, readGatewayLearning } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { orUnavailable, type GatewayDoor } from '../gateway-door/gateway-door.ts'
import { mount } from '../http/mount.ts'

const ASKED = { timeoutMs: 10_000, limitBytes: LEARNING_MAX_BYTES, limitValues: LEARNING_MAX_VALUES }

/** What a gateway learned from reviews: requested from it while somebody looks, and not stored here. */
export function learningRoutes(app: FastifyInstance, { door }: { door: Pick<GatewayDoor, 'call'> }): void {
  mount(app, readGatewayLearning, ({ gateway }) =>
    door.call(gateway, doorCalls.readLearning, ASKED).catch(orUnavailable('learning_unavailable')),
  )
}
