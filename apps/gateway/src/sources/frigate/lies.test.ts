import { afterEach, describe, expect, test } from 'vitest'
import { startFrigateSource, type TestSource } from '../../../testing/frigate-source.ts'
import { startFrigate, type TestFrigate } from '../../../../../test/harness/frigate.ts'
import { reviewShape, type ReviewItem } from '../../../../../test/harness/frigate-shapes.ts'

/** A Frigate that lies, or another program at its address. Whatever it sends, the next correct message works. */
const life: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

async function start(): Promise<{ frigate: TestFrigate; source: TestSource }> {
  const frigate = await startFrigate()
  life.push(() => frigate.stop())
  const source = await startFrigateSource({ url: frigate.url })
  life.push(() => source.stop())
  await expect.poll(() => frigate.viewers() === 1 && source.state().cameras.length === 2).toBe(true)
  return { frigate, source }
}

const ids = (source: TestSource) => source.detections().map(({ id }) => id)

async function honest({ frigate, source }: { frigate: TestFrigate; source: TestSource }): Promise<string> {
  // The connection that the lie ended is opened again.
  await expect.poll(() => frigate.viewers()).toBe(1)
  const review = frigate.see({ label: 'boar', camera: 'yard' })
  await expect.poll(() => source.detections().find(({ id }) => id === review.id)?.thumbnail).toBeDefined()
  return review.id
}

const item = (frigate: TestFrigate) => reviewShape('0.17', unpublished(frigate))
/** An item that Frigate does not have itself. */
function unpublished(frigate: TestFrigate): ReviewItem {
  const object = frigate.track()
  const { camera, startTime } = object
  const id = `${startTime.toFixed(6)}-rlying`
  return { id, camera, severity: 'alert', startTime, endTime: null, zones: [], objects: [object], audio: [] }
}
const asMessage = (after: unknown, type: unknown = 'new') => ({ type, before: after, after })

test.each<[string, (frigate: TestFrigate) => void]>([
  ['no JSON', (frigate) => frigate.publishRaw('{"topic": "reviews", "payload": {')],
  ['a message that is a list', (frigate) => frigate.publishRaw('[1, 2]')],
  ['a topic that is a number', (frigate) => frigate.publishRaw('{"topic": 7}')],
  ['deep nesting', (frigate) => frigate.publishRaw(`{"topic":"reviews","payload":${'['.repeat(5_000)}`)],
  ['deep nesting in a text', (frigate) => frigate.publish('reviews', '['.repeat(50_000))],
  ['a million values', (frigate) => frigate.publish('reviews', `[${'0,'.repeat(300_000)}0]`)],
  ['a name of prototypes', (frigate) => frigate.publish('reviews', '{"__proto__": {"type": "new"}}')],
  ['no item', (frigate) => frigate.publish('reviews', asMessage(null))],
  [
    'an id that leads elsewhere',
    (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), id: '../../config' })),
  ],
  [
    'an id of 100 KB',
    (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), id: 'x'.repeat(100_000) })),
  ],
  ['an id that is a number', (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), id: 12 }))],
  ['times that are texts', (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), start_time: '1' }))],
  [
    'a time in the year 300,000',
    (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), start_time: 9e12 })),
  ],
  [
    'a time before there were cameras',
    (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), end_time: -1 })),
  ],
  [
    '10,000 objects',
    (frigate) => frigate.publish('reviews', asMessage(withData(frigate, { detections: many(10_000) }))),
  ],
  [
    'object ids that lead elsewhere',
    (frigate) => frigate.publish('reviews', asMessage(withData(frigate, { detections: ['../..'] }))),
  ],
  ['stats that are a text', (frigate) => frigate.publish('stats', 'fine')],
  ['negative stats', (frigate) => frigate.publish('stats', { cameras: { a: { camera_fps: -1 } }, detectors: {} })],
  [
    'a score below 0',
    (frigate) => frigate.publish('events', asMessage({ id: 'a', camera: 'yard', label: 'x', score: -1 })),
  ],
])('%s is skipped and reported once', async (_what, lie) => {
  const { frigate, source } = await start()
  for (let count = 0; count < 3; count++) lie(frigate)
  const id = await honest({ frigate, source })
  expect(ids(source)).toEqual([id])
  const { problems } = source.state()
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(/is its version between 0\.16 and 0\.18\?$/)
  expect(problems[0]!.length).toBeLessThanOrEqual(200)
})

function withData(frigate: TestFrigate, data: Record<string, unknown>): unknown {
  const shape = item(frigate)
  return { ...shape, data: { ...(shape.data as object), ...data } }
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `object-${index}`)
}

test.each<[string, (frigate: TestFrigate) => void]>([
  ['a topic of its future', (frigate) => frigate.publish('profile/state', 'night')],
  ['a binary picture', (frigate) => frigate.publish('yard/boar/snapshot', '\u0000\u00ff')],
  ['a description of a language model', (frigate) => frigate.publish('reviews', asMessage(item(frigate), 'genai'))],
  ['an unknown status', (frigate) => frigate.publish('yard/status/detect', 'dreaming')],
  [
    'an older severity',
    (frigate) => frigate.publish('reviews', asMessage({ ...item(frigate), severity: 'significant_motion' })),
  ],
  ['nothing at all', (frigate) => frigate.publishRaw('{"topic": "model_state"}')],
])('%s is skipped, and is no problem', async (_what, publish) => {
  const { frigate, source } = await start()
  publish(frigate)
  const id = await honest({ frigate, source })
  expect(ids(source)).toEqual([id])
  expect(source.state().problems).toEqual([])
})

test('unknown fields of every message are ignored', async () => {
  const { frigate, source } = await start()
  const review = unpublished(frigate)
  frigate.publish('reviews', {
    ...asMessage({ ...reviewShape('0.18', review), future: { deep: [1, 2, { three: null }] } }),
    more: true,
  })
  await expect.poll(() => ids(source)).toEqual([review.id])
  expect(source.state().problems).toEqual([])
})

test('a message of 3 MB ends the connection, which comes again', async () => {
  const { frigate, source } = await start()
  const connections = () => frigate.requests.filter(({ path }) => path === '/ws').length
  const before = connections()
  frigate.publish('reviews', 'x'.repeat(3 << 20))
  await expect.poll(connections).toBeGreaterThan(before)
  await honest({ frigate, source })
})

// More items than may wait: the rest is fetched afterwards.
test('1,100 items at once are all reported', { timeout: 240_000 }, async () => {
  const { frigate, source } = await start()
  const told = Array.from({ length: 1_100 }, () => {
    const review = frigate.see({ severity: 'detection', hasSnapshot: false })
    frigate.end(review)
    return review.id
  })
  await expect.poll(() => new Set(ids(source)).size, { timeout: 200_000 }).toBe(told.length)
})

describe('over HTTP', () => {
  test.each<[string, RegExp, string | Buffer, string]>([
    ['a list of 3 MB', /^\/api\/review\?/, Buffer.alloc(3 << 20, 0x20), ''],
    [
      'stats that are a page',
      /^\/api\/stats/,
      '<!doctype html><title>Router</title>',
      "Frigate's stats is not readable",
    ],
    ['a configuration that is a list', /^\/api\/config/, '[]', "Frigate's config lacks or garbles"],
    ['a list of nonsense', /^\/api\/review\?/, '[1, null, {"id": 3}]', 'A review item of Frigate lacks or garbles'],
    ['an object that is a text', /^\/api\/events\/[^/]+$/, '"boar"', ''],
  ])('%s changes nothing', async (_what, path, body, problem) => {
    const frigate = await startFrigate()
    life.push(() => frigate.stop())
    frigate.behaviour.answer = { path, with: (_request, response) => void response.end(body) }
    const source = await startFrigateSource({ url: frigate.url })
    life.push(() => source.stop())
    const id = await honest({ frigate, source })
    expect(ids(source)).toEqual([id])
    await expect.poll(() => source.state().problems.join('\n')).toContain(problem)
  })

  test('a list that never ends is not followed for ever', async () => {
    const frigate = await startFrigate()
    life.push(() => frigate.stop())
    let count = 0
    frigate.behaviour.answer = {
      path: /^\/api\/review\?/,
      with: (_request, response) => {
        const page = Array.from({ length: 100 }, () => {
          count += 1
          const startTime = Date.now() / 1_000 - count
          return { ...item(frigate), id: `made-up-${count}`, start_time: startTime, severity: 'significant_motion' }
        })
        response.end(JSON.stringify(page))
      },
    }
    const source = await startFrigateSource({ url: frigate.url })
    life.push(() => source.stop())
    await expect
      .poll(() => source.state().problems)
      .toContain('More happened at Frigate during the outage than the gateway fetches: the oldest items are missing.')
    expect(count).toBeLessThanOrEqual(2_100)
  })

  test('an answer that trickles for ever does not hold up messages', async () => {
    const frigate = await startFrigate()
    life.push(() => frigate.stop())
    frigate.behaviour.answer = {
      path: /^\/api\/(?:stats|config|review\?)/,
      with: (_request, response) => void response.writeHead(200).write('['),
    }
    const source = await startFrigateSource({ url: frigate.url })
    life.push(() => source.stop())
    const id = await honest({ frigate, source })
    expect(ids(source)).toEqual([id])
  })

  test('a slow Frigate is waited for', async () => {
    const { frigate, source } = await start()
    frigate.behaviour.delayMs = 400
    const review = frigate.see()
    await expect.poll(() => ids(source)).toEqual([review.id])
    await expect.poll(() => source.detections()[0]?.thumbnail).toBeDefined()
  })
})
