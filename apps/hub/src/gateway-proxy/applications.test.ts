import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { APPLICATIONS_MAX } from '@hedgerow/contract'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { send, freeRange, startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'
import { ownedBy } from '../access/ownership.ts'

let hub: TestGatewayUi
afterEach(() => hub.stop())

/** Says where a request arrived, and as which application. */
const arrivedAt =
  (door: string) =>
  ({ headers }: IncomingMessage) =>
    JSON.stringify({ door, application: headers['x-hub-application'], cookie: headers.cookie ?? null })
const arrivals = (answer: { text: string }) => JSON.parse(answer.text) as object

/** A gateway that offers two applications, and an admin. */
async function openGateway(names = ['frigate', 'frigate-2']) {
  const { caller } = await hub.signIn()
  const gateway = await hub.addGateway((req, res) => res.end(arrivedAt('interface')(req)))
  await hub.offer(gateway, names, (req, res) => res.end(arrivedAt('applications')(req)))
  return { caller, gateway }
}

describe('an application', () => {
  it('has an origin and a session of its own, and its gateway gets its name', async () => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const own = await hub.open(caller, gateway.id)
    const frigate = await hub.open(caller, gateway.id, hub.hubHost, 'frigate')
    expect(frigate.origin).toBe(`http://gw-${gateway.id}-frigate.localhost:${hub.hubPort}`)
    expect(arrivals(await own.go())).toEqual({ door: 'interface', application: 'device', cookie: null })
    expect(arrivals(await frigate.go())).toEqual({ door: 'applications', application: 'frigate', cookie: null })
    expect(await hub.db.selectFrom('ui_access').select('application').orderBy('id').execute()).toEqual([
      { application: null },
      { application: 'frigate' },
    ])
  })

  it('is decided by its origin, whatever headers a browser sends', async () => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const forged = { 'x-hub-application': 'router', x_hub_application: 'router', connection: 'x-hub-application' }
    for (const application of [undefined, 'frigate']) {
      const { go } = await hub.open(caller, gateway.id, hub.hubHost, application)
      expect(arrivals(await go({ headers: forged }))).toMatchObject({ application: application ?? 'device' })
    }
  })

  it('opens with no session of its gateway or of a sibling, in either direction', async () => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const places = [undefined, 'frigate', 'frigate-2']
    const pages = await Promise.all(places.map((application) => hub.open(caller, gateway.id, hub.hubHost, application)))
    for (const page of pages)
      for (const { host, cookie } of pages) {
        const { status } = await send(hub.hubPort, host, { headers: { cookie: page.cookie } })
        expect(status).toBe(page.cookie === cookie ? 200 : 401)
      }
  })

  it.each([
    ['the gateway', undefined, 'frigate'],
    ['an application', 'frigate', undefined],
    ['an application whose name begins alike', 'frigate', 'frigate-2'],
  ])('takes no ticket of %s', async (_whose, issued, redeemed) => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const { host } = await hub.open(caller, gateway.id, hub.hubHost, redeemed)
    const { ticket } = await hub.ui.issueTicket(
      caller,
      { gatewayId: gateway.id, application: issued },
      { host: hub.hubHost },
    )
    const answer = await send(hub.hubPort, host, {
      method: 'POST',
      path: '/__hub/session',
      headers: { origin: `http://${hub.hubHost}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: `ticket=${ticket}`,
    })
    expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined])
  })

  it.each(['router', 'frigate-3', 'device', '__proto__'])(
    '%s, which the gateway does not offer, has no ticket',
    async (application) => {
      hub = await startGatewayUi()
      const { caller, gateway } = await openGateway()
      await expect(
        hub.ui.issueTicket(caller, { gatewayId: gateway.id, application }, { host: hub.hubHost }),
      ).rejects.toMatchObject({ code: 'application_not_found' })
    },
  )

  it('opens for people who may see the gateway, and only as long as they may', async () => {
    hub = await startGatewayUi()
    const { gateway } = await openGateway()
    const { caller } = await hub.signIn('user')
    const open = () => hub.open(caller, gateway.id, hub.hubHost, 'frigate')
    await expect(open()).rejects.toMatchObject({ code: 'gateway_not_found' })
    await hub.db.updateTable('gateways').set(ownedBy(caller.userId)).execute()
    const { go } = await open()
    expect((await go()).status).toBe(200)
    await hub.db.updateTable('gateways').set(ownedBy(null)).execute()
    hub.turnClock(1_000)
    expect((await go()).status).toBe(401)
  })

  it('opens for its least role and above; others get no ticket and, once it rises, no answer', async () => {
    hub = await startGatewayUi()
    const gateway = await hub.addGateway((_req, res) => res.end())
    await hub.offer(gateway, ['frigate'], (_req, res) => res.end())
    const { caller: manager } = await hub.signIn('manager')
    const { caller: admin } = await hub.signIn('admin')
    const opened = await hub.open(manager, gateway.id, hub.hubHost, 'frigate')
    expect((await opened.go()).status).toBe(200)
    hub.name(gateway, [{ name: 'frigate', leastRole: 'admin' }])
    expect((await opened.go()).status).toBe(403)
    await expect(hub.open(manager, gateway.id, hub.hubHost, 'frigate')).rejects.toMatchObject({
      code: 'application_role_required',
    })
    expect((await (await hub.open(admin, gateway.id, hub.hubHost, 'frigate')).go()).status).toBe(200)
  })

  it.each([
    ['it is offered no more', [], 404],
    ['its least role rises', [{ name: 'frigate', leastRole: 'admin' as const }], 403],
  ])('is cut when %s, and its gateway’s own page stays', async (_what, offered, status) => {
    hub = await startGatewayUi()
    const answers: ServerResponse[] = []
    const begin = (_req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(200).write('.')
      answers.push(res)
    }
    const { caller } = await hub.signIn('manager')
    const gateway = await hub.addGateway(begin)
    await hub.offer(gateway, ['frigate'], begin)
    const streams = await Promise.all(
      [undefined, 'frigate'].map(async (name) => {
        const { port, host, cookie } = await hub.open(caller, gateway.id, hub.hubHost, name)
        const outgoing = request({ host: '127.0.0.1', port, headers: { host, cookie } }).end()
        const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
        return answer.on('error', () => {}).resume()
      }),
    )
    const [own, frigate] = streams
    const { go } = await hub.open(caller, gateway.id, hub.hubHost, 'frigate')
    hub.name(gateway, offered)
    expect((await go()).status).toBe(status)
    await vi.waitUntil(() => frigate!.destroyed, { timeout: 30_000 })
    expect(own!.destroyed).toBe(false)
    for (const answer of answers) answer.destroy()
  })

  it('leads a person without a session through the hub and back to the same page', async () => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const { host } = await hub.open(caller, gateway.id, hub.hubHost, 'frigate')
    const lost = await send(hub.hubPort, host, { path: '/review?camera=1', headers: { accept: 'text/html' } })
    expect([lost.status, lost.headers.location]).toEqual([
      302,
      `http://${hub.hubHost}/proxy/gateway/${gateway.id}?application=frigate&path=%2Freview%3Fcamera%3D1`,
    ])
  })

  it('takes no request and no WebSocket of the gateway’s page or of a sibling’s', async () => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const server = createServer((_req, res) => res.end()).on('upgrade', (req: IncomingMessage, socket: Socket) => {
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ` +
          `websocket\r\n\r\n${arrivedAt('applications')(req)}`,
      )
    })
    await hub.offer(gateway, ['frigate', 'frigate-2'], server)
    const [own, frigate, sibling] = await Promise.all(
      [undefined, 'frigate', 'frigate-2'].map((name) => hub.open(caller, gateway.id, hub.hubHost, name)),
    )
    const upgrade = async (origin: string, cookie: string) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: frigate!.port,
        headers: { host: frigate!.host, origin, cookie, connection: 'Upgrade', upgrade: 'websocket' },
      }).end()
      const refused = once(outgoing, 'response').then(([answer]) => (answer as IncomingMessage).resume().statusCode)
      const agreed = once(outgoing, 'upgrade').then(([answer, socket]) => {
        ;(socket as Socket).on('error', () => {}).destroy()
        return (answer as IncomingMessage).statusCode
      })
      return Promise.race([refused, agreed])
    }
    expect(await upgrade(frigate!.origin, frigate!.cookie)).toBe(101)
    for (const other of [own!, sibling!]) {
      expect(await upgrade(other.origin, frigate!.cookie)).toBe(403)
      expect(await upgrade(frigate!.origin, other.cookie)).toBe(401)
      const posted = await frigate!.go({
        method: 'POST',
        headers: { origin: other.origin, 'sec-fetch-site': 'same-site' },
      })
      expect(posted.status).toBe(403)
    }
  })

  it('of an agent that has no such door is unreachable, and shows no other page', async () => {
    hub = await startGatewayUi()
    const { caller, gateway } = await openGateway()
    const { go } = await hub.open(caller, gateway.id, hub.hubHost, 'frigate')
    hub.closeApplications(gateway)
    const answer = await go({ headers: { accept: 'text/html' } })
    expect(answer.status).toBe(502)
    expect(answer.text).not.toContain('interface')
  })
})

const lan = () => `127.0.0.1:${hub.hubPort}`
const startWithPorts = async (count: number, engine: (typeof testEngines)[number] = 'sqlite') => {
  const ports = await freeRange(count)
  hub = await startGatewayUi({ engine, config: { gatewayUi: { ports, origin: undefined } } })
  return ports
}

describe.each(testEngines)('in port mode on %s', (engine) => {
  it('an application has a port of its own, its cookies a prefix of their own', async () => {
    await startWithPorts(3, engine)
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end())
    await hub.offer(gateway, ['frigate', 'frigate-2'], (req, res) =>
      res.setHeader('set-cookie', ['theme=dark', 'gws_x=planted']).end(arrivedAt('applications')(req)),
    )
    const own = await hub.open(caller, gateway.id, lan())
    const frigate = await hub.open(caller, gateway.id, lan(), 'frigate')
    const sibling = await hub.open(caller, gateway.id, lan(), 'frigate-2')
    expect(new Set([own.port, frigate.port, sibling.port]).size).toBe(3)
    expect((await hub.open(caller, gateway.id, lan(), 'frigate')).port).toBe(frigate.port)
    expect(frigate.cookie).toMatch(new RegExp(`^gws_${gateway.id}-frigate=`))

    const jar = [own, frigate, sibling].map(({ cookie }) => cookie).join('; ')
    const planted = `g${gateway.id}.a=1; g${gateway.id}-frigate.b=2; g${gateway.id}-frigate-2.c=3`
    const answer = await frigate.go({ headers: { cookie: `${jar}; ${planted}` } })
    expect(arrivals(answer)).toMatchObject({ application: 'frigate', cookie: 'b=2' })
    expect(answer.headers['set-cookie']).toEqual([`g${gateway.id}-frigate.theme=dark`])
  })
})

it('a gateway that keeps naming new applications uses up its own ports only', async () => {
  await startWithPorts(APPLICATIONS_MAX + 2)
  const { caller, gateway } = await openGateway([])
  const open = (name: string) => hub.open(caller, gateway.id, lan(), name)
  for (let count = 0; count <= APPLICATIONS_MAX; count++) {
    await hub.offer(gateway, [`new-${count}`], (_req, res) => res.end())
    await open(`new-${count}`)
  }
  await hub.offer(gateway, ['one-more'], (_req, res) => res.end())
  await expect(open('one-more')).rejects.toMatchObject({ code: 'gateway_ports_exhausted' })
  const other = await hub.addGateway((_req, res) => res.end('page'))
  expect((await (await hub.open(caller, other.id, lan())).go()).text).toBe('page')
})

it('with HUB_GATEWAY_ORIGIN, an application’s name stands behind the gateway’s id', async () => {
  const gatewayUi = { ports: { first: 1, last: 0 }, origin: 'https://gw-{id}.example.net' }
  hub = await startGatewayUi({ config: { publicUrl: 'https://hub.example.org', gatewayUi } })
  const { caller, gateway } = await openGateway()
  const place = { gatewayId: gateway.id, application: 'frigate' }
  const { action } = await hub.ui.issueTicket(caller, place, { host: 'hub.example.org' })
  expect(action).toBe(`https://gw-${gateway.id}-frigate.example.net/__hub/session`)
})
