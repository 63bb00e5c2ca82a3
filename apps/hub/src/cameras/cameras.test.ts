import type { ServerResponse } from 'node:http'
import * as contract from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { ENROLLED, localDoor, serveDoor, type TestDoor } from '#testing/door.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { storeDetections } from '../detections/detections.ts'
import { createLivePictures } from './live-pictures.ts'

const JPEG = Buffer.from('/9j/AAAA', 'base64')

describe.each(testEngines)('cameras on %s', (engine) => {
  let hub: TestHub
  let door: TestDoor
  let gateway: Awaited<ReturnType<typeof joinedGateway>>
  let token: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    token = await hub.signIn('admin')
    gateway = await joinedGateway(hub, { authorization: `Bearer ${token}` }, 'Barn')
    door = serveDoor(gateway.peer)
  })
  afterEach(async () => {
    await gateway.peer.stop()
    await hub.stop()
  })

  const picture = async (camera: string, as = token) =>
    hub.app.inject({
      url: `/api/v1/hub/gateways/${gateway.gatewayId}/cameras/${encodeURIComponent(camera)}/latest`,
      headers: { authorization: `Bearer ${as}` },
    })

  it('are those of the last heartbeats, of gateways that the caller may see', async () => {
    const api = createTestApi(hub)
    const cameras = [
      { name: 'yard', state: 'frozen', fps: 5 },
      { name: 'coop', state: 'offline', fps: 0 },
    ]
    const problem = 'Camera coop gives no pictures: it refuses the user name or the password of its address.'
    const cameraProblems = [{ camera: 'coop', problem }]
    await gateway.peer.post('/api/v1/gateway/heartbeat', { ...testHeartbeat(hub.clock.now()), cameras, cameraProblems })
    const startedAt = new Date(hub.clock.now() - 60_000).toISOString()
    const seen = { severity: 'alert', score: 0.9, camera: 'yard' } as const
    await storeDetections(
      hub.db,
      gateway.gatewayId,
      [
        { ...seen, id: 'a', label: 'fox', startedAt: new Date(hub.clock.now() - 600_000).toISOString() },
        { ...seen, id: 'b', label: 'boar', startedAt },
        { ...seen, id: 'c', label: 'branch', startedAt: new Date(hub.clock.now()).toISOString(), suppressed: true },
      ],
      hub.clock.now(),
    )
    expect((await api(contract.listCameras, { token })).body).toEqual([
      {
        gatewayId: gateway.gatewayId,
        gatewayName: 'Barn',
        location: 'North field',
        site: null,
        name: 'coop',
        state: 'offline',
        fps: 0,
        problem,
        protection: { state: 'blind', reason: 'camera coop is offline', until: null, isBrief: false },
        lastIncident: null,
      },
      {
        gatewayId: gateway.gatewayId,
        gatewayName: 'Barn',
        location: 'North field',
        site: null,
        name: 'yard',
        state: 'frozen',
        fps: 5,
        problem: null,
        protection: { state: 'blind', reason: 'camera yard is frozen', until: null, isBrief: false },
        lastIncident: { id: expect.any(String), label: 'boar', severity: 'alert', startedAt },
      },
    ])
    expect((await api(contract.listCameras, { token: await hub.signIn('user') })).body).toEqual([])
  })

  it('are in the order of people, and say when their gateway is away', async () => {
    const api = createTestApi(hub)
    const cameras = ['Camera 10', 'camera 2', 'Camera 1'].map((name) => ({ name, state: 'online', fps: 5 }))
    await gateway.peer.post('/api/v1/gateway/heartbeat', { ...testHeartbeat(hub.clock.now()), cameras })
    const list = async () => (await api(contract.listCameras, { token })).body as contract.Camera[]
    expect((await list()).map(({ name }) => name)).toEqual(['Camera 1', 'camera 2', 'Camera 10'])
    hub.clock.advance(600_000)
    token = await hub.signIn('admin')
    for (const { state, problem } of await list())
      expect({ state, problem }).toEqual({ state: 'offline', problem: 'Its gateway is offline.' })
  })

  it('show what they see now, pulled once for all who look', async () => {
    const asked: string[] = []
    door.onRequest = (request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(200, { 'content-type': 'text/html' }).end(JPEG)
    }
    const answers = await Promise.all([picture('by the gate'), picture('by the gate'), picture('by the gate')])
    for (const answer of answers) {
      expect(answer.statusCode).toBe(200)
      expect(answer.rawPayload).toEqual(JPEG)
      expect(answer.headers).toMatchObject({ 'content-type': 'image/jpeg', 'x-content-type-options': 'nosniff' })
      expect(Number(answer.headers['x-picture-age'])).toBeGreaterThanOrEqual(0)
    }
    expect(asked).toEqual(['/v1/cameras/by%20the%20gate/latest.jpg?height=720'])
  })

  it('of somebody else, and answers that are no picture, are refused', async () => {
    door.onRequest = (_request, response) => response.writeHead(200).end('<script>alert(1)</script>')
    expect((await picture('yard', await hub.signIn('user'))).json()).toMatchObject({ error: 'gateway_not_found' })
    expect((await picture('yard')).json()).toMatchObject({ error: 'picture_unavailable' })
    door.onRequest = (_request, response) => response.writeHead(404).end()
    expect((await picture('coop')).json()).toMatchObject({ error: 'picture_unavailable' })
    door.onRequest = (_request, response) => response.writeHead(200).end(Buffer.alloc(5_000_000, 0xff))
    expect((await picture('flood')).json()).toMatchObject({ error: 'gateway_unreachable' })
  })
})

describe('live pictures', () => {
  it('of one camera are pulled at most once a second, and four at a time of one gateway', async () => {
    let now = 0
    const waiting: ServerResponse[] = []
    const door = await localDoor((_request, response) => void waiting.push(response))
    const pictures = createLivePictures({ monotonic: () => now, door })
    const gateway = ENROLLED
    const first = ['a', 'b', 'c', 'd'].map((camera) => pictures.read(gateway, camera))
    await expect(pictures.read(gateway, 'e')).rejects.toThrow('no picture of this camera right now')
    now = 999
    const again = pictures.read(gateway, 'a')
    await expect.poll(() => waiting.length).toBe(4)
    for (const response of waiting) response.end(JPEG)
    expect((await Promise.all([...first, again])).map(({ jpeg }) => jpeg)).toHaveLength(5)
    expect(waiting).toHaveLength(4)
    now = 1_000
    const next = pictures.read(gateway, 'a')
    await expect.poll(() => waiting.length).toBe(5)
    waiting.at(-1)!.end(JPEG)
    await next
  })

  it('are as old as the gateway says, and new when it says nothing that can be true', async () => {
    const now = 5_000_000
    let age: string | undefined
    const door = await localDoor((_request, response) => {
      if (age !== undefined) response.setHeader(contract.PICTURE_AGE_HEADER, age)
      response.end(JPEG)
    })
    const pictures = createLivePictures({ monotonic: () => now, door })
    const ageOf = async (told: string | undefined) => {
      age = told
      return now - (await pictures.read(ENROLLED, `told ${told}`)).at
    }
    expect(await ageOf('31000')).toBe(31_000)
    for (const told of [undefined, '', '-5', '1e9', '0x10', '12345678901', 'old']) expect(await ageOf(told)).toBe(0)
  })

  it('of a silent gateway are its last with their age, and it is asked again after a pause, for one', async () => {
    let now = 0
    let isSilent = false
    const asked: (string | undefined)[] = []
    const door = await localDoor(({ url, socket }, response) => {
      asked.push(url)
      if (isSilent) socket.destroy()
      else response.end(JPEG)
    })
    const pictures = createLivePictures({ monotonic: () => now, door })
    const read = (camera: string) => pictures.read(ENROLLED, camera)
    await read('seen')
    isSilent = true
    now = 60_000
    expect((await read('seen')).at, 'a minute old').toBe(0)
    await expect(read('never')).rejects.toMatchObject({ code: 'gateway_unreachable' })
    expect(asked).toHaveLength(2)
    now = 66_000
    const [first, second] = [read('never'), read('seen')]
    await expect(first).rejects.toMatchObject({ code: 'gateway_unreachable' })
    expect((await second).at).toBe(0)
    expect(asked).toHaveLength(3)
    isSilent = false
    now = 72_000
    expect((await read('seen')).at).toBe(72_000)
    expect((await read('never')).at).toBe(72_000)
  })

  it('take 64 MiB at most, however large they are and however many are asked for', async () => {
    const large = Buffer.concat([JPEG, Buffer.alloc(4_000_000)])
    let pulls = 0
    const door = await localDoor((_request, response) => {
      pulls += 1
      response.end(large)
    })
    const pictures = createLivePictures({ monotonic: () => 0, door })
    const gateway = ENROLLED
    for (let camera = 1; camera <= 20; camera++) await pictures.read(gateway, `camera ${camera}`)
    await pictures.read(gateway, 'camera 20')
    await pictures.read(gateway, 'camera 5')
    expect(pulls, 'of the same moment').toBe(20)
    await pictures.read(gateway, 'camera 4')
    expect(pulls).toBe(21)
  })
})
