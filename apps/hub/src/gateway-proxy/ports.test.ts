import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { send, freeRange, startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'

let hub: TestGatewayUi
let blockers: Server[] = []
afterEach(async () => {
  await hub.stop()
  for (const server of blockers) server.close()
  blockers = []
})

const lan = () => `127.0.0.1:${hub.hubPort}`
const portsOf = (range: { first: number; last: number }) => ({
  config: { gatewayUi: { ports: range, origin: undefined } },
})

describe.each(testEngines)('a gateway’s port on %s', (engine) => {
  it('is assigned at the first ticket, and never to another gateway, even when the gateway is deleted', async () => {
    const range = await freeRange(3)
    hub = await startGatewayUi({ engine, ...portsOf(range) })
    const { caller } = await hub.signIn()
    const add = () => hub.addGateway((_req, res) => res.end('page'))
    const first = await add()
    const [page, again] = [await hub.open(caller, first.id, lan()), await hub.open(caller, first.id, lan())]
    expect(page.origin).toBe(`http://127.0.0.1:${range.first}`)
    expect(again.origin).toBe(page.origin)
    expect((await page.go()).text).toBe('page')

    await hub.db.deleteFrom('gateways').where('id', '=', first.id).execute()
    hub.turnClock(1_000)
    expect((await page.go()).status).toBe(401)
    const [second, third, fourth] = [await add(), await add(), await add()]
    const opened = await Promise.all([second, third].map(({ id }) => hub.open(caller, id, lan())))
    expect(new Set(opened.map(({ port }) => port))).toEqual(new Set([range.first + 1, range.first + 2]))
    await expect(hub.open(caller, fourth.id, lan())).rejects.toMatchObject({ code: 'gateway_ports_exhausted' })
    expect(await hub.db.selectFrom('ui_ports').select('port').orderBy('port').execute()).toEqual(
      [0, 1, 2].map((i) => ({ port: range.first + i })),
    )
  })
})

describe('in port mode', () => {
  it('an occupied port is skipped, and an assigned one stays the gateway’s', async () => {
    const range = await freeRange(2)
    const blocker = createServer().listen(range.first, '127.0.0.1')
    blockers.push(blocker)
    await once(blocker, 'listening')
    hub = await startGatewayUi({ ...portsOf(range) })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end('page'))
    expect((await hub.open(caller, gateway.id, lan())).port).toBe(range.last)
    await hub.ui.stop()
    const other = createServer().listen(range.last, '127.0.0.1')
    blockers.push(other)
    await once(other, 'listening')
    await hub.ui.start()
    await expect(hub.open(caller, gateway.id, lan())).rejects.toMatchObject({ code: 'gateway_port_unavailable' })
  })

  it('the ports open with the hub and close with it', async () => {
    const range = await freeRange(1)
    hub = await startGatewayUi({ ...portsOf(range) })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end('page'))
    const { go } = await hub.open(caller, gateway.id, lan())
    await hub.ui.stop()
    await expect(go()).rejects.toThrow('ECONNREFUSED')
    await hub.ui.start()
    expect((await go()).status).toBe(200)
  })

  it('cookies of gateways on one host are separate', async () => {
    hub = await startGatewayUi({ ...portsOf(await freeRange(2)) })
    const { caller } = await hub.signIn()
    const open = async () => {
      const gateway = await hub.addGateway((req, res) =>
        res.writeHead(200, { 'set-cookie': 'sid=1' }).end(req.headers.cookie ?? 'none'),
      )
      return { ...gateway, ...(await hub.open(caller, gateway.id, lan())) }
    }
    const [one, two] = [await open(), await open()]
    expect(one.handover.headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^gws_${one.id}=[\\w-]{32}; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600$`)),
    ])
    expect((await one.go()).headers['set-cookie']).toEqual([`g${one.id}.sid=1`])
    // The browser sends all cookies of the host to each of its ports.
    const cookie = [one.cookie, two.cookie, `g${one.id}.sid=1`, `g${two.id}.sid=2`, 'stray=3'].join('; ')
    expect((await one.go({ headers: { cookie } })).text).toBe('sid=1')
    expect((await two.go({ headers: { cookie } })).text).toBe('sid=2')
    expect((await one.go({ headers: { cookie: two.cookie } })).status).toBe(401)
    expect((await one.go({ headers: { cookie: two.cookie.replace(two.id, one.id) } })).status).toBe(401)
  })

  it('service workers are refused', async () => {
    hub = await startGatewayUi({ ...portsOf(await freeRange(1)) })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end('worker'))
    const page = await hub.open(caller, gateway.id, lan())
    const answer = await page.go({ headers: { 'service-worker': 'script' } })
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([403, 'service_worker_refused'])
    const elsewhere = await hub.open(caller, gateway.id)
    expect((await elsewhere.go({ headers: { 'service-worker': 'script' } })).text).toBe('worker')
  })

  it('a person without a session is sent to the hub on the same host', async () => {
    hub = await startGatewayUi({ ...portsOf(await freeRange(1)) })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end('page'))
    const { port, host } = await hub.open(caller, gateway.id, lan())
    const answer = await send(port, host, { path: '/x', headers: { accept: 'text/html' } })
    expect(answer.headers.location).toBe(`http://${lan()}/proxy/gateway/${gateway.id}?path=%2Fx`)
  })

  it('a page of a gateway cannot ask for a handover to another one', async () => {
    const range = await freeRange(2)
    hub = await startGatewayUi({ ...portsOf(range) })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end('page'))
    const host = `127.0.0.1:${range.last}`
    await expect(hub.ui.issueTicket(caller, { gatewayId: gateway.id }, { host })).rejects.toMatchObject({
      code: 'origin_not_allowed',
    })
  })
})

describe('with HUB_GATEWAY_ORIGIN', () => {
  const gatewayUi = { ports: { first: 1, last: 0 }, origin: 'https://gw-{id}.example.net' }

  it('pages are on their wildcard origin, and only the public hub hands over', async () => {
    hub = await startGatewayUi({ config: { publicUrl: 'https://hub.example.org', gatewayUi } })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((req, res) => res.end(req.headers['x-forwarded-proto']))
    const { action, ticket } = await hub.ui.issueTicket(
      caller,
      { gatewayId: gateway.id },
      {
        host: 'evil.net',
        origin: 'http://evil.net',
      },
    )
    expect(action).toBe(`https://gw-${gateway.id}.example.net/__hub/session`)
    const host = `gw-${gateway.id}.example.net`
    const handOver = (origin: string, body: string) =>
      send(hub.hubPort, host, {
        method: 'POST',
        path: '/__hub/session',
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: `ticket=${body}`,
      })
    const done = await handOver('https://hub.example.org', ticket)
    expect(done.status).toBe(303)
    const cookie = done.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    expect((await send(hub.hubPort, host, { headers: { cookie } })).text).toBe('https')
    const forged = await hub.ui.issueTicket(
      caller,
      { gatewayId: gateway.id },
      { host: 'evil.net', origin: 'http://evil.net' },
    )
    expect((await handOver('http://evil.net', forged.ticket)).status).toBe(403)

    const lost = await send(hub.hubPort, host, { headers: { accept: 'text/html' } })
    expect(lost.headers.location).toBe(`https://hub.example.org/proxy/gateway/${gateway.id}`)
  })

  it('a person without a session gets a hint to open the hub when its address is unknown', async () => {
    hub = await startGatewayUi({ config: { gatewayUi } })
    const gateway = await hub.addGateway((_req, res) => res.end('page'))
    const answer = await send(hub.hubPort, `gw-${gateway.id}.example.net`, { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('Open this gateway again from the list of gateways in the hub.')
  })
})
