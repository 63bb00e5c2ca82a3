import { brotliDecompressSync } from 'node:zlib'
import type { Gateway, Role } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { forgetFleet, insertTestGateway } from '#testing/gateway.ts'

const LIST = '/api/v1/hub/gateways'
const FLEET = 1_050

describe.each(testEngines)('the list of a large fleet on %s', (engine) => {
  let hub: TestHub
  let aGateway: string
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    hub = await startTestHub(engine)
    hub.clock.freeze()
    aGateway = await insertTestGateway(hub.db, { name: 'Almond field' })
    for (let i = 1; i < FLEET; i++) await insertTestGateway(hub.db, { address: `10.100.${50 + (i >> 8)}.${i & 255}` })
    // The first request finds out that the list is large.
    await ask('manager')
  })
  afterAll(async () => {
    await hub.stop()
    vi.useRealTimers()
  })

  const ask = async (role: Role, change: { query?: string; encoding?: string } = {}) =>
    hub.app.inject({
      url: `${LIST}${change.query ?? ''}`,
      headers: { authorization: `Bearer ${await hub.signIn(role)}`, 'accept-encoding': change.encoding ?? 'identity' },
    })
  const first = async (encoding?: string) => {
    const { rawPayload, headers } = await ask('manager', encoding === undefined ? {} : { encoding })
    const plain = headers['content-encoding'] === 'br' ? brotliDecompressSync(rawPayload) : rawPayload
    return (JSON.parse(plain.toString()) as Gateway[])[0]
  }
  const rename = async (name: string, location = '') =>
    hub.app.inject({
      method: 'PATCH',
      url: `${LIST}/${aGateway}`,
      payload: { name, location },
      headers: { authorization: `Bearer ${await hub.signIn('admin')}` },
    })

  it('is the same list in each encoding', async () => {
    const plain = await ask('manager')
    expect(plain.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const gateways: Gateway[] = plain.json()
    expect(gateways).toHaveLength(FLEET)
    const paged: Gateway[] = (await ask('manager', { query: '?limit=1000' })).json()
    expect(gateways.slice(0, 1_000)).toEqual(paged)
    const packed = await ask('admin', { encoding: 'gzip, br' })
    expect(packed.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' })
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3)
    expect(JSON.parse(brotliDecompressSync(packed.rawPayload).toString())).toEqual(gateways)
    expect((await ask('admin', { encoding: 'br;q=0' })).headers).not.toHaveProperty('content-encoding')
  })

  it('shows the change of a call to every later request', async () => {
    await first('br')
    for (const name of ['Apple field', 'Apricot field']) {
      expect((await rename(name)).statusCode).toBe(200)
      expect((await first('br'))?.name).toBe(name)
    }
  })

  it('is made once for many concurrent requests, and shows changes by themselves a few seconds later', async () => {
    await first()
    await hub.db.updateTable('gateways').set({ location: 'North' }).where('id', '=', aGateway).execute()
    await forgetFleet(hub.db)
    const later = performance.now() + 5_000
    using _time = vi.spyOn(performance, 'now').mockReturnValue(later)
    const seen = await Promise.all(Array.from({ length: 5 }, () => first()))
    expect(seen.map((gateway) => gateway?.location)).toEqual(Array.from({ length: 5 }, () => 'North'))
  })

  it('shows a status that changed with time, however long the list would have been cached', async () => {
    const handshaken = { kind: 'wireguard', last_handshake_at: hub.clock.now() } as const
    await hub.db.updateTable('gateways').set(handshaken).where('id', '=', aGateway).execute()
    await forgetFleet(hub.db)
    // The clock stands still, so only the change invalidates the cache.
    const later = async () => {
      vi.advanceTimersByTime(5_000)
      return (await first())?.status
    }
    await vi.waitFor(async () => expect(await later()).toBe('warning'), { timeout: 60_000 })
  })

  it('is counted whole', async () => {
    const authorization = `Bearer ${await hub.signIn('manager')}`
    const { totalGateways } = (await hub.app.inject({ url: '/api/v1/hub/stats', headers: { authorization } })).json()
    expect(totalGateways).toBe(FLEET)
  })

  it('of a user holds the gateways that they claimed', async () => {
    expect((await ask('user')).json()).toEqual([])
  })

  it('is searched by name, place, id and address, always current, whole and by pages', async () => {
    const search = async (q: string, role: Role = 'manager', more = '') => {
      const { headers, ...answer } = await ask(role, { query: `?q=${encodeURIComponent(q)}${more}` })
      const ids = (answer.json() as Gateway[]).map(({ id }) => id)
      return { ids, next: headers['x-next-cursor'] as string | undefined }
    }
    const all = (await ask('manager')).json<Gateway[]>().map(({ id }) => id)
    expect((await search('10.100.')).ids.toSorted()).toEqual(all.toSorted())
    expect((await search(aGateway.toUpperCase())).ids).toEqual([aGateway])
    expect((await search('no gateway has this')).ids).toEqual([])
    await rename('Ärmel  field', 'ÖDE Senke')
    expect((await search('äRMEL Field')).ids).toEqual([aGateway])
    expect((await search('Apricot')).ids).toEqual([])
    expect((await search('öde')).ids).toEqual([aGateway])
    expect((await search('Ärmel', 'user')).ids, "another's").toEqual([])
    expect((await search('senke 10.100')).ids, 'no search text matches across two fields').toEqual([])

    const whole = (await search('10.100.51.')).ids
    const paged: string[] = []
    for (let next: string | undefined = ''; next !== undefined;) {
      const page = await search('10.100.51.', 'manager', `&limit=50${next && `&cursor=${next}`}`)
      paged.push(...page.ids)
      next = page.next
    }
    expect(paged).toEqual(whole)
    expect(whole.length).toBeGreaterThan(200)
  })
})
