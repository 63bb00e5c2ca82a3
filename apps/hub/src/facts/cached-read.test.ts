import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { HUB, openFacts, record } from './facts.ts'
import { cachedRead } from './cached-read.ts'

const CHANGE = { kind: 'gateway.added', at: 0, actor: HUB, data: { name: 'Barn' } } as const

describe('a kept read', () => {
  let hub: TestHub
  let db: TestHub['db']
  let nowMs = 0
  /** The reads that began: each is answered by hand. */
  let reads: PromiseWithResolvers<number>[] = []
  const read = () => {
    reads.push(Promise.withResolvers())
    return reads.at(-1)!.promise
  }
  const options = { name: 'number', kinds: [CHANGE.kind] }

  beforeAll(async () => {
    hub = await startTestHub('sqlite')
  })
  beforeEach(() => {
    db = hub.db.withPlugin({ transformQuery: ({ node }) => node, transformResult: async ({ result }) => result })
    openFacts(db, { log: pino({ level: 'silent' }) })
    reads = []
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  })
  afterEach(() => vi.restoreAllMocks())
  afterAll(() => hub.stop())

  it('is one read for all who wait, and for all who come later', async () => {
    const get = cachedRead(db, options, read)
    const waiting = [get(), get()]
    reads[0]!.resolve(1)
    expect(await Promise.all([...waiting, get()])).toEqual([1, 1, 1])
    nowMs += 1_000_000_000
    expect([await get(), reads.length]).toEqual([1, 1])
  })

  it('is stale after its facts, also when it began before and ended after one', async () => {
    const get = cachedRead(db, options, read)
    const early = get()
    await record(db, { ...CHANGE, kind: 'gateway.edited' })
    void get()
    expect(reads).toHaveLength(1)
    await record(db, CHANGE)
    const late = get()
    expect(reads).toHaveLength(2)
    reads[1]!.resolve(2)
    reads[0]!.resolve(1)
    expect([await early, await late, await get(), reads.length]).toEqual([1, 2, 2, 2])
  })

  it('is no older than its age; shortly before that, the next read begins and nobody waits', async () => {
    const get = cachedRead(db, { ...options, maxAgeMs: (answer) => answer * 600 }, read)
    void get()
    reads[0]!.resolve(1)
    nowMs += 499
    expect([await get(), reads.length]).toEqual([1, 1])
    nowMs += 1
    expect([await get(), await get(), reads.length]).toEqual([1, 1, 2])
    nowMs += 100
    const waits = get()
    reads[1]!.resolve(0)
    expect([await waits, reads.length]).toEqual([0, 2])
    void get()
    expect(reads, 'an answer without an age is not kept').toHaveLength(3)
  })

  it('does not keep a failure', async () => {
    const get = cachedRead(db, { ...options, maxAgeMs: 600 }, read)
    const both = [get(), get()]
    reads[0]!.reject(new Error('down'))
    for (const failed of both) await expect(failed).rejects.toThrow('down')
    const next = get()
    reads[1]!.resolve(1)
    expect(await next).toBe(1)
    nowMs += 500
    expect(await get(), 'while it is read again').toBe(1)
    reads[2]!.reject(new Error('down'))
    await expect(reads[2]!.promise).rejects.toThrow('down')
    void get()
    expect(reads).toHaveLength(4)
  })

  it('has an answer for each key, of which it keeps so many', async () => {
    let count = 0
    const get = cachedRead(db, { ...options, keyOf: String, maxKeys: 2 }, async (key: number) => `${key}:${++count}`)
    expect(await Promise.all([1, 2, 1].map((key) => get(key)))).toEqual(['1:1', '2:2', '1:1'])
    expect(await Promise.all([3, 1].map((key) => get(key)))).toEqual(['3:3', '1:4'])
  })

  it('shares no first read under way if it may lack what no fact tells', async () => {
    const get = cachedRead(db, { ...options, maxAgeMs: 600, onlyAnswers: true }, read)
    const both = [get(), get()]
    reads[1]!.resolve(2)
    reads[0]!.resolve(1)
    expect([await Promise.all(both), await get(), reads.length]).toEqual([[1, 2], 2, 2])
  })
})
