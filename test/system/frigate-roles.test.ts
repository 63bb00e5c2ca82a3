import { claimGateway } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFrigateSite, type FrigateSite } from '../harness/frigate-site.ts'
import { applicationsOf, openGatewayUi } from '../harness/gateway-ui-client.ts'
import { addPerson } from '../harness/hub-database.ts'
import type { Client } from '@hedgerow/client'

/** Frigate's own interface behind the hub's Connect: the person's role in the hub decides their role there. */
const SECRET = 'between gateway and Frigate'
const PROXY = {
  isEnabled: false,
  proxySecret: SECRET,
  // Header names that no proxy on the way treats as dangerous.
  userHeader: 'farm-person',
  roleHeader: 'farm-part',
}

let site: FrigateSite
const people = new Map<string, Client>()

beforeAll(async () => {
  site = await startFrigateSite(
    { access: PROXY },
    ({ secureUrl }) =>
      `sources: { frigate: { url: "${secureUrl}", proxySecret: "${SECRET}", userHeader: farm-person, roleHeader: ` +
      `Farm-Part } }\napplications: { frigate: { url: "${secureUrl}", title: Frigate } }\n`,
    ({ secureUrl }) => ({ uiTarget: new URL(secureUrl), uiOnLan: true }),
  )
  const { hub, gateway, gatewayId } = site
  await applicationsOf(hub.api, gatewayId)
  for (const role of ['user', 'manager', 'admin'] as const)
    people.set(role, hub.apiAs(await addPerson(hub, { username: `a-${role}`, role })))
  // A user sees the gateways that are theirs.
  await people.get('user')!(claimGateway, { body: { deviceToken: gateway.state().deviceToken } })
})

afterAll(async () => {
  await site?.stop()
})

const profileOf = async (
  send: (path: string, options?: { headers: Record<string, string> }) => Promise<{ text: string }>,
  headers = {},
) => JSON.parse((await send('/api/profile', { headers })).text) as unknown

/** Headers of a person who wants more rights than they have. */
const FORGED = {
  'x-proxy-secret': SECRET,
  'farm-person': 'mallory',
  'farm-part': 'admin',
  farm_part: 'admin',
  'remote-user': 'mallory',
  'remote-role': 'admin',
  'x-hub-user': 'mallory',
  'x-hub-role': 'admin',
}

describe.each([
  ['user', 'viewer'],
  ['manager', 'admin'],
  ['admin', 'admin'],
])('a %s of the hub', (role, there) => {
  test(`is ${there} in Frigate, whatever headers their browser sends`, async () => {
    const { send } = await openGatewayUi(site.hub.url, people.get(role)!, site.gatewayId, 'frigate')
    const expected = { username: `a-${role}`, role: there, allowed_cameras: ['orchard', 'yard'] }
    expect(await profileOf(send)).toEqual(expected)
    expect(await profileOf(send, FORGED)).toEqual(expected)
  })
})

test('a viewer cannot change the configuration, a manager can', async () => {
  const change = async (role: string) => {
    const { send, origin } = await openGatewayUi(site.hub.url, people.get(role)!, site.gatewayId, 'frigate')
    return (await send('/api/config/set', { method: 'PUT', headers: { origin }, body: '{}' })).status
  }
  expect(await change('user')).toBe(403)
  expect(await change('manager')).toBe(200)
})

test('somebody in the local network who forges the headers has no role there', async () => {
  const before = site.frigate.requests.length
  const ask = (headers: Record<string, string>) => fetch(new URL('/api/profile', site.gateway.pageUrl), { headers })
  expect((await ask({})).status).toBe(401)
  const { 'x-proxy-secret': _secret, ...withoutSecret } = FORGED
  expect((await ask(withoutSecret)).status).toBe(401)
  expect((await ask(FORGED)).status).toBe(401)
  const asked = site.frigate.requests.slice(before).filter(({ path }) => path === '/api/profile')
  expect(asked.map(({ caller }) => caller)).toEqual([undefined, undefined, undefined])
  const names = asked
    .flatMap(({ headers }) => Object.keys(headers))
    .filter((name) => /^farm|hub|proxy|remote/.test(name))
  expect(names).toEqual([])
})
