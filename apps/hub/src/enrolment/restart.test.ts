import { randomBytes } from 'node:crypto'
import type { ApprovedRegistration, Gateway } from '@hedgerow/contract'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { createUser } from '../accounts/accounts.ts'
import { createHub, type Hub } from '../hub.ts'
import { readConfig } from '../read-config.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { joinTunnel } from '#testing/peer.ts'
import { createTestDevice } from '#testing/device.ts'

describe.each(testEngines)('a hub that stops and starts again on %s', (engine) => {
  it('is the same hub, with the same gateways in their tunnels and the same requests waiting', async () => {
    const { url, remove } = await createTestDatabase(engine)
    const start = (vpnPort: number): Promise<Hub> =>
      createHub({
        config: readConfig({
          HUB_DATABASE_URL: url,
          HUB_PORT: '0',
          HUB_VPN_PORT: String(vpnPort),
          HUB_ADMIN_PASSWORD: 'a-password',
        }),
        log: pino({ level: 'silent' }),
      })
    let hub = await start(0)
    const { id } = await createUser(hub.db, hub.passwords, { username: 'boss', role: 'admin', password: 'a-password' })
    const token = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    const headers = { authorization: `Bearer ${token}` }
    const get = async (path: string) =>
      (await hub.app.inject({ method: 'GET', url: `/api/v1/${path}`, headers })).json()

    const barn = createTestDevice(hub.app)
    const shed = createTestDevice(hub.app, { name: 'Shed' })
    const approvedId = (await barn.register()).body.registrationId
    const waitingId = (await shed.register()).body.registrationId
    await hub.app.inject({ method: 'POST', url: `/api/v1/admin/gateway-requests/${approvedId}/approve`, headers })
    const nonce = randomBytes(32).toString('base64')
    const approved = (await barn.status(approvedId, { nonce })).body as unknown as ApprovedRegistration
    const hubPort = hub.vpn.port
    const presharedKey = barn.presharedKey(approved, nonce)!
    const peer = await joinTunnel({ ...approved, privateKey: barn.privateKey, presharedKey, hubPort })
    const beat = () => peer.post('/api/v1/gateway/heartbeat', testHeartbeat(Date.now()))
    expect((await beat()).status).toBe(200)
    const identityBefore = (await barn.challenge()).hubIdentityPublicKey
    const before: Gateway[] = await get('hub/gateways')

    await hub.stop()
    hub = await start(hubPort)
    try {
      const handshakes = () => hub.vpn.peers().filter((status) => status.latestHandshakeAtMs !== undefined)
      await vi.waitFor(() => expect(handshakes()).toHaveLength(1), { timeout: 30_000 })
      expect((await beat()).status).toBe(200)
      const after: Gateway[] = await get('hub/gateways')
      expect(after).toMatchObject(
        before.map(({ id, name, deviceToken, vpnInternalIp }) => ({ id, name, deviceToken, vpnInternalIp })),
      )
      expect(after[0]).toMatchObject({ status: 'online', hubPublicKey: approved.hubPublicKey })
      expect(await get('admin/gateway-requests/pending')).toMatchObject([
        { registrationId: waitingId, deviceName: 'Shed' },
      ])
      expect((await createTestDevice(hub.app).challenge()).hubIdentityPublicKey).toBe(identityBefore)
    } finally {
      await hub.stop()
      await peer.stop()
      await remove()
    }
  })
})
