import { createServer, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPassword, replacePassword, type DevicePassword } from '../../kernel/password.ts'
import { createSessions } from './sessions.ts'

const MINUTE = 60_000
const VISIT = '["Rosa","s1"]'

let dataDir: string
let password: DevicePassword
let typed: string
const server = createServer((_request, response) => response.end())

/** A request as the server gets it. */
async function received(headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const arrived = once(server, 'request') as Promise<[IncomingMessage]>
  const { port } = server.address() as AddressInfo
  const outgoing = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false }).end()
  const [[incoming]] = await Promise.all([arrived, once(outgoing, 'response')])
  return incoming
}

function start() {
  let now = 0
  const sessions = createSessions(password, { port: () => 8080, clock: () => now })
  return {
    ...sessions,
    pass(ms: number) {
      now += ms
    },
    async confirmed(visit = VISIT) {
      const set = await sessions.confirm(await received({ origin: 'https://gw.example' }), typed, visit)
      return { set, asking: await received({ cookie: set.split(';')[0]! }) }
    },
  }
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-sessions-'))
  password = await openPassword(dataDir)
  typed = password.made!
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(async () => {
  server.close()
  await rm(dataDir, { recursive: true, force: true })
})

const use = { isUse: true }

describe('a visit through the hub', () => {
  test('is confirmed by a cookie that no script reads and the hub lets pass, until the browser closes', async () => {
    const { set } = await start().confirmed()
    expect(set).toMatch(/^hedgerow-8080=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/)
  })

  test('ends after half an hour without use, and each use begins it again', async () => {
    const { confirmed, isConfirmed, pass } = start()
    const { asking } = await confirmed()
    for (let times = 0; times < 3; times++) {
      pass(29 * MINUTE)
      expect(await isConfirmed(asking, VISIT, use)).toBe(true)
    }
    pass(30 * MINUTE)
    expect(await isConfirmed(asking, VISIT, use)).toBe(false)
  })

  test('is not kept up by a page that only looks', async () => {
    const { confirmed, isConfirmed, pass } = start()
    const { asking } = await confirmed()
    pass(29 * MINUTE)
    expect(await isConfirmed(asking, VISIT, { isUse: false })).toBe(true)
    pass(MINUTE)
    expect(await isConfirmed(asking, VISIT, use)).toBe(false)
  })

  test.each(['["Mallory","s1"]', '["Rosa","s2"]', '["Rosa",null]', ''])('is not that of %j', async (other) => {
    const { confirmed, isConfirmed } = start()
    const { asking } = await confirmed()
    expect(await isConfirmed(asking, other, use)).toBe(false)
    expect(await isConfirmed(asking, VISIT, use)).toBe(true)
  })

  test('signs nobody in on the device’s network, and a session of there confirms no visit', async () => {
    const { confirmed, isConfirmed, isSignedIn, signIn } = start()
    const { asking } = await confirmed()
    expect(await isSignedIn(asking)).toBe(false)
    const [cookie = ''] = (await signIn(await received(), typed)).split(';')
    const local = await received({ cookie })
    expect([await isSignedIn(local), await isConfirmed(local, VISIT, use)]).toEqual([true, false])
  })

  test('goes on beside cookies that another page planted', async () => {
    const { confirmed, isConfirmed } = start()
    const { asking } = await confirmed()
    const cookie = `hedgerow-8080=${'A'.repeat(43)}; ${asking.headers.cookie}; hedgerow-8080=`
    expect(await isConfirmed(await received({ cookie }), VISIT, use)).toBe(true)
  })

  test('ends with a new password', async () => {
    const { confirmed, isConfirmed } = start()
    const { asking } = await confirmed()
    typed = await replacePassword(dataDir)
    expect(await isConfirmed(asking, VISIT, use)).toBe(false)
  })
})
