import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEVICE_API_BASE } from '@hedgerow/contract'
import { admit } from '../harness/approval.ts'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'

let hub: Hub
let gateway: TestGateway
let gatewayId: string

beforeAll(async () => {
  hub = await startHub()
  gateway = await startGateway(hub, { name: 'North orchard' })
  gatewayId = await admit(hub)
})

afterAll(async () => {
  await gateway?.stop()
  await hub?.stop()
})

/** A person's page of the gateway, in a session of the hub of its own. */
async function visit() {
  const ui = await openGatewayUi(hub.url, hub.apiAs(hub.admin), gatewayId)
  const path = `${DEVICE_API_BASE}/v1/file`
  async function save(line: string, { password, cookie = '', origin = ui.origin }: Record<string, string | undefined>) {
    const { text, hash } = JSON.parse((await ui.send(path)).text) as { text: string; hash: string }
    const answer = await ui.send(path, {
      method: 'PUT',
      headers: { origin, 'content-type': 'application/json', cookie: `${ui.cookie}; ${cookie}` },
      body: JSON.stringify({ text: `${text}\n# ${line}`, hash, ...(password !== undefined && { password }) }),
    })
    const said = JSON.parse(answer.text) as { error?: string }
    return { said: said.error ?? answer.status, cookie: answer.headers['set-cookie']?.[0] }
  }
  return save
}

test('through the hub the device’s password is given once in a session, and no other gains from that', async () => {
  const save = await visit()
  expect(await save('without', {})).toMatchObject({ said: 'password_required', cookie: undefined })
  const given = await save('with', { password: gateway.newPassword })
  expect(given.said).toBe(200)
  expect(given.cookie).toMatch(/^hedgerow-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  const cookie = given.cookie!.split(';')[0]!
  expect((await save('again', { cookie })).said).toBe(200)
  expect((await save('no cookie', {})).said).toBe('password_required')
  expect((await save('another page', { cookie, origin: 'http://evil.example' })).said).not.toBe(200)
  const anew = await visit()
  expect((await anew('signed in anew', { cookie })).said).toBe('password_required')
  expect((await save('still here', { cookie })).said).toBe(200)
})
