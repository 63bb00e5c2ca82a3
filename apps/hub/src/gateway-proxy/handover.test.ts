import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ownedBy } from '../access/ownership.ts'
import { isLocalPath } from './handover.ts'
import { send, startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'

const FORM = 'application/x-www-form-urlencoded'

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi()
})
afterEach(() => hub.stop())

const hello = () => hub.addGateway((req, res) => res.end(`hello from ${req.url}`))

/** Posts a form to the handover address of a gateway. */
function post(gatewayId: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  return send(hub.hubPort, `gw-${gatewayId}.${hub.hubHost}`, {
    method: 'POST',
    path: '/__hub/session',
    headers: { origin: `http://${hub.hubHost}`, 'content-type': FORM, ...headers },
    body: new URLSearchParams(fields).toString(),
  })
}

async function ticketFor(gatewayId: string, caller?: Awaited<ReturnType<TestGatewayUi['signIn']>>['caller']) {
  const who = caller ?? (await hub.signIn()).caller
  return (await hub.ui.issueTicket(who, { gatewayId }, { host: hub.hubHost })).ticket
}

describe('the handover', () => {
  it('takes a person from the hub to the gateway’s page, on an origin of its own', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn()
    const page = await hub.open(caller, gateway.id)
    expect(page.origin).toBe(`http://gw-${gateway.id}.localhost:${hub.hubPort}`)
    expect(page.handover.status).toBe(303)
    expect(page.handover.headers).toMatchObject({
      location: '/',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'set-cookie': [
        expect.stringMatching(/^__Host-gws=[\w-]{32}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600$/),
      ],
    })
    expect(await page.go({ path: '/live?camera=1' })).toMatchObject({ status: 200, text: 'hello from /live?camera=1' })
  })

  it('leads to the requested path', async () => {
    const gateway = await hello()
    const answer = await post(gateway.id, { ticket: await ticketFor(gateway.id), path: '/live?camera=1#top' })
    expect(answer.headers.location).toBe('/live?camera=1#top')
  })

  it.each([
    '//evil.net',
    '/\\evil.net',
    'https://evil.net/',
    'live',
    '/\t/evil.net',
    '/a\r\nSet-Cookie: x=1',
    '/a b',
    '/é',
    `/${'x'.repeat(2_048)}`,
  ])('does not lead to %j', async (path) => {
    const gateway = await hello()
    expect(await post(gateway.id, { ticket: await ticketFor(gateway.id), path })).toMatchObject({ status: 400 })
  })

  it('keeps each accepted path on the origin, as browsers parse paths', () => {
    for (const path of ['/', '/a//b', '/..//x', '/%2F/evil.net', '/?u=//evil.net', '/@evil.net', '/.//evil.net']) {
      expect(isLocalPath(path)).toBe(true)
      expect(new URL(path, 'http://gw.localhost').host).toBe('gw.localhost')
    }
  })

  it('accepts a ticket once', async () => {
    const gateway = await hello()
    const ticket = await ticketFor(gateway.id)
    expect((await post(gateway.id, { ticket })).status).toBe(303)
    const again = await post(gateway.id, { ticket })
    expect(again.status).toBe(403)
    expect(JSON.parse(again.text).error).toBe('ticket_invalid')
    expect(again.headers['set-cookie']).toBeUndefined()
  })

  it('accepts no ticket older than 30 s', async () => {
    const gateway = await hello()
    const ticket = await ticketFor(gateway.id)
    hub.turnClock(30_000)
    expect((await post(gateway.id, { ticket })).status).toBe(403)
  })

  it('refuses a ticket of another gateway and uses it up', async () => {
    const [gateway, other] = [await hello(), await hello()]
    const ticket = await ticketFor(gateway.id)
    expect((await post(other.id, { ticket })).status).toBe(403)
    expect((await post(gateway.id, { ticket })).status).toBe(403)
  })

  it.each(['http://evil.net', 'null', `http://gw-gatewayz2345.localhost:1`, ''])(
    'is refused when a page of %j posts the form',
    async (origin) => {
      const gateway = await hello()
      const answer = await post(gateway.id, { ticket: await ticketFor(gateway.id) }, { origin })
      expect(JSON.parse(answer.text).error).toBe('origin_not_allowed')
    },
  )

  it('is refused when the session has ended meanwhile', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn()
    const ticket = await ticketFor(gateway.id, caller)
    await hub.sessions.end(caller.sessionId)
    expect((await post(gateway.id, { ticket })).status).toBe(403)
  })

  it('accepts only a small form by POST', async () => {
    const gateway = await hello()
    expect((await post(gateway.id, {}, { 'content-type': 'application/json' })).status).toBe(415)
    expect((await post(gateway.id, { ticket: 'x'.repeat(9_000) })).status).toBe(413)
    expect((await send(hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, { path: '/__hub/session' })).status).toBe(405)
    expect((await send(hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, { path: '/__hub/other' })).status).toBe(404)
  })

  it('cuts off a form that does not arrive', async () => {
    await hub.stop()
    hub = await startGatewayUi({ progressTimeoutMs: 100 })
    const gateway = await hello()
    const socket = connect(hub.hubPort, '127.0.0.1').on('error', () => {})
    socket.write(`POST /__hub/session HTTP/1.1\r\nHost: gw-${gateway.id}.${hub.hubHost}\r\n`)
    socket.write(`Content-Type: ${FORM}\r\nContent-Length: 100\r\n\r\nticket=`)
    expect(await text(socket)).toBe('')
  })

  it('records who opened which gateway, from where and when', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn()
    await hub.open(caller, gateway.id)
    const [row, ...more] = await hub.db.selectFrom('ui_access').selectAll().execute()
    expect(row).toMatchObject({ gateway_id: gateway.id, user_id: caller.userId, source_ip: '127.0.0.1' })
    expect(more).toEqual([])
    const audit = hub.db.selectFrom('audit').selectAll().where('action', '=', 'gateway.open')
    expect(await audit.execute()).toMatchObject([
      { actor: caller.username, target: gateway.id, source_ip: '127.0.0.1', result: 'ok', reason: null },
    ])
  })
})

describe('a ticket', () => {
  it('is not for a gateway that the person may not see', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn('user')
    await expect(hub.ui.issueTicket(caller, { gatewayId: gateway.id }, { host: hub.hubHost })).rejects.toMatchObject({
      code: 'gateway_not_found',
    })
    await hub.db.updateTable('gateways').set(ownedBy(caller.userId)).execute()
    await expect(hub.ui.issueTicket(caller, { gatewayId: gateway.id }, { host: hub.hubHost })).resolves.toHaveProperty(
      'ticket',
    )
  })

  it('is not issued to a page at an address that is not the hub’s', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn()
    const issued = hub.ui.issueTicket(
      caller,
      { gatewayId: gateway.id },
      { host: hub.hubHost, origin: 'http://evil.net' },
    )
    await expect(issued).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('without a session', () => {
  it('a person who opens a page is sent through the hub and back to that page', async () => {
    const gateway = await hello()
    const answer = await send(hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, {
      path: '/live?camera=1&x=%2F',
      headers: { accept: 'text/html' },
    })
    expect(answer.status).toBe(302)
    expect(answer.headers.location).toBe(
      `http://${hub.hubHost}/proxy/gateway/${gateway.id}?path=${encodeURIComponent('/live?camera=1&x=%2F')}`,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('a path to another site is dropped', async () => {
    const gateway = await hello()
    const answer = await send(hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, {
      path: '//evil.net',
      headers: { accept: 'text/html' },
    })
    expect(answer.headers.location).toBe(`http://${hub.hubHost}/proxy/gateway/${gateway.id}`)
  })

  it.each([
    ['GET', { accept: 'application/json' }],
    ['POST', { accept: 'text/html' }],
    ['GET', { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
  ])('every other request is refused (%s with %o)', async (method, headers) => {
    const gateway = await hello()
    const answer = await send(hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, { method, headers })
    expect(answer.status).toBe(401)
    expect(answer.text).not.toContain('hello')
  })

  it('no request reaches the gateway', async () => {
    let requests = 0
    const gateway = await hub.addGateway((_req, res) => res.end(String(++requests)))
    for (const cookie of ['', '__Host-gws=', '__Host-gws=x', `__Host-gws=${'A'.repeat(32)}`]) {
      expect((await send(hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, { headers: { cookie } })).status).toBe(401)
    }
    expect(requests).toBe(0)
  })
})

describe('a session', () => {
  it('does not open another gateway', async () => {
    const [gateway, other] = [await hello(), await hello()]
    const { cookie } = await hub.open((await hub.signIn()).caller, gateway.id)
    expect((await send(hub.hubPort, `gw-${other.id}.${hub.hubHost}`, { headers: { cookie } })).status).toBe(401)
  })

  it('ends after 3600 s', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn()
    const page = await hub.open(caller, gateway.id)
    await hub.db
      .updateTable('sessions')
      .set({ expires_at: Date.now() * 2 })
      .execute()
    hub.turnClock(3_599_000)
    expect((await page.go()).status).toBe(200)
    hub.turnClock(1_000)
    expect((await page.go()).status).toBe(401)
  })

  it('ends at once with the hub session', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn()
    const page = await hub.open(caller, gateway.id)
    await hub.sessions.end(caller.sessionId)
    expect((await page.go()).status).toBe(401)
  })

  it('ends within a second when another process ends the session or deletes the gateway', async () => {
    const gateway = await hello()
    const { caller } = await hub.signIn('user')
    await hub.db.updateTable('gateways').set(ownedBy(caller.userId)).execute()
    const page = await hub.open(caller, gateway.id)
    await hub.db.updateTable('gateways').set(ownedBy(null)).execute()
    hub.turnClock(1_000)
    expect((await page.go()).status).toBe(401)
    await hub.db.updateTable('gateways').set(ownedBy(caller.userId)).execute()
    expect((await page.go()).status).toBe(200)
    await hub.db.deleteFrom('sessions').execute()
    hub.turnClock(1_000)
    expect((await page.go()).status).toBe(401)
  })

  it('ends at once when this hub changes who sees the gateway', async () => {
    const gateway = await hub.addGateway((_req, res) => void res.write('x'))
    const { caller } = await hub.signIn('user')
    await hub.db.updateTable('gateways').set(ownedBy(caller.userId)).execute()
    const page = await hub.open(caller, gateway.id)
    const outgoing = request({ port: page.port, host: '127.0.0.1', headers: { host: page.host, cookie: page.cookie } })
    outgoing.end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    incoming.on('error', () => {}).once('close', resolve)
    incoming.resume()
    await hub.db.updateTable('gateways').set(ownedBy(null)).execute()
    await hub.ui.recheck()
    await closed
    expect((await page.go()).status).toBe(401)
  })
})
