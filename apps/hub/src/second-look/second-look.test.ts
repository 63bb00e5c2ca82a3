import { randomBytes } from 'node:crypto'
import type { askSecondLook, BodyOf } from '@hedgerow/contract'
import {
  generateIdentitySeed,
  IDENTITY_HEADER,
  identityOfSeed,
  NONCE_HEADER,
  requestBytes,
  SIGNATURE_HEADER,
  TIME_HEADER,
  type Identity,
} from '@hedgerow/enrolment'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { says, startVisionServer, type VisionServer } from '../../../../test/harness/vision-server.ts'
import { FairQueue } from '../kernel/fair-queue.ts'
import type { SecondLookConfig } from '../config.ts'

const SECOND_LOOK = '/api/v1/gateway/second-look'
const HEARTBEAT = '/api/v1/gateway/heartbeat'

describe.each(testEngines)('the second look of the hub on %s', (engine) => {
  let server: VisionServer
  let question: BodyOf<typeof askSecondLook>
  beforeEach(async () => {
    server = await startVisionServer(says('yes', 'A boar.'))
    const jpeg = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#888' } })
      .jpeg()
      .toBuffer()
    const picture = jpeg.toString('base64')
    question = { label: 'boar', camera: 'orchard', zone: 'rows', at: '2026-05-01 23:10', normal: 'Cats.', picture }
  })
  afterEach(() => server.stop())

  async function start(settings: Partial<SecondLookConfig> | undefined) {
    const limits = { timeoutMs: 20_000, perGateway: 10, inAll: 100, atOnce: 1 }
    const secondLook = settings && { url: server.url, key: 'a-key', model: 'eyes', ...limits, ...settings }
    const hub = await startTestHub(engine, { secondLook })
    onTestFinished(() => hub.stop())
    const join = async () => {
      const identity = identityOfSeed(generateIdentitySeed())
      await insertTestGateway(hub.db, { identity_public_key: identity.publicKey })
      return (body: object = question, url = SECOND_LOOK) => hub.app.inject(signed(hub, identity, url, body))
    }
    return { hub, join }
  }

  function signed(hub: TestHub, identity: Identity, url: string, content: object) {
    const payload = JSON.stringify(content)
    const time = String(Math.floor(hub.clock.now()))
    const nonce = randomBytes(32).toString('base64')
    const bytes = requestBytes({ method: 'POST', target: url, time, nonce, body: Buffer.from(payload) })
    const headers = {
      'content-type': 'application/json',
      [IDENTITY_HEADER]: identity.publicKey,
      [TIME_HEADER]: time,
      [NONCE_HEADER]: nonce,
      [SIGNATURE_HEADER]: identity.sign(bytes),
    }
    return { method: 'POST' as const, url, headers, payload }
  }

  it('sends the endpoint the prompt and a picture that the hub encoded, and is announced to gateways', async () => {
    const { hub, join } = await start({})
    const ask = await join()
    const beat = await ask(testHeartbeat(hub.clock.now()), HEARTBEAT)
    expect(beat.json().features).toContain('second-look')
    const answer = await ask()
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { by: 'eyes', outcome: 'confirmed', score: 0.9, reason: 'A boar.' },
    ])
    const [asked] = server.questions
    expect(asked!.headers.authorization).toBe('Bearer a-key')
    expect(asked!.text).toContain(
      '"boar"?\nCamera: "orchard".\nZone: "rows".\nTime: "2026-05-01 23:10".\nNormal there: "Cats."',
    )
    expect(await sharp(asked!.jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 64, height: 48 })
  })

  it('is off without an endpoint', async () => {
    const { hub, join } = await start(undefined)
    const ask = await join()
    expect((await ask(testHeartbeat(hub.clock.now()), HEARTBEAT)).json().features).not.toContain('second-look')
    expect((await ask()).json().error).toBe('second_look_unavailable')
    expect(server.questions).toHaveLength(0)
  })

  it('limits the pictures a day of each gateway and of all, over restarts, and says when to ask again', async () => {
    const { hub, join } = await start({ perGateway: 2, inAll: 3 })
    hub.clock.freeze()
    const [first, second] = [await join(), await join()]
    for (let i = 0; i < 2; i++) expect((await first()).json().outcome).toBe('confirmed')
    const spent = (await first()).json()
    expect(spent).toMatchObject({ by: 'hub', outcome: 'unsure', reason: 'The pictures of this day are spent.' })
    expect(spent.retryAfterSeconds).toBeGreaterThan(0)
    expect((await second()).json().outcome).toBe('confirmed')
    expect((await second()).json().reason).toBe('The pictures of this day are spent.')
    expect(server.questions).toHaveLength(3)
    const rows = await hub.db.selectFrom('second_looks').select('pictures').orderBy('pictures').execute()
    expect(rows).toEqual([{ pictures: 1 }, { pictures: 2 }])
    hub.clock.advance(86_400_000)
    expect((await first()).json().outcome).toBe('confirmed')
    expect(await hub.db.selectFrom('second_looks').select('pictures').execute()).toEqual([{ pictures: 1 }])
  })

  it('counts the pictures of before a restart', async () => {
    const { hub, join } = await start({ perGateway: 1 })
    const ask = await join()
    const { id } = await hub.db.selectFrom('gateways').select('id').executeTakeFirstOrThrow()
    const day = new Date(hub.clock.now()).toISOString().slice(0, 10)
    await hub.db.insertInto('second_looks').values({ day, gateway_id: id, pictures: 1 }).execute()
    expect((await ask()).json().reason).toBe('The pictures of this day are spent.')
  })

  it('lets gateways take turns, and refuses too many pictures of one', async () => {
    const { join } = await start({})
    const [busy, quiet] = [await join(), await join()]
    const free = Promise.withResolvers<void>()
    server.answer = () => free.promise.then(() => says('no', 'A bush.'))
    const reasons: string[] = []
    const ask = (gateway: typeof busy, camera: string) =>
      gateway({ ...question, camera }).then((answer) => reasons.push(answer.json().reason))
    const all = [ask(busy, 'first')]
    await expect.poll(() => server.questions).toHaveLength(1)
    // There is one more than fits: when it is refused, the others wait.
    for (let i = 0; i < 5; i++) all.push(ask(busy, 'busy'))
    await expect.poll(() => reasons).toHaveLength(1)
    for (let i = 0; i < 5; i++) all.push(ask(quiet, 'quiet'))
    await expect.poll(() => reasons).toHaveLength(2)
    expect(new Set(reasons)).toEqual(new Set(['Too many pictures wait for the second look of the hub.']))
    free.resolve()
    await Promise.all(all)
    const turns = server.questions.map(({ text }) => /Camera: "(\w+)"/.exec(text)?.[1])
    expect(turns).toEqual(['first', ...Array.from({ length: 4 }, () => ['busy', 'quiet']).flat()])
  })

  it.each([
    ['429', { status: 429, headers: { 'retry-after': '90' } }, 'The endpoint has too much to do.', 90],
    ['a wrong key', { status: 401 }, 'The endpoint refuses the key.', 30],
  ] as const)('%s is a pause for all gateways', async (_what, answer, reason, seconds) => {
    const { join } = await start({})
    const ask = await join()
    server.answer = answer
    expect((await ask()).json()).toMatchObject({ by: 'eyes', outcome: 'unsure', reason, retryAfterSeconds: seconds })
    expect((await ask()).json()).toMatchObject({ by: 'hub', reason: 'The vision endpoint of the hub pauses.' })
    expect(server.questions).toHaveLength(1)
  })

  it('answers unsure in time when the endpoint is late, and for bytes that are no picture', async () => {
    const { join } = await start({ timeoutMs: 1_000 })
    const ask = await join()
    const noPicture = Buffer.from([0xff, 0xd8, 0xff, 1, 2, 3]).toString('base64')
    expect((await ask({ ...question, picture: noPicture })).json()).toMatchObject({ outcome: 'unsure' })
    expect(server.questions).toHaveLength(0)
    server.answer = 'late'
    expect((await ask()).json()).toMatchObject({ outcome: 'unsure', reason: 'No answer within 1 s.' })
    expect((await ask({ ...question, picture: 'AAAA' })).json().error).toBe('invalid_request')
  })
})

test('the queue takes turns among its keys, keeps their order, and is bounded for each and in all', () => {
  const queue = new FairQueue<string>({ perKey: 3, total: 5 })
  expect(['a1', 'a2', 'a3', 'a4'].map((item) => queue.put('a', item))).toEqual([true, true, true, false])
  expect(['b1', 'b2', 'b3'].map((item) => queue.put('b', item))).toEqual([true, true, false])
  queue.remove('a', 'a2')
  queue.remove('c', 'a3')
  expect(queue.size).toBe(4)
  expect(Array.from({ length: 5 }, () => queue.take())).toEqual(['a1', 'b1', 'a3', 'b2', undefined])
  expect(queue.size).toBe(0)
})
