/**
 * No call that edits may change what its caller left out. Generated from the contract, so a new call is covered too.
 */
import * as contract from '@hedgerow/contract'
import { calls, keyOf } from '@hedgerow/contract/calls'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { describeApi } from './openapi.ts'

type Fields = Record<string, unknown>
type Edited = {
  params?: Record<string, string>
  read: () => Promise<Fields>
  /** A whole body in which each field differs from every default. */
  body: Fields
  /** What proves the caller, in every body. */
  proof?: Fields
  /** Fields that name what is edited, or that no answer shows. */
  unread?: readonly string[]
}

const shapeOf = (schema: z.ZodType | undefined): Record<string, z.ZodType> =>
  schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {}

/** PUT, PATCH, and each POST to the address of a GET that answers with all its fields. */
const editing = Object.values(calls).filter(({ method, path, body }) => {
  if (method === 'PUT' || method === 'PATCH') return true
  if (method !== 'POST' || body === undefined) return false
  const shown = shapeOf(
    Object.values(calls).find((one) => one.method === 'GET' && one.path === path)?.response ?? undefined,
  )
  const names = Object.keys(shapeOf(body))
  return names.length > 0 && names.every((name) => name === 'seen' || name in shown)
})

/** The address of every value in `value`, lists and objects included: `['steps', 0, 'people']`. */
function placesIn(value: unknown, above: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...above, name]
    return Array.isArray(value) ? placesIn(inner, place) : [place, ...placesIn(inner, place)]
  })
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

const valueAt = (body: unknown, place: readonly string[]): unknown =>
  place.reduce((inner, name) => (inner as Fields | undefined)?.[name], body)

/** `value` at its place, beside what `beside` has there. */
const holding = ([name = '', ...rest]: readonly string[], value: unknown, beside: Fields = {}): Fields => ({
  [name]: rest.length === 0 ? value : { ...(beside[name] as object), ...holding(rest, value) },
})

function without(body: Fields, place: readonly string[]): Fields {
  const copy = structuredClone(body)
  const holder = place.slice(0, -1).reduce<Fields>((inner, name) => inner[name] as Fields, copy)
  delete holder[place.at(-1)!]
  return copy
}

/** What a PUT may leave out, with the reason; docs/api.md has the same list. */
const KEPT: Readonly<Record<string, (name: string) => boolean>> = {
  // The specification's whole settings object has nine fields.
  'PUT /v1/hub/settings': (name) =>
    ![
      'hubName',
      'hubDescription',
      'maxGateways',
      'sessionTimeout',
      'enableVpn',
      'vpnNetwork',
      'enableNotifications',
      'enableAuditLog',
      'logRetentionDays',
    ].includes(name),
  // No answer shows it, so nobody can send it back.
  'PUT /v1/hub/users/:id': (name) => name === 'password',
  // Older programs do not know it: the gateway stays in its site.
  'PUT /v1/hub/gateways/:id': (name) => name === 'siteId',
}

test('calls that edit have no default for a field that is left out', () => {
  expect(editing.length).toBeGreaterThan(10)
  for (const { method, path, body } of editing)
    for (const [name, field] of Object.entries(shapeOf(body)))
      expect([method, path, name, field.safeParse(undefined).data]).toEqual([method, path, name, undefined])
})

describe.each(testEngines)('calls that edit on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  /** What each call edits, by its path. */
  let edited: Record<string, Edited>

  beforeAll(async () => {
    hub = await startTestHub(engine)
    api = createTestApi(hub)
    token = await hub.signIn('admin')
    const gateway = await insertTestGateway(hub.db, { name: 'Barn', location: 'Hill' })
    const mill = await made(contract.addSite, { name: 'Mill' })
    const person = { username: 'keeper', email: 'keeper@example.org', password: 'few-quiet-apples' }
    const user = await made(contract.createUser, person)
    const rule = await made(contract.addAlertRule, { ...contract.ALERT_RULE_DEFAULTS, name: 'Boars' })
    const one = async (call: contract.Call, params = {}) =>
      (await api(call, { token, params: params as never })).body as Fields
    const oneOf = async (call: contract.Call, id: string) =>
      ((await api(call, { token })).body as Fields[]).find((item) => item['id'] === id)!
    edited = {
      '/v1/auth/profile': {
        read: () => one(contract.readProfile),
        body: { email: 'ada@example.org', firstName: 'Ada', lastName: 'Byron' },
        proof: { currentPassword: 'the-password-of-admin' },
      },
      '/v1/auth/alert-preferences': {
        read: () => one(contract.readAlertPreferences),
        body: { language: 'de', quietHours: { from: '22:00', to: '06:00' }, timeZone: 'Europe/Berlin' },
      },
      '/v1/hub/users/:id': {
        params: { id: user.id },
        read: () => oneOf(contract.listUsers, user.id),
        body: {
          username: 'warden',
          email: 'warden@example.org',
          firstName: 'Eva',
          lastName: 'Berg',
          role: 'manager',
          active: false,
          password: 'other-quiet-apples',
        },
        unread: ['password'],
      },
      '/v1/hub/gateways/:id': {
        params: { id: gateway },
        // Its status changes by itself, with the time.
        read: async () => ({ ...(await one(contract.readGateway, { id: gateway })), status: undefined }),
        body: { name: 'Old barn', location: 'Yard', description: 'By the road', siteId: mill.id, tags: ['north'] },
        unread: ['siteId'],
      },
      '/v1/hub/sites/:id': {
        params: { id: mill.id },
        read: () => oneOf(contract.listSites, mill.id),
        body: { name: 'Old mill', latitude: 47.5, longitude: -122.25, timeZone: 'Europe/Berlin', notes: 'Gate 4' },
      },
      '/v1/hub/updates/site': {
        read: async () => {
          const { sites } = (await one(contract.getVersions)) as contract.Versions
          return sites.find(({ site }) => site === mill.id) ?? { automatic: null, hours: null }
        },
        body: { site: mill.id, automatic: true, hours: '02:00-05:00' },
        unread: ['site'],
      },
      '/v1/hub/alert-rules/:id': {
        params: { id: rule.id },
        read: () => oneOf(contract.listAlertRules, rule.id),
        body: {
          name: 'Foxes',
          enabled: false,
          what: ['detection', 'disk'],
          holdOffMinutes: 7,
          severity: 'any',
          labels: ['fox'],
          sites: [mill.id],
          tags: ['north'],
          gateways: [gateway],
          cameras: ['gate'],
          validatedOnly: true,
          hours: { from: '21:00', to: '05:00' },
          collectSeconds: 11,
          coolDownSeconds: 60,
          channels: ['ntfy'],
          people: [user.id],
          language: 'de',
          breaksThrough: true,
          steps: [{ afterMinutes: 5, channels: ['ntfy'], people: [user.id] }],
        },
      },
      '/v1/admin/channels/:name': {
        params: { name: 'ntfy' },
        async read() {
          const setups = (await api(contract.listChannelSetups, { token })).body as contract.ChannelSetup[]
          const { enabled, fields } = setups.find(({ name }) => name === 'ntfy')!
          return { enabled, values: Object.fromEntries(fields.map(({ name, value }) => [name, value ?? ''])) }
        },
        // An empty secret is kept.
        body: { enabled: true, values: { url: 'https://ntfy.example.org/topic', token: '' } },
      },
      '/v1/admin/auto-approval/settings': {
        read: () => one(contract.readAutoApprovalSettings),
        body: {
          enabled: false,
          ipWhitelist: ['192.0.2.7'],
          networkRanges: ['198.51.100.0/24'],
          autoApproveWithInvitation: false,
          requireAdminApproval: false,
          notificationEmail: 'ops@example.org',
          notificationEnabled: false,
        },
      },
      '/v1/hub/settings': {
        read: () => one(contract.readHubSettings),
        body: {
          hubName: 'Orchard',
          hubDescription: 'Trees',
          maxGateways: 7,
          sessionTimeout: 7_200,
          enableVpn: false,
          vpnNetwork: '10.101.0.0/16',
          enableNotifications: false,
          language: 'de',
          enableAuditLog: false,
          logRetentionDays: 30,
          detectionsPerHour: 10,
          detectionMegabytesPerHour: 11,
          detectionsKept: 12,
          detectionMegabytesKept: 13,
          automaticUpdates: true,
          automaticUpdateHours: '02:00-05:00',
          openRegistration: false,
          inviteCodeRequired: false,
          passwordComplexity: false,
          twoFactorRequired: false,
          directHealthCheck: false,
          homeAssistantCommands: true,
        },
      },
    }
    await hub.db.updateTable('gateways').set({ address: '10.101.0.9' }).where('id', '=', gateway).execute()
  })
  afterAll(() => hub.stop())

  async function made(call: contract.Call, body: object): Promise<{ id: string }> {
    const answer = await api(call, { token, body })
    expect(answer).toMatchObject({ status: 200 })
    return answer.body as { id: string }
  }

  function of(call: contract.Call) {
    const found = edited[call.path]
    if (!found) throw new Error(`${keyOf(call)} edits something: say in this test what, and how to read it`)
    return { params: {}, unread: [] as readonly string[], proof: {}, ...found }
  }
  function sendTo(call: contract.Call, body: object) {
    // A person may write five times a second.
    hub.clock.advance(200)
    const { params, proof } = of(call)
    return api(call, { token, params: params as never, body: { ...proof, ...body } })
  }

  describe.each(editing.map((call) => [keyOf(call), call] as const))('%s', (key, call) => {
    const send = (body: object) => sendTo(call, body)

    it('changes every field of its schema', async () => {
      const { body, read, unread, proof } = of(call)
      expect(Object.keys(body).toSorted()).toEqual(
        Object.keys(shapeOf(call.body))
          .filter((name) => name !== 'seen' && !(name in proof))
          .toSorted(),
      )
      expect(await send(body)).toMatchObject({ status: 200 })
      const shown = Object.fromEntries(Object.entries(body).filter(([name]) => !unread.includes(name)))
      expect(await read()).toMatchObject(shown)
    })

    it('leaves a field as it was, or names it, when it is left out: each, alone and with all others', async () => {
      const { body, read } = of(call)
      await send(body)
      const before = await read()
      const places = placesIn(body)
      const bodies = [
        ...places.map((place) => [without(body, place), [place.join('.')]] as const),
        ...Object.entries(body).map(
          ([name, value]) => [{ [name]: value }, Object.keys(body).filter((other) => other !== name)] as const,
        ),
        [{}, Object.keys(body)] as const,
      ]
      for (const [sent, missing] of bodies) {
        const answer = await send(sent)
        const after = await read()
        expect(after, `${key} with ${JSON.stringify(sent)}`).toEqual(before)
        if (answer.status === 200) continue
        expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
        const { fieldErrors } = answer.body as { fieldErrors: Record<string, string> }
        const named = Object.keys(fieldErrors)
        expect(named.length, `${key} with ${JSON.stringify(sent)}`).toBeGreaterThan(0)
        // A value that may be a text too is named as a whole.
        const isMissing = (name: string) => missing.some((place) => place === name || place.startsWith(`${name}.`))
        expect(named.filter((name) => !isMissing(name))).toEqual([])
        expect(Object.values(fieldErrors).every((words) => words !== '')).toBe(true)
      }
    })

    it('refuses null where a field has no null, and fields that it does not know', async () => {
      const { body, read } = of(call)
      await send(body)
      const before = await read()
      for (const name of Object.keys(body)) {
        const isAllowed = shapeOf(call.body)[name]!.safeParse(null).success
        const { status } = await send({ ...body, [name]: null })
        expect([name, status]).toEqual([name, isAllowed ? 200 : 400])
        await send(body)
      }
      expect(await send({ ...body, unknown: 1 })).toMatchObject({
        status: 400,
        body: { fieldErrors: { unknown: expect.any(String) } },
      })
      expect(await read()).toEqual(before)
    })
  })

  it.each(editing.filter(({ method }) => method !== 'PATCH').map((call) => [keyOf(call), call] as const))(
    '%s refuses each field that is left out by its name, but those of the list',
    async (key, call) => {
      const { body, read } = of(call)
      await sendTo(call, body)
      const before = await read()
      const kept = Object.keys(body).filter((name) => KEPT[key]?.(name) ?? false)
      for (const name of Object.keys(body)) {
        const { status, body: answer } = await sendTo(call, without(body, [name]))
        const named = status === 400 ? Object.keys((answer as { fieldErrors: object }).fieldErrors) : []
        expect([status, ...named]).toEqual(kept.includes(name) ? [200] : [400, name])
        expect(await read(), `${key} without ${name}`).toEqual(before)
      }
      const described = describeApi() as { paths: Record<string, Record<string, { description: string }>> }
      const operation = described.paths[call.path.replaceAll(/:(\w+)/g, '{$1}')]?.[call.method.toLowerCase()]
      expect(kept.filter((name) => !operation?.description.includes(`\`${name}\``))).toEqual([])
    },
  )

  it.each(editing.filter((call) => 'seen' in shapeOf(call.body)).map((call) => [keyOf(call), call] as const))(
    '%s tells the second of two people who change the same field, and takes a repeated call',
    async (_key, call) => {
      const send = (body: object) => sendTo(call, body)
      const { body, read, unread } = of(call)
      await send(body)
      const place = placesIn(body).find((one) => isText(valueAt(body, one)) && !unread.includes(one[0]!))!
      const name = place.join('.')
      const base =
        call.method === 'PATCH' && 'site' in body ? { site: body['site'] } : call.method === 'PATCH' ? {} : body
      const [first, second] = [1, 2].map((n) => ({ ...base, ...holding(place, other(name, n), base) }))
      const seen = holding(place, valueAt(body, place))
      expect(await send({ ...first, seen })).toMatchObject({ status: 200 })
      const after = await read()
      expect(await send({ ...second, seen })).toMatchObject({
        status: 409,
        body: { error: 'changed_meanwhile', fieldErrors: { [name]: expect.any(String) } },
      })
      expect(await read()).toEqual(after)
      expect((await send({ ...first, seen })).status, 'its answer was lost, so it is repeated').toBe(200)
      expect(await send({ ...base, seen: { nothing: 1 } })).toMatchObject({ status: 400 })
      await send(body)
    },
  )

  const other = (name: string, n: number) =>
    ({
      email: `other${n}@example.org`,
      notificationEmail: `other${n}@example.org`,
      hours: `0${n}:00-05:00`,
      language: n === 1 ? 'en' : 'de',
      'values.url': `https://ntfy.example.org/other${n}`,
    })[name] ?? `other${n}`
})
