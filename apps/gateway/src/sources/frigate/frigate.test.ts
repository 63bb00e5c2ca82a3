import { afterEach, describe, expect, test, vi } from 'vitest'
import { startFrigateSource, type TestSource } from '../../../testing/frigate-source.ts'
import { startFrigate, type FrigateOptions, type TestFrigate } from '../../../../../test/harness/frigate.ts'
import { noteOf } from '../../../../../test/harness/frigate-shapes.ts'

const life: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
  vi.useRealTimers()
})

/** From now on the source's pauses end when the test says `later`. Sockets and Frigate have timers of their own. */
const holdPauses = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

type Started = { frigate: TestFrigate; source: TestSource; later(ms: number): void }

async function start(options: FrigateOptions = {}, settings: Record<string, unknown> = {}): Promise<Started> {
  let passedMs = 0
  const frigate = await startFrigate(options)
  life.push(() => frigate.stop())
  const source = await startFrigateSource({ url: frigate.url, ...settings }, { clock: () => Date.now() + passedMs })
  life.push(() => source.stop())
  await listening(frigate)
  const later = (ms: number) => {
    passedMs += ms
    frigate.behaviour.clockAheadMs += ms
    if (vi.isFakeTimers()) vi.advanceTimersByTime(ms)
  }
  return { frigate, source, later }
}

/** Resolves when the source is connected to the WebSocket and has fetched the earlier items. */
async function listening(frigate: TestFrigate, before = 0): Promise<void> {
  const fetched = () => frigate.requests.slice(before).some(({ path }) => path.startsWith('/api/review?'))
  await expect.poll(() => frigate.viewers() === 1 && fetched()).toBe(true)
}

const byId = (source: TestSource, id: string) => source.detections().find((found) => found.id === id)
const ids = (source: TestSource) =>
  source
    .detections()
    .map(({ id }) => id)
    .toSorted()
const pictureOf = (source: TestSource, id: string) => {
  const thumbnail = byId(source, id)?.thumbnail
  return thumbnail === undefined ? undefined : noteOf(Buffer.from(thumbnail, 'base64'))
}
/** Reports one more item; once it arrives, all earlier ones have been handled. */
async function sentinel({ frigate, source }: Pick<Started, 'frigate' | 'source'>): Promise<void> {
  const last = frigate.see({ camera: 'yard', label: 'hare' })
  await expect.poll(() => pictureOf(source, last.id)).toBeDefined()
}

describe.each(['0.16', '0.17', '0.18'] as const)('Frigate %s', (version) => {
  test('an item that begins, changes and ends is one detection', async () => {
    const { frigate, source } = await start({ version })
    await expect.poll(() => source.state().cameras).toHaveLength(2)
    const review = frigate.see({ severity: 'detection', score: 0.71, zones: ['gate', 'rows'], label: 'deer' })
    await expect.poll(() => pictureOf(source, review.id)).toBe(`snapshot ${review.objects[0]!.id}`)
    expect(byId(source, review.id)).toEqual({
      id: review.id,
      camera: 'orchard',
      label: 'deer',
      severity: 'detection',
      score: 0.71,
      startedAt: new Date(review.startTime * 1_000).toISOString(),
      source: 'frigate',
      zone: 'rows',
      box: { x: 0.25, y: 0.5, width: 0.125, height: 0.25 },
      thumbnail: expect.any(String) as string,
    })
    frigate.join(review, { label: 'boar', score: 0.93, severity: 'alert' })
    await expect.poll(() => byId(source, review.id)).toMatchObject({ label: 'boar', severity: 'alert', score: 0.93 })
    await expect.poll(() => pictureOf(source, review.id)).toBe(`snapshot ${review.objects[1]!.id}`)
    frigate.end(review)
    await expect.poll(() => byId(source, review.id)?.endedAt).toBe(new Date(review.endTime! * 1_000).toISOString())
    expect(ids(source)).toEqual([review.id])
    expect(source.state().problems).toEqual([])
  })
})

describe('severity', () => {
  test('never falls, also after the agent was started again', async () => {
    const { frigate, source } = await start()
    const review = frigate.see({ severity: 'alert' })
    await expect.poll(() => byId(source, review.id)?.severity).toBe('alert')
    const asked = frigate.requests.length
    await source.restart()
    await listening(frigate, asked)
    review.severity = 'detection'
    review.zones = ['rows']
    frigate.update(review)
    await expect.poll(() => byId(source, review.id)?.zone).toBe('rows')
    expect(new Set(source.reports.map(({ severity }) => severity))).toEqual(new Set(['alert']))
  })

  test('detections are left out when the file says so', async () => {
    const { frigate, source } = await start({}, { severity: 'alert' })
    const review = frigate.see({ severity: 'detection' })
    await sentinel({ frigate, source })
    expect(byId(source, review.id)).toBeUndefined()
    review.severity = 'alert'
    frigate.update(review)
    await expect.poll(() => byId(source, review.id)?.severity).toBe('alert')
  })
})

test('a person among animals is the label', async () => {
  const { frigate, source } = await start()
  const review = frigate.see({ label: 'dog', score: 0.95 })
  await expect.poll(() => byId(source, review.id)?.label).toBe('dog')
  frigate.join(review, { label: 'person', score: 0.6 })
  await expect.poll(() => byId(source, review.id)).toMatchObject({ label: 'person', score: 0.6 })
})

test('a person without a review item is glimpsed, and a false positive is not', async () => {
  const { frigate, source } = await start()
  frigate.track({ label: 'person', camera: 'yard' })
  frigate.publish('events', {
    type: 'update',
    after: { id: 'a', camera: 'orchard', label: 'person', score: 0.5, false_positive: true },
  })
  await sentinel({ frigate, source })
  expect(source.glimpses).toEqual(['yard person', 'yard hare'])
})

test('only the cameras of the file are reported', async () => {
  const { frigate, source } = await start({}, { cameras: ['yard'] })
  frigate.see({ camera: 'orchard' })
  await sentinel({ frigate, source })
  expect(new Set(source.detections().map(({ camera }) => camera))).toEqual(new Set(['yard']))
})

describe('after an outage', () => {
  test('of Frigate: stored detections are reported once, and current ones are not reported again', async () => {
    const { frigate, source } = await start({ cameras: { orchard: {}, yard: {}, gate: {} } })
    const [kept, open] = [frigate.see(), frigate.see({ camera: 'yard' })]
    frigate.end(kept)
    await expect.poll(() => byId(source, kept.id)?.endedAt).toBeDefined()
    await expect.poll(() => pictureOf(source, open.id)).toBeDefined()
    const before = source.reports.length
    await frigate.stop()
    const [missed, ended] = [frigate.see({ label: 'fox' }), frigate.see({ camera: 'gate', label: 'deer' })]
    frigate.end(ended)
    const asked = frigate.requests.length
    await frigate.start()
    await listening(frigate, asked)
    await expect.poll(() => pictureOf(source, missed.id)).toBeDefined()
    await expect.poll(() => byId(source, ended.id)?.endedAt).toBeDefined()
    const told = source.reports.slice(before).map(({ id }) => id)
    expect(new Set(told)).toEqual(new Set([missed.id, ended.id]))
    expect(ids(source)).toEqual([kept.id, open.id, missed.id, ended.id].toSorted())
    expect(told.filter((id) => id === ended.id)).toHaveLength(1)
  })

  test('a restart that ends an item silently ends the detection', async () => {
    const { frigate, source } = await start()
    const review = frigate.see()
    await expect.poll(() => pictureOf(source, review.id)).toBeDefined()
    await frigate.restart()
    await expect.poll(() => byId(source, review.id)?.endedAt).toBeDefined()
  })

  test('of the agent, what happened meanwhile is reported once', async () => {
    const { frigate, source } = await start()
    const first = frigate.see()
    await expect.poll(() => pictureOf(source, first.id)).toBeDefined()
    frigate.end(first)
    await expect.poll(() => byId(source, first.id)?.endedAt).toBeDefined()
    const before = source.reports.length
    await source.restart()
    const second = frigate.see({ label: 'fox' })
    await expect.poll(() => pictureOf(source, second.id)).toBeDefined()
    expect(new Set(source.reports.slice(before).map(({ id }) => id))).toEqual(new Set([second.id]))
  })

  test('of a broken connection that nobody noticed, messages come again', async () => {
    const { frigate, source } = await start()
    frigate.cut()
    const missed = frigate.see()
    await expect.poll(() => pictureOf(source, missed.id)).toBeDefined()
    expect(ids(source)).toEqual([missed.id])
  })

  test('hundreds of items come in pages, the oldest first', { timeout: 180_000 }, async () => {
    const { frigate, source } = await start()
    await sentinel({ frigate, source })
    await frigate.stop()
    const now = Date.now() / 1_000
    const missed = Array.from({ length: 230 }, (_, index) => {
      const review = frigate.see({ startTime: now - 160 + index * 0.7, hasSnapshot: false })
      frigate.end(review, review.startTime + 0.5)
      return review.id
    })
    await frigate.start()
    await expect.poll(() => source.detections().length, { timeout: 150_000 }).toBe(231)
    expect(ids(source).filter((id) => missed.includes(id))).toEqual(missed.toSorted())
    // Four items are fetched at a time.
    const order = source.reports.map(({ id }) => missed.indexOf(id)).filter((index) => index >= 0)
    for (const [at, index] of order.entries()) expect(Math.abs(index - at)).toBeLessThan(10)
  })

  test('nothing is lost while the disk refuses writes', async () => {
    holdPauses()
    const { frigate, source, later } = await start()
    await sentinel({ frigate, source })
    source.refuse(new Error('ENOSPC'))
    const review = frigate.see()
    const asked = frigate.requests.length
    const fetched = () => {
      later(1_000)
      return frigate.requests.slice(asked).some(({ path }) => path.startsWith('/api/review?'))
    }
    await expect.poll(fetched).toBe(true)
    source.refuse(undefined)
    await expect
      .poll(() => {
        later(1_000)
        return byId(source, review.id)
      })
      .toBeDefined()
  })
})

test('the first time, the last hour is fetched and nothing older', async () => {
  const frigate = await startFrigate()
  life.push(() => frigate.stop())
  const now = Date.now() / 1_000
  const old = frigate.see({ startTime: now - 7_300 })
  frigate.end(old, now - 7_200)
  const recent = frigate.see({ startTime: now - 600 })
  frigate.end(recent, now - 590)
  const source = await startFrigateSource({ url: frigate.url })
  life.push(() => source.stop())
  await expect.poll(() => pictureOf(source, recent.id)).toBeDefined()
  expect(ids(source)).toEqual([recent.id])
})

describe('pictures', () => {
  test('are the thumbnail where a saved snapshot is too large or missing', async () => {
    const { frigate, source } = await start()
    frigate.behaviour.snapshotPaddingBytes = 300_000
    const large = frigate.see()
    await expect.poll(() => pictureOf(source, large.id)).toBe(`snapshot ${large.objects[0]!.id}`)
    frigate.end(large)
    await expect.poll(() => pictureOf(source, large.id)).toBe(`thumbnail ${large.objects[0]!.id}`)
    const none = frigate.see({ hasSnapshot: false })
    await expect.poll(() => pictureOf(source, none.id)).toBe(`thumbnail ${none.objects[0]!.id}`)
  })

  test('that are invalid are left out, and the detection counts', async () => {
    const { frigate, source } = await start()
    const bodies = [Buffer.from('<html>'), Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(0), Buffer.alloc(9 << 20, 0xff)]
    for (const body of bodies) {
      frigate.behaviour.answer = {
        path: /\.jpg/,
        with: (_request, response) => void response.writeHead(200, { 'content-type': 'image/jpeg' }).end(body),
      }
      const review = frigate.see()
      frigate.end(review)
      await expect.poll(() => byId(source, review.id)?.endedAt).toBeDefined()
      expect(byId(source, review.id)?.thumbnail).toBeUndefined()
    }
    frigate.behaviour.answer = undefined
    await sentinel({ frigate, source })
  })

  test('that Frigate refuses for now come with the next change', async () => {
    const { frigate, source } = await start()
    frigate.behaviour.answer = { path: /\.jpg/, with: (_request, response) => void response.writeHead(503).end() }
    const review = frigate.see()
    await expect.poll(() => byId(source, review.id)).toBeDefined()
    frigate.behaviour.answer = undefined
    frigate.update(review)
    await expect.poll(() => pictureOf(source, review.id)).toBeDefined()
  })
})

describe('the state', () => {
  test('has cameras that are off, dark and on', async () => {
    const { source } = await start({ cameras: { off: { enabled: false }, dark: { fps: 0 }, on: { fps: 12.5 } } })
    await expect.poll(() => source.state().cameras.find(({ name }) => name === 'off')?.state).toBe('disabled')
    expect(source.state().cameras.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'dark', state: 'offline', fps: 0 },
      { name: 'off', state: 'disabled', fps: 0 },
      { name: 'on', state: 'online', fps: 12.5 },
    ])
    expect(source.state().detectors).toEqual([{ name: 'ov', inferenceMs: 12.4 }])
    expect(source.problemsOf('dark')).toEqual(['Frigate gets no pictures of camera dark.'])
    for (const name of ['off', 'on']) expect(source.problemsOf(name)).toEqual([])
    expect(source.problemsOf('barn')).toBeUndefined()
  })

  test.each(['0.16', '0.18'] as const)(
    'says which camera is frozen, until its picture changes: %s',
    async (version) => {
      holdPauses()
      const { frigate, source, later } = await start({ version, cameras: { orchard: {}, yard: {} } })
      await expect.poll(() => source.state().cameras).toHaveLength(2)
      frigate.behaviour.stuck.add('orchard')
      const asked = () => frigate.requests.filter(({ path }) => path.includes('/latest.jpg')).length
      const states = () => source.state().cameras.map(({ name, state, fps }) => [name, state, fps > 0])
      /** Each time the source has looked at both. */
      async function look(): Promise<void> {
        const before = asked()
        await expect.poll(() => (later(5_000), asked())).toBeGreaterThanOrEqual(before + 2)
      }
      await expect
        .poll(async () => (await look(), states()))
        .toEqual([
          ['orchard', 'frozen', true],
          ['yard', 'online', true],
        ])
      // The first look, and the picture came back four times.
      expect(asked()).toBeGreaterThanOrEqual(9)
      expect(source.problemsOf('orchard')).toEqual([
        expect.stringMatching(/^Camera orchard: its picture has not changed since \d\d:\d\d \S+ on \d+ \w+\.$/),
      ])
      expect([source.watch()?.get('orchard'), source.watch()?.get('yard')]).toEqual(['dark', 'looking'])
      frigate.behaviour.stuck.clear()
      await expect.poll(async () => (await look(), states()[0])).toEqual(['orchard', 'online', true])
      expect(source.problemsOf('orchard')).toEqual([])
    },
  )

  test('says which cameras Frigate makes no review items of', async () => {
    const { source } = await start({ cameras: { orchard: {}, yard: { record: false } } })
    await expect
      .poll(() => source.state().problems)
      .toEqual(['yard reports nothing, because Frigate has review items of recorded cameras only: set record.enabled.'])
  })

  test('says for how long Frigate has not answered, and that its cameras are offline', async () => {
    holdPauses()
    const { frigate, source, later } = await start()
    await expect.poll(() => source.state().cameras).toHaveLength(2)
    await frigate.stop()
    const problems = () => {
      later(1_000)
      return source.state().problems
    }
    const says = (words: string) => expect.poll(() => problems().join('\n')).toContain(`Frigate ${words}`)
    await says('does not answer: nothing listens there (connection refused).')
    await expect
      .poll(() => {
        later(1_000)
        return source.problemsOf(source.state().cameras[0]!.name)?.[0]
      })
      .toMatch(/^Frigate does not answer: nothing/)
    later(120_000)
    await says('has not answered for 2 minutes: nothing listens there (connection refused).')
    later(86_400_000)
    await says('has not answered for a day: ')
    await frigate.start()
    await expect
      .poll(problems)
      .toEqual(['More happened at Frigate during the outage than the gateway fetches: the oldest items are missing.'])
    expect(source.state().cameras.map(({ state }) => state)).toEqual(['online', 'online'])
  })
})
