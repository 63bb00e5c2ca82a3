import { randomBytes } from 'node:crypto'
import type { ApprovedRegistration, Gateway, GatewayDetail, Role, StoredDetection } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ownedBy } from '../access/ownership.ts'
import { storeDetections } from '../detections/detections.ts'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice } from '#testing/device.ts'
import { joinTunnel, type TestPeer } from '#testing/peer.ts'
import { forgetFleet, insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'

describe.each(testEngines)('one gateway on %s', (engine) => {
  let hub: TestHub
  const stops: (() => Promise<void>)[] = []
  beforeEach(async () => {
    hub = await startTestHub(engine)
    stops.push(() => hub.stop())
  })
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop()
  })

  const call = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    role: Role = 'manager',
  ) =>
    hub.app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { authorization: `Bearer ${await hub.signIn(role)}`, host: 'hub.example:8080' },
      ...(payload && { payload }),
    })
  const userId = async () => {
    await hub.signIn('user')
    return (await hub.db.selectFrom('users').select('id').where('username', '=', 'the-user').executeTakeFirstOrThrow())
      .id
  }
  /** An enrolled device with a tunnel. */
  async function joined(name = 'Barn') {
    const device = createTestDevice(hub.app, { now: hub.clock.now, name })
    const { registrationId } = (await device.register()).body
    await call('POST', `/admin/gateway-requests/${registrationId}/approve`)
    const nonce = randomBytes(32).toString('base64')
    const approved = (await device.status(registrationId, { nonce })).body as unknown as ApprovedRegistration
    const presharedKey = device.presharedKey(approved, nonce)!
    const peer = await joinTunnel({ ...approved, presharedKey, privateKey: device.privateKey, hubPort: hub.vpn.port })
    stops.push(peer.stop)
    return { device, registrationId, gatewayId: approved.gatewayId, peer }
  }
  const beat = (peer: TestPeer) => peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now()))

  describe('edited', () => {
    it('shows its new name, place and description everywhere, and records the change', async () => {
      const id = await insertTestGateway(hub.db, { name: 'Barn' })
      const response = await call('PATCH', `/hub/gateways/${id}`, {
        name: ' Old barn ',
        location: 'Hill',
        description: 'a\nb',
      })
      expect(response.json()).toMatchObject({ id, name: 'Old barn', location: 'Hill', description: 'a\nb' })
      const told = await hub.db.selectFrom('activity').select(['message', 'gateway_id']).execute()
      expect(told).toEqual([{ message: 'Gateway "Barn" was renamed to "Old barn" by the-manager', gateway_id: id }])
      const audit = await hub.db.selectFrom('audit').selectAll().where('action', '=', 'gateway.edit').execute()
      expect(audit).toMatchObject([{ actor: 'the-manager', target: id }])
      await call('PATCH', `/hub/gateways/${id}`, { name: 'Old barn', location: 'Hill', description: 'a\nb' })
      expect(
        await hub.db.selectFrom('activity').select('id').execute(),
        'an edit without a change records nothing',
      ).toHaveLength(1)
    })

    it('cannot take another’s name, nor change anything but these three', async () => {
      const id = await insertTestGateway(hub.db, { name: 'Barn' })
      await insertTestGateway(hub.db, { name: 'Shed' })
      const taken = await call('PATCH', `/hub/gateways/${id}`, { name: 'SHED' })
      expect([taken.statusCode, taken.json().error]).toEqual([409, 'gateway_name_taken'])
      for (const extra of [{ address: '10.100.0.9' }, { owner: 'x' }, { deviceToken: 'DT-000000000000' }]) {
        const response = await call('PATCH', `/hub/gateways/${id}`, { name: 'Barn', ...extra })
        expect(Object.keys(response.json().fieldErrors)).toEqual(Object.keys(extra))
      }
      expect((await call('PATCH', '/hub/gateways/aaaaaaaaaaaa', { name: 'x' })).json().error).toBe('gateway_not_found')
    })
  })

  describe('deleted', () => {
    it('needs its name typed, and a manager', async () => {
      const id = await insertTestGateway(hub.db, { name: 'Barn', ...ownedBy(await userId()) })
      const wrong = await call('DELETE', `/hub/gateways/${id}`, { name: 'barn' })
      expect([wrong.statusCode, wrong.json().error]).toEqual([400, 'confirmation_mismatch'])
      expect((await call('DELETE', `/hub/gateways/${id}`)).statusCode).toBe(400)
      expect((await call('DELETE', `/hub/gateways/${id}`, { name: 'Barn' }, 'user')).json().error).toBe('role_required')
      expect((await call('DELETE', `/hub/gateways/${id}`, { name: 'Barn' })).statusCode).toBe(204)
      expect((await call('DELETE', `/hub/gateways/${id}`, { name: 'Barn' })).json().error).toBe('gateway_not_found')
    })

    it('is silent within a second, both ways, and its streams end', async () => {
      const { gatewayId, peer } = await joined()
      const other = await joined('Shed')
      expect([(await beat(peer)).status, (await beat(other.peer)).status]).toEqual([200, 200])
      let heard = 0
      peer.stack.listen({ port: 9_000 }, (stream) => stream.on('data', () => heard++).on('error', () => {}))
      const row = await hub.db
        .selectFrom('gateways')
        .select('address')
        .where('id', '=', gatewayId)
        .executeTakeFirstOrThrow()
      const stream = hub.vpn.dial(row.address, 9_000)
      stream.on('error', () => {})
      const writing = setInterval(() => stream.write('x'), 20)
      stops.push(async () => {
        clearInterval(writing)
        stream.destroy()
      })
      await vi.waitFor(() => expect(heard).toBeGreaterThan(2), { timeout: 30_000 })
      expect((await call('DELETE', `/hub/gateways/${gatewayId}`, { name: 'Barn' })).statusCode).toBe(204)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const after = heard
      expect(await peer.isUnheard()).toBe(true)
      expect(heard, 'no packet reaches it after a second').toBe(after)
      expect((await beat(other.peer)).status, 'no other gateway is affected').toBe(200)
    })

    it('is deleted with its data, its address is free, and its device asks again', async () => {
      const { gatewayId, device, registrationId } = await joined()
      const startedAt = new Date(hub.clock.now()).toISOString()
      const detection = { id: 'd', camera: 'c', label: 'person', severity: 'alert', score: 1, startedAt } as const
      await storeDetections(hub.db, gatewayId, [detection], hub.clock.now())
      await call('DELETE', `/hub/gateways/${gatewayId}`, { name: 'Barn' })
      await vi.waitFor(async () => expect(await hub.db.selectFrom('detections').select('id').execute()).toEqual([]), {
        timeout: 30_000,
      })
      const entries = (await call('GET', '/hub/activity/recent')).json()
      expect(entries[0]).toMatchObject({ message: 'Gateway "Barn" was deleted by the-manager', gatewayId: null })
      expect((await device.status(registrationId)).body.error).toBe('registration_not_found')
      const again = (await device.register()).body
      expect(again.status).toBe('pending')
      expect((await device.status(again.registrationId)).body.status).toBe('pending')
      expect((await call('POST', '/hub/gateways', { name: 'Barn' })).json().vpnInternalIp).toBe('10.100.0.2')
    })

    it('when deleted and approved at once ends up either deleted or approved', async () => {
      const { gatewayId, device } = await joined()
      const renewed = createTestDevice(hub.app, {
        identity: device.identity,
        deviceToken: device.deviceToken,
        now: hub.clock.now,
      })
      const { registrationId } = (await renewed.register()).body
      const [deleted, approved] = await Promise.all([
        call('DELETE', `/hub/gateways/${gatewayId}`, { name: 'Barn' }),
        call('POST', `/admin/gateway-requests/${registrationId}/approve`),
      ])
      expect(deleted.statusCode).toBe(204)
      expect([200, 404]).toContain(approved.statusCode)
      await vi.waitFor(
        async () => {
          const keys = (await hub.db.selectFrom('gateways').select('wireguard_public_key').execute()).map(
            (row) => row.wireguard_public_key,
          )
          expect(hub.vpn.peers().map((peer) => peer.publicKey)).toEqual(keys)
        },
        { timeout: 30_000 },
      )
    })
  })

  describe('in detail', () => {
    it('shows every signal, its heartbeat, traffic and visits', async () => {
      const { gatewayId, peer } = await joined()
      const read = async (role?: Role): Promise<GatewayDetail> =>
        (await call('GET', `/hub/gateways/${gatewayId}`, undefined, role)).json()
      const cameras = [{ name: 'Gate', state: 'online', fps: 12 }] as const
      await peer.post('/api/v1/gateway/heartbeat', testHeartbeat(hub.clock.now(), { cameras: [...cameras] }))
      await hub.db
        .insertInto('ui_access')
        .values({ gateway_id: gatewayId, user_id: await userId(), started_at: 5_000, source_ip: '192.0.2.1' })
        .execute()
      const detail = await read()
      expect(detail).toMatchObject({ id: gatewayId, status: 'online', heartbeat: { cameras, disk: 0.3 } })
      expect(detail.fingerprint).toMatch(/^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/)
      expect(detail.ladder.map(({ step, state }) => [step, state])).toEqual([
        ['registered', 'done'],
        ['approved', 'done'],
        ['handshake', 'done'],
        ['heartbeat', 'done'],
      ])
      expect(detail.ladder[1]!.message).toBe('approved by the-manager')
      expect(detail.traffic!.receivedBytes).toBeGreaterThan(0)
      expect(detail.access).toEqual([
        { username: 'the-user', startedAt: new Date(5_000).toISOString(), sourceIp: '192.0.2.1' },
      ])
      await hub.db
        .updateTable('gateways')
        .set(ownedBy(await userId()))
        .execute()
      await forgetFleet(hub.db)
      expect((await read('user')).access, 'visits are for managers').toEqual([])
    })

    it('shows missing signals, and is hidden from others', async () => {
      const id = await insertTestGateway(hub.db)
      const { ladder, heartbeat }: GatewayDetail = (await call('GET', `/hub/gateways/${id}`)).json()
      expect(ladder.map(({ state }) => state)).toEqual(['done', 'done', 'waiting', 'waiting'])
      expect(heartbeat).toBeNull()
      for (const url of [
        `/hub/gateways/${id}`,
        `/hub/gateways/${id}/detections`,
        `/hub/gateways/${id}/detections/a/thumbnail`,
      ])
        expect((await call('GET', url, undefined, 'user')).json().error).toBe('gateway_not_found')
    })

    it('lists its detections by pages, and its thumbnails one by one', async () => {
      const id = await insertTestGateway(hub.db)
      const at = (i: number) => new Date(hub.clock.now() - i * 1_000).toISOString()
      const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0])
      const detections = Array.from({ length: 60 }, (_, i) => ({
        id: `d/${i}`,
        camera: 'Gate',
        label: 'person',
        severity: 'detection' as const,
        score: 0.5,
        startedAt: at(i),
        ...(i === 0 && { jpeg }),
      }))
      await storeDetections(hub.db, id, detections, hub.clock.now())
      const first = await call('GET', `/hub/gateways/${id}/detections`)
      const rows: StoredDetection[] = first.json()
      expect(rows.map((row) => row.id)).toEqual(detections.slice(0, 50).map((row) => row.id))
      expect([rows[0]!.hasThumbnail, rows[1]!.hasThumbnail]).toEqual([true, false])
      const rest = await call('GET', `/hub/gateways/${id}/detections?cursor=${String(first.headers['x-next-cursor'])}`)
      expect(rest.json()).toHaveLength(10)
      expect(rest.headers['x-next-cursor']).toBeUndefined()
      const picture = (detectionId: string) =>
        call('GET', `/hub/gateways/${id}/detections/${encodeURIComponent(detectionId)}/thumbnail`)
      expect((await picture('d/0')).rawPayload).toEqual(jpeg)
      expect((await picture('d/1')).json().error).toBe('detection_not_found')
    })
  })

  it('is found in the list by search, and the list has pages', async () => {
    for (const [i, name] of ['Ärmel', 'barn', 'Shed', '50% shade'].entries())
      await insertTestGateway(hub.db, { name, location: `At ${name}`, address: `10.100.1.${20 + i}` })
    const names = async (query: string) =>
      (await call('GET', `/hub/gateways${query}`)).json().map(({ name }: Gateway) => name)
    const all = await names('')
    expect(all).toHaveLength(4)
    expect(await names('?q=BARN')).toEqual(['barn'])
    expect(await names(`?q=${encodeURIComponent('ärm')}`)).toEqual(['Ärmel'])
    expect(await names('?q=%25')).toEqual(['50% shade'])
    expect(await names('?q=10.100.1.')).toHaveLength(4)
    const first = await call('GET', '/hub/gateways?limit=3')
    const next = `?limit=3&cursor=${String(first.headers['x-next-cursor'])}`
    expect([...first.json().map(({ name }: Gateway) => name), ...(await names(next))]).toEqual(all)
    expect((await call('GET', '/hub/gateways?limit=0')).statusCode).toBe(400)
    expect(
      (await call('GET', `/hub/gateways?cursor=${Buffer.from('["a","b"]').toString('base64url')}`)).statusCode,
    ).toBe(400)
  })
})
