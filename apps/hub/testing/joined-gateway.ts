import { randomBytes } from 'node:crypto'
import type { ApprovedRegistration } from '@hedgerow/contract'
import { createTestDevice } from './device.ts'
import type { TestHub } from './hub.ts'
import { joinTunnel } from './peer.ts'

/** A gateway that enrolled and is in the tunnel. */
export async function joinedGateway(hub: TestHub, headers: { authorization: string }, name = 'Barn') {
  const device = createTestDevice(hub.app, { now: hub.clock.now, name })
  const { registrationId } = (await device.register()).body
  const approve = `/api/v1/admin/gateway-requests/${registrationId}/approve`
  const host = 'hub.example:8080'
  const approval = await hub.app.inject({ method: 'POST', url: approve, headers: { ...headers, host } })
  const { gatewayId } = approval.json<{ gatewayId: string }>()
  const nonce = randomBytes(32).toString('base64')
  const approved = (await device.status(registrationId, { nonce })).body as unknown as ApprovedRegistration
  const presharedKey = device.presharedKey(approved, nonce)!
  const { privateKey } = device
  const peer = await joinTunnel({ ...approved, presharedKey, privateKey, hubPort: hub.vpn.port })
  return { gatewayId, peer }
}
