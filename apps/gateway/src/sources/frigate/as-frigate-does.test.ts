import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { startFrigateSource, type TestSource } from '../../../testing/frigate-source.ts'
import { startFrigate, type FrigateOptions, type TestFrigate } from '../../../../../test/harness/frigate.ts'
import { noteOf } from '../../../../../test/harness/frigate-shapes.ts'

/** What Frigate's documentation does not say, and its source does (see test/harness/frigate.ts). */
const life: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

type Started = { frigate: TestFrigate; source: TestSource }

async function start(options: FrigateOptions = {}, settings: object | ((frigate: TestFrigate) => object) = {}) {
  const frigate = await startFrigate(options)
  life.push(() => frigate.stop())
  const given = typeof settings === 'function' ? settings(frigate) : settings
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-frigate-source-'))
  const source = await startFrigateSource(
    { url: frigate.url, ...given },
    { dataDir, firesRule: (label) => label === 'fox' },
  )
  life.push(() => source.stop())
  const asked = (path: string) => frigate.requests.some((request) => request.path.startsWith(path))
  await expect.poll(() => frigate.viewers() === 1 && asked('/api/review?') && asked('/api/profile')).toBe(true)
  return { frigate, source, dataDir }
}

const byId = (source: TestSource, id: string) => source.detections().find((found) => found.id === id)
const noteAt = (source: TestSource, id: string) => {
  const thumbnail = byId(source, id)?.thumbnail
  return thumbnail === undefined ? undefined : noteOf(Buffer.from(thumbnail, 'base64'))
}
const problemsOf = (source: TestSource) => source.state().problems.join('\n')

async function sentinel({ frigate, source }: Started, camera = 'yard'): Promise<void> {
  const last = frigate.see({ camera, label: 'hare' })
  await expect.poll(() => noteAt(source, last.id)).toBeDefined()
  frigate.end(last)
}

describe('an item', () => {
  test('shows the highest score of all, and what a rule is about before all animals, in whatever order', async () => {
    const { frigate, source } = await start()
    const item = frigate.see({ label: 'hen', score: 0.8 })
    const better = frigate.join(item, { label: 'hen', score: 0.95 })
    await expect.poll(() => noteAt(source, item.id)).toBe(`snapshot ${better.id}`)
    expect(byId(source, item.id)).toMatchObject({ label: 'hen', score: 0.95 })
    const fox = frigate.join(item, { label: 'fox', score: 0.6, zones: ['rows', 'gate'] })
    await expect.poll(() => noteAt(source, item.id)).toBe(`snapshot ${fox.id}`)
    expect(byId(source, item.id)).toMatchObject({
      label: 'fox',
      zone: 'gate',
      verdicts: [{ stage: 'detector', reason: 'It saw: 2 × hen 0.95, fox 0.60.' }],
    })
    expect(source.objects.get(item.id)!.map(({ label, zones }) => [label, zones])).toContainEqual([
      'fox',
      ['rows', 'gate'],
    ])
  })

  test('with names that are too long or empty is reported, with the rest of them', async () => {
    const { frigate, source } = await start()
    const item = frigate.see({ label: 'boar', zones: ['z'.repeat(150), ' '] })
    await expect.poll(() => byId(source, item.id)?.zone).toBe('z'.repeat(100))
    const other = frigate.create('yard', 'x'.repeat(120), { subLabel: 'y'.repeat(120), score: 3 })
    await expect.poll(() => byId(source, other.id)).toMatchObject({ label: 'x'.repeat(100), score: 1 })
    expect(problemsOf(source)).toBe('')
  })

  test('that nobody ended ends now, once, and does not come again with each fetch', async () => {
    const { frigate, source } = await start()
    const item = frigate.create('yard', 'alarm')
    await expect.poll(() => byId(source, item.id)).toBeDefined()
    // `sys.maxsize` of Python.
    frigate.end(item, 2 ** 63)
    await expect.poll(() => byId(source, item.id)?.endedAt).toBeDefined()
    expect(Math.abs(Date.parse(byId(source, item.id)!.endedAt!) - Date.now())).toBeLessThan(10_000)
    const told = source.reports.length
    const old = { ...item, id: 'older-one', startTime: item.startTime - 100_000 }
    frigate.reviews.set(old.id, old)
    frigate.cut()
    await sentinel({ frigate, source })
    expect(source.reports.slice(told).filter(({ id }) => id === item.id || id === old.id)).toEqual([])
  })

  test('that is open and unreadable does not hold back the start of what is fetched', async () => {
    const { frigate, source, dataDir } = await start()
    const item = frigate.see({ label: 'boar', startTime: Date.now() / 1_000 - 3_000 })
    await expect.poll(() => byId(source, item.id)).toBeDefined()
    // Frigate's next answers about it are no review item.
    Object.assign(item, { severity: 7 })
    await sentinel({ frigate, source })
    await expect
      .poll(async () => await readFile(join(dataDir, 'frigate/progress.json'), 'utf8').catch(() => ''))
      .toContain(item.id)
    const before = frigate.requests.length
    frigate.cut()
    const fetched = () => frigate.requests.slice(before).find(({ path }) => path.startsWith('/api/review?'))?.path
    await expect.poll(fetched).toBeDefined()
    const after = Number(new URLSearchParams(fetched()!.split('?')[1]).get('after'))
    expect(Date.now() / 1_000 - after).toBeLessThan(300)
  })
})

test('what began while the connection was made is fetched at once, past the cache of its nginx', async () => {
  const { frigate, source } = await start()
  frigate.cut()
  // The answer that Frigate keeps for everybody who asks like the agent.
  await expect.poll(() => frigate.viewers()).toBe(1)
  await expect.poll(() => frigate.requests.filter(({ path }) => path.startsWith('/api/review?')).length).toBe(2)
  frigate.behaviour.isMute = true
  const silent = frigate.see()
  frigate.cut()
  await expect.poll(() => byId(source, silent.id)).toBeDefined()
  const asked = frigate.requests.filter(({ path }) => path.startsWith('/api/review'))
  expect(asked.every(({ headers }) => headers['x-cache-bypass'] === '1')).toBe(true)
})

test('a replay is no camera: not in the state, and no person there is seen', async () => {
  const { frigate, source } = await start({ cameras: { yard: {}, _replay_yard: {} } })
  frigate.see({ camera: '_replay_yard', label: 'person' })
  await sentinel({ frigate, source })
  expect(source.glimpses.filter((glimpse) => glimpse.includes('person'))).toEqual([])
  expect(source.state().cameras.map(({ name }) => name)).toEqual(['yard'])
  expect(new Set(source.detections().map(({ camera }) => camera))).toEqual(new Set(['yard']))
})

test('a person holds for 75 s with each message, and as usual after leaving', async () => {
  const { frigate, source } = await start()
  const person = frigate.track({ label: 'person' })
  frigate.move(person, { stationary: true })
  frigate.leave(person)
  await expect.poll(() => source.holds).toEqual([75_000, 75_000, undefined])
})

test('a status of before the connection does not outlive it: Frigate says it only when it changes', async () => {
  const { frigate, source } = await start()
  const stateOfYard = () => source.state().cameras.find(({ name }) => name === 'yard')?.state
  frigate.publish('yard/status/detect', 'offline')
  await expect.poll(stateOfYard).toBe('offline')
  frigate.cut()
  await expect.poll(stateOfYard).toBe('online')
})

describe('a camera that reports nothing', () => {
  const DETECT = 'Frigate detects nothing there: set detect.enabled'
  const REVIEW = 'its alerts and detections are off in Frigate: set review'
  const ALERTS = 'its alerts are off in Frigate: set review.alerts.enabled'
  test.each<[string, NonNullable<FrigateOptions['cameras']>, object, string | undefined]>([
    ['because detection is off', { yard: { detect: false } }, {}, DETECT],
    ['because alerts and detections are off', { yard: { alerts: false, detections: false } }, {}, REVIEW],
    ['because only alerts are wanted, and they are off', { yard: { alerts: false } }, { severity: 'alert' }, ALERTS],
    ['is none while detections are on', { yard: { alerts: false } }, {}, undefined],
    ['does not matter when it is not wanted', { yard: {}, barn: { detect: false } }, { cameras: ['yard'] }, undefined],
  ])('%s', async (_what, cameras, settings, reason) => {
    const { source } = await start({ cameras }, settings)
    await expect.poll(() => source.problemsOf('yard')).toBeDefined()
    await sentinelOf(source)
    expect(source.problemsOf('yard')).toEqual(
      reason === undefined ? [] : [`Camera yard reports nothing, because ${reason}.`],
    )
    expect(source.state().problems).toEqual(reason === undefined ? [] : [`yard reports nothing, because ${reason}.`])
  })

  /** Its configuration was read. */
  const sentinelOf = (source: TestSource) => expect.poll(() => source.state().detectors.length).toBe(1)

  test('since somebody switched detection off in its interface', async () => {
    const { frigate, source } = await start()
    frigate.cameras.get('yard')!.detect = false
    frigate.stats()
    await expect.poll(() => problemsOf(source)).toBe(`yard reports nothing, because ${DETECT}.`)
    expect(source.watch()?.get('yard')).toBe('off')
  })

  test('because its role may not see it', async () => {
    const access = {
      users: { gateway: { password: 'a long password', role: 'orchard' } },
      roles: { orchard: ['orchard'] },
    }
    const signedIn = ({ secureUrl }: TestFrigate) => ({ url: secureUrl, user: 'gateway', password: 'a long password' })
    const { frigate, source } = await start({ access }, signedIn)
    await expect
      .poll(() => problemsOf(source))
      .toBe("yard reports nothing, because Frigate's user for this gateway may not see it: its role needs the camera.")
    const hidden = frigate.see({ camera: 'yard', label: 'boar' })
    await sentinel({ frigate, source }, 'orchard')
    expect(byId(source, hidden.id)).toBeUndefined()
    // A person there would not be reported either.
    expect(source.watch()).toEqual(
      new Map([
        ['orchard', 'looking'],
        ['yard', 'dark'],
      ]),
    )
    await expect(source.pictures.latest!('yard', { signal: AbortSignal.timeout(10_000) })).rejects.toThrow(
      'Frigate answered 403: its user for this gateway may not read that.',
    )
  })
})

test('user and password do no harm where sign-in is switched off', async () => {
  const access = { isEnabled: false }
  const { frigate, source } = await start({ access }, ({ secureUrl }) => ({
    url: secureUrl,
    user: 'gateway',
    password: 'left over',
  }))
  await sentinel({ frigate, source })
  expect(problemsOf(source)).toBe('')
  expect(frigate.requests.filter(({ path }) => path === '/api/login')).toHaveLength(1)
  frigate.behaviour.answer = {
    path: /^\/api\/(?!login)/,
    with: (_request, response) => void response.writeHead(401).end(),
  }
  await expect(source.pictures.latest!('yard', { signal: AbortSignal.timeout(10_000) })).rejects.toThrow(
    'Frigate answered 401: it has no sign-in, so something before it asks for one.',
  )
})

test('a score above 1 counts as 1', async () => {
  const { frigate, source } = await start()
  const item = frigate.see({ label: 'boar', score: 12 })
  await expect.poll(() => byId(source, item.id)?.score).toBe(1)
})
