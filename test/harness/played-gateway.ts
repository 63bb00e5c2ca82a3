import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  addGateway,
  approveRegistration,
  gatewayVpnConfig,
  GATEWAY_PORT,
  type ApprovedRegistration,
} from '@hedgerow/contract'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { createTestDevice } from '../../apps/hub/testing/device.ts'
import { joinTunnel, type TestPeer } from '../../apps/hub/testing/peer.ts'
import type { Hub } from './hub.ts'

/**
 * A gateway without an agent, enrolled and in the tunnel of a hub in another process. `serve` handles each connection
 * of the hub to its page, and may answer with any bytes.
 */
export async function joinPlayedGateway(hub: Hub, serve: (stream: Duplex) => void) {
  const device = createTestDevice(callsTo(hub))
  const { registrationId } = (await device.register()).body
  await hub.api(approveRegistration, { params: { registrationId } })
  const nonce = Buffer.alloc(32, 7).toString('base64')
  const approved = (await device.status(registrationId, { nonce })).body as unknown as ApprovedRegistration
  const presharedKey = device.presharedKey(approved, nonce)
  if (presharedKey === undefined) throw new Error('the hub gave no preshared key')
  const peer = await joinTunnel({ ...approved, presharedKey, privateKey: device.privateKey, hubPort: hub.vpnPort })
  serveOn(peer, serve)
  return { id: approved.gatewayId, peer, post: peer.post, stop: peer.stop }
}

/** The same for a device with plain WireGuard, whose health the hub checks. */
export async function joinPlayedRouter(hub: Hub, serve: (stream: Duplex) => void) {
  const name = `Router ${randomUUID()}`
  const { id, vpnInternalIp } = await hub.api(addGateway, { body: { name, location: '', description: '' } })
  const { config } = await hub.api(gatewayVpnConfig, { params: { id } })
  const value = (key: string) => new RegExp(`^${key} = (\\S+)$`, 'm').exec(config)?.[1] ?? ''
  const peer = await joinTunnel({
    assignedIp: vpnInternalIp,
    hubVpnIp: vpnInternalIp,
    hubPublicKey: value('PublicKey'),
    privateKey: value('PrivateKey'),
    presharedKey: value('PresharedKey'),
    hubPort: hub.vpnPort,
  })
  serveOn(peer, serve)
  return { id, stop: peer.stop }
}

/** The hub may cut a connection at any time. */
function serveOn({ stack }: TestPeer, serve: (stream: Duplex) => void): void {
  stack.listen({ port: GATEWAY_PORT }, (stream) => {
    stream.on('error', () => {})
    serve(stream)
  })
}

/** Passes `createTestDevice`'s calls to a hub in another process. */
function callsTo(hub: Hub): FastifyInstance {
  const inject = ({ method = 'GET', url, payload, headers }: InjectOptions) =>
    new Promise((resolve, reject) => {
      const outgoing = request({
        port: hub.port,
        host: '127.0.0.1',
        method,
        path: String(url),
        headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
        agent: false,
      })
      outgoing.on('error', reject)
      outgoing.on('response', (answer) => {
        text(answer).then((body) => {
          const { statusCode, headers: told } = answer
          resolve({ statusCode, headers: told, body, json: () => JSON.parse(body) as unknown })
        }, reject)
      })
      outgoing.end(payload === undefined ? undefined : typeof payload === 'string' ? payload : JSON.stringify(payload))
    })
  return { inject } as unknown as FastifyInstance
}
