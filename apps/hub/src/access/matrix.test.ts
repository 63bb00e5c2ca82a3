/**
 * Every call of the contract, as every kind of caller, about one's own, another's and a missing thing, on both engines.
 * `matrix.txt` holds the statuses: a change of who may do what is a change of that file.
 */
import { keyOf, calls } from '@hedgerow/contract/calls'
import { API_BASE, callAddress, type ApiToken, type Call } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextAddress } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { isAboutThing, PASSWORD, requestOf, type Request } from '#testing/requests.ts'
import { makeThings, missingThings, removeThings, type Things } from '#testing/things.ts'
import { insertToken } from '../accounts/tokens.ts'
import { HUB } from '../facts/facts.ts'

const PRINCIPALS = [
  'nobody',
  'owner',
  'other user',
  'manager',
  'admin',
  'reading token of the owner',
  'token of the admin',
  'its gateway',
  'other gateway',
] as const
type Principal = (typeof PRINCIPALS)[number]
/** Whose thing a request names: the owner's, somebody else's, or none that exists. */
const OBJECTS = ['own', 'foreign', 'missing'] as const
/** Words that nothing else contains. */
const OWN = 'Quince'
const FOREIGN = 'Medlar'
const byLink = new Set(['readAlertPicture', 'readAlertLink', 'acknowledgeByLink'])

const HOUR_MS = 3_600_000

describe.each(testEngines)('the matrix of access on %s', (engine) => {
  let hub: TestHub
  let people: Record<'owner' | 'other user' | 'manager' | 'admin' | 'somebody else', string>
  let tokens: Record<'reading token of the owner' | 'token of the admin', string>
  let own: Things
  let foreign: Things
  const readers: Record<string, string> = {}
  /** A link in a message of somebody else, if it came to the owner, must show nothing. */
  const make = async (word: string, owner: string, user?: string) =>
    makeThings(hub, { word, owner, admin: await tokenOf(people.admin), reader: people.owner, user })
  const again = async (things: Things, word: string, owner: string) => {
    await removeThings(hub, things)
    return make(word, owner)
  }
  const tokenOf = (id: string) => hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })

  beforeAll(async () => {
    hub = await startTestHub(engine)
    await hub.app.ready()
    hub.clock.freeze()
    // An hour begins, so that none ends while two answers with hours in them are compared.
    hub.clock.advance(HOUR_MS - (hub.clock.now() % HOUR_MS))
    // Its alerts would come at moments of their own.
    await hub.db.deleteFrom('alert_rules').execute()
    people = {
      owner: await hub.addUser('rosa', 'user', PASSWORD),
      'other user': await hub.addUser('emil', 'user', PASSWORD),
      manager: await hub.addUser('mona', 'manager', PASSWORD),
      admin: await hub.addUser('ada', 'admin', PASSWORD),
      'somebody else': await hub.addUser('theo', 'user', PASSWORD),
    }
    const tokenFor = async (id: string, wanted: Pick<ApiToken, 'role' | 'access'>) => {
      const fields = { ...wanted, name: 'matrix', expiresInDays: 3_650 }
      return (await insertToken(hub.db, { id, role: wanted.role }, fields, { at: hub.clock.now(), actor: HUB })).token
    }
    tokens = {
      'reading token of the owner': await tokenFor(people.owner, { role: 'user', access: 'read' }),
      'token of the admin': await tokenFor(people.admin, { role: 'admin', access: 'all' }),
    }
    own = await make(OWN, people.owner)
  })
  afterAll(() => hub.stop())

  async function send(principal: Principal, call: Call, { params, query, body }: Request) {
    const url = callAddress(API_BASE, call, params, query)
    const payload = body === undefined ? '' : JSON.stringify(body)
    const signer = { 'its gateway': own, 'other gateway': foreign }[principal as 'its gateway']
    // A new session for each change, because some calls end their own.
    const userId = people[principal as 'owner'] as string | undefined
    const session =
      userId && (call.method === 'GET' ? (readers[userId] ??= await tokenOf(userId)) : await tokenOf(userId))
    const token = session ?? (tokens[principal as 'token of the admin'] as string | undefined)
    const bearer = token && { authorization: `Bearer ${token}` }
    // People's writing calls are limited.
    hub.clock.advance(1_000)
    const response = await hub.app.inject({
      method: call.method,
      url,
      remoteAddress: nextAddress(),
      headers: {
        'user-agent': 'test',
        ...bearer,
        ...signer?.sign(call.method, url, payload),
        ...(payload !== '' && { 'content-type': 'application/json' }),
      },
      ...(payload !== '' && { payload }),
      payloadAsStream: call.event !== undefined,
    })
    if (!call.event) return { status: response.statusCode, bytes: response.rawPayload }
    response.stream().destroy()
    return { status: response.statusCode, bytes: Buffer.alloc(0) }
  }

  /** The reads of a person, byte for byte. */
  async function readAs(principal: 'owner' | 'other user'): Promise<Record<string, string>> {
    const read: Record<string, string> = {}
    for (const [name, call] of Object.entries(calls)) {
      if (call.method !== 'GET' || call.event || call.media || call.path.includes('/auth/sessions')) continue
      const { status, bytes } = await send(principal, call, { ...requestOf(name, call, own) })
      read[keyOf(call)] = `${status} ${bytes.toString()}`
    }
    return read
  }

  test('what others have changes no byte of what a person reads', async () => {
    // The number of users is no secret.
    const user = await hub.addUser('a-target', 'user', PASSWORD)
    const before = [await readAs('owner'), await readAs('other user')]
    foreign = await make(FOREIGN, people['somebody else'], user)
    const after = [await readAs('owner'), await readAs('other user')]
    expect(after).toEqual(before)
    expect(Object.keys(before[0]!).length).toBeGreaterThan(30)
    expect(Object.values(before[0]!).filter((answer) => answer.includes(OWN)).length).toBeGreaterThan(12)
  })

  test('each caller gets the same status as before, and no foreign name or picture', { timeout: 480_000 }, async () => {
    const rows: string[] = []
    const leaks: string[] = []
    for (const [name, call] of Object.entries(calls).toSorted(([, a], [, b]) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
      const objects = isAboutThing(name, call) ? OBJECTS : (['own'] as const)
      const cells: string[] = []
      for (const principal of PRINCIPALS) {
        const statuses: number[] = []
        for (const object of objects) {
          const of = { own, foreign, missing: missingThings() }[object]
          const { status, bytes } = await send(principal, call, requestOf(name, call, of))
          statuses.push(status)
          if (holdsForeign(bytes, principal, byLink.has(name))) leaks.push(`${keyOf(call)} as ${principal}: ${object}`)
          if (status >= 300 || call.method === 'GET' || objects.length === 1) continue
          if (object === 'own') own = await again(own, OWN, people.owner)
          if (object === 'foreign') foreign = await again(foreign, FOREIGN, people['somebody else'])
        }
        cells.push(new Set(statuses).size === 1 ? String(statuses[0]) : statuses.join(' '))
      }
      rows.push(keyOf(call), `    ${cells.join(' | ')}`)
    }
    expect(leaks).toEqual([])
    const head = ['# own, foreign and missing thing (one number: the same for all) as', `# ${PRINCIPALS.join(' | ')}`]
    await expect([...head, ...rows, ''].join('\n')).toMatchFileSnapshot('matrix.txt')
  })

  function holdsForeign(bytes: Buffer, principal: Principal, isByLink: boolean): boolean {
    const holds = ({ jpeg }: Things, word: string) =>
      bytes.toString('latin1').toLowerCase().includes(word.toLowerCase()) ||
      bytes.includes(jpeg) ||
      bytes.includes(jpeg.toString('base64'))
    if (isByLink) return holds(foreign, FOREIGN)
    if (['manager', 'admin', 'token of the admin'].includes(principal)) return false
    const seesNothing = principal === 'nobody' || principal === 'other user'
    return (
      (principal !== 'other gateway' && holds(foreign, FOREIGN)) ||
      ((seesNothing || principal === 'other gateway') && holds(own, OWN))
    )
  }
})
