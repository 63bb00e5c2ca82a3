import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { Detection } from '@hedgerow/contract'
import fc from 'fast-check'
import sharp, { type FormatEnum } from 'sharp'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startFrigateSource, type TestSource } from '../../../testing/frigate-source.ts'
import { startFrigate, type FrigateOptions, type TestFrigate } from '../../../../../test/harness/frigate.ts'
import { clipOf, noteOf, type FrigateVersion } from '../../../../../test/harness/frigate-shapes.ts'
import { jpegSize } from '../../kernel/jpeg.ts'
import { readRange } from '../clip-file.ts'
import { createClipStore } from './clip-store.ts'

const life: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

const { signal } = new AbortController()

async function start(options: FrigateOptions = {}): Promise<{ frigate: TestFrigate; source: TestSource }> {
  const frigate = await startFrigate(options)
  life.push(() => frigate.stop())
  const source = await startFrigateSource({ url: frigate.url })
  life.push(() => source.stop())
  await expect.poll(() => frigate.viewers() === 1 && source.state().cameras.length === 2).toBe(true)
  return { frigate, source }
}

async function seen({ frigate, source }: { frigate: TestFrigate; source: TestSource }): Promise<Detection> {
  const now = Date.now() / 1_000
  const review = frigate.see({ startTime: now - 40 })
  frigate.end(review, now - 20)
  const found = () => source.detections().find(({ id, endedAt }) => id === review.id && endedAt !== undefined)
  await expect.poll(found).toBeDefined()
  return found()!
}

describe('the latest picture', () => {
  test('comes in the requested height', async () => {
    const { source } = await start()
    expect(noteOf((await source.pictures.latest!('yard', { height: 360, signal }))!.jpeg)).toBe('latest yard 360')
    expect(noteOf((await source.pictures.latest!('yard', { signal }))!.jpeg)).toBe('latest yard')
  })

  test('of an offline camera is its last preview with its age, also after the agent was started', async () => {
    const { frigate, source } = await start({ version: '0.18', cameras: { yard: { fps: 0 }, orchard: {} } })
    frigate.behaviour.previewAt = Math.round(Date.now() / 1_000) - 3_600
    const old = (await source.pictures.latest!('yard', { height: 360, signal }))!
    expect(noteOf(old.jpeg)).toBe('preview yard')
    expect(Math.abs(old.ageMs! - 3_600_000)).toBeLessThan(10_000)
    // A preview whose time Frigate does not say is as old as previews may be.
    frigate.behaviour.answer = { path: /\/frames$/, with: (_request, response) => void response.writeHead(404).end() }
    expect((await source.pictures.latest!('yard', { signal }))!.ageMs).toBe(86_400_000)
    expect((await source.pictures.latest!('orchard', { signal }))!.ageMs).toBeUndefined()
  })

  test('of an offline camera of 0.17, which is an error picture, has the age of the outage', async () => {
    const { frigate, source } = await start({ cameras: { yard: {}, orchard: {} } })
    expect((await source.pictures.latest!('yard', { signal }))!.ageMs).toBeUndefined()
    frigate.cameras.get('yard')!.fps = 0
    frigate.stats()
    await expect.poll(() => source.state().cameras.find(({ name }) => name === 'yard')?.state).toBe('offline')
    const old = (await source.pictures.latest!('yard', { signal }))!
    expect(noteOf(old.jpeg)).toBe('camera-error yard')
    expect(old.ageMs).toBeGreaterThanOrEqual(10_000)
  })

  test('of a camera that Frigate does not have is missing, and Frigate is not asked', async () => {
    const { frigate, source } = await start()
    for (const camera of ['barn', '../config', '__proto__', ''])
      expect(await source.pictures.latest!(camera, { signal })).toBeUndefined()
    expect(frigate.requests.filter(({ path }) => path.includes('latest'))).toEqual([])
  })

  test('rejects in words while Frigate is away', async () => {
    const { frigate, source } = await start()
    await frigate.stop()
    await expect(source.pictures.latest!('yard', { signal })).rejects.toThrow('nothing listens there')
  })
})

describe('a snapshot', () => {
  test('is the saved one, else the thumbnail', async () => {
    const { frigate, source } = await start({ version: '0.18' })
    const detection = await seen({ frigate, source })
    const object = frigate.reviews.get(detection.id)!.objects[0]!
    expect(noteOf((await source.pictures.snapshot!(detection, { signal }))!)).toBe(`snapshot ${object.id}`)
    await source.pictures.snapshot!(detection, { boxed: true, signal })
    const asked = frigate.requests.map(({ path }) => path).filter((path) => path.includes('/snapshot.jpg'))
    expect(asked.map((path) => path.includes('bbox=1'))).toEqual([...asked.slice(1).map(() => false), true])
    expect(asked.every((path) => path.includes('timestamp=0'))).toBe(true)
    object.hasSnapshot = false
    expect(noteOf((await source.pictures.snapshot!(detection, { signal }))!)).toBe(`thumbnail ${object.id}`)
  })

  test.each<[FrigateVersion, keyof FormatEnum]>([
    ['0.16', 'png'],
    ['0.17', 'webp'],
  ])('of Frigate %s that was saved with a box is the copy without one', async (version, format) => {
    const { frigate, source } = await start({ version })
    const detection = await seen({ frigate, source })
    const bare = () => source.pictures.snapshot!(detection, { signal })
    const { id } = frigate.reviews.get(detection.id)!.objects[0]!
    expect(noteOf((await bare())!)).toBe(`snapshot ${id} with box`)
    const pixels = { width: 64, height: 40, channels: 3 as const, background: '#445566' }
    frigate.behaviour.cleanSnapshot = await sharp({ create: pixels }).toFormat(format).toBuffer()
    expect(jpegSize((await bare())!)).toEqual({ width: 64, height: 40 })
    expect(noteOf((await source.pictures.snapshot!(detection, { boxed: true, signal }))!)).toBe(
      `snapshot ${id} with box`,
    )
    frigate.behaviour.cleanSnapshot = Buffer.from('no picture')
    expect(noteOf((await bare())!)).toBe(`snapshot ${id} with box`)
  })

  test('is found for a detection that this run of the agent never saw', async () => {
    const { frigate, source } = await start({ version: '0.18' })
    const now = Date.now() / 1_000
    const old = frigate.see({ startTime: now - 90_000, camera: 'yard' })
    frigate.end(old, now - 89_000)
    const detection: Detection = {
      id: old.id,
      camera: 'yard',
      label: 'boar',
      severity: 'alert',
      score: 0.9,
      startedAt: new Date(old.startTime * 1_000).toISOString(),
    }
    expect(noteOf((await source.pictures.snapshot!(detection, { signal }))!)).toBe(`snapshot ${old.objects[0]!.id}`)
    expect(await source.pictures.snapshot!({ ...detection, id: 'gone' }, { signal })).toBeUndefined()
    expect(await source.pictures.snapshot!({ ...detection, source: 'eye' }, { signal })).toBeUndefined()
  })
})

describe('a clip', () => {
  const bytesOf = async (body: Readable) => Buffer.concat(await body.toArray())

  test('is the recording from 5 s before to 10 s after, fetched once for all ranges', async () => {
    const { frigate, source } = await start()
    const detection = await seen({ frigate, source })
    const whole = await source.pictures.clip!(detection, { signal })
    const bytes = await bytesOf(whole!.body)
    expect(whole).toMatchObject({
      status: 200,
      headers: { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', 'content-length': String(bytes.length) },
    })
    // The test server makes one byte of every millisecond.
    expect(bytes.length).toBe(35_000)
    expect(bytes.equals(clipOf(35_000))).toBe(true)
    const part = await source.pictures.clip!(detection, { range: 'bytes=100-299', signal })
    expect(part).toMatchObject({ status: 206, headers: { 'content-range': 'bytes 100-299/35000' } })
    expect((await bytesOf(part!.body)).equals(bytes.subarray(100, 300))).toBe(true)
    const last = await source.pictures.clip!(detection, { range: 'bytes=-10', signal })
    expect((await bytesOf(last!.body)).equals(bytes.subarray(-10))).toBe(true)
    expect(frigate.requests.filter(({ path }) => path.endsWith('/clip.mp4'))).toHaveLength(1)
  })

  test('of an item that ended as it began has the time around it', async () => {
    const { frigate, source } = await start()
    const detection = await seen({ frigate, source })
    const clip = await source.pictures.clip!({ ...detection, endedAt: detection.startedAt }, { signal })
    expect((await bytesOf(clip!.body)).length).toBe(15_000)
  })

  test('of an unfinished item ends now, and is fetched each time', async () => {
    const { frigate, source } = await start()
    const { endedAt: _ended, ...goesOn } = await seen({ frigate, source })
    for (let count = 0; count < 2; count++) {
      const clip = await source.pictures.clip!(goesOn, { signal })
      expect((await bytesOf(clip!.body)).length).toBeGreaterThan(30_000)
    }
    expect(frigate.requests.filter(({ path }) => path.endsWith('/clip.mp4'))).toHaveLength(2)
  })

  test('of a camera that is not recorded is missing', async () => {
    const { frigate, source } = await start()
    const detection = await seen({ frigate, source })
    frigate.cameras.get('orchard')!.record = false
    expect(await source.pictures.clip!(detection, { signal })).toBeUndefined()
  })

  test('that Frigate could not make is missing: it is no file of 0 bytes', async () => {
    const { frigate, source } = await start()
    const { endedAt, ...goesOn } = await seen({ frigate, source })
    frigate.behaviour.clipsFail = true
    expect(await source.pictures.clip!({ ...goesOn, endedAt: endedAt! }, { signal })).toBeUndefined()
    expect(await source.pictures.clip!(goesOn, { signal })).toBeUndefined()
    frigate.behaviour.clipsFail = false
    expect((await source.pictures.clip!({ ...goesOn, endedAt: endedAt! }, { signal }))?.status).toBe(200)
  })

  test('that breaks off is an error in words, and the next try works', async () => {
    const { frigate, source } = await start()
    const detection = await seen({ frigate, source })
    frigate.behaviour.answer = {
      path: /clip\.mp4$/,
      with: (_request, response) => {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 5_000 }).write('half')
        setImmediate(() => response.destroy())
      },
    }
    await expect(source.pictures.clip!(detection, { signal })).rejects.toThrow("Frigate's clip broke off")
    frigate.behaviour.answer = undefined
    expect((await source.pictures.clip!(detection, { signal }))?.status).toBe(200)
  })
})

describe('the store of clips', () => {
  test('keeps the newest few files, and deletes all at its end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-clips-'))
    life.push(() => rm(folder, { recursive: true, force: true }))
    const store = createClipStore(join(folder, 'clips'))
    for (let count = 0; count < 9; count++) {
      const open = async () => Readable.from([clipOf(100)])
      const clip = await store.read({ key: `clip ${count}`, open, range: undefined, signal })
      await clip!.body.toArray()
    }
    expect(await readdir(join(folder, 'clips'))).toHaveLength(4)
    await store.stop()
    expect(await readdir(folder)).toEqual([])
  })

  test('goes on fetching for others when the first reader leaves, and stops when the last one does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-clips-'))
    life.push(() => rm(folder, { recursive: true, force: true }))
    const store = createClipStore(join(folder, 'clips'))
    life.push(() => store.stop())
    const bodies: PassThrough[] = []
    const open = async (untilLeft: AbortSignal) => {
      const body = new PassThrough({ signal: untilLeft })
      bodies.push(body)
      return body
    }
    const read = (reader: AbortController) =>
      store.read({ key: 'shared', open, range: undefined, signal: reader.signal })
    const [first, second] = [new AbortController(), new AbortController()]
    const leaves = read(first)
    const stays = read(second)
    await vi.waitFor(() => expect(bodies.length).toBe(1))
    first.abort()
    await expect(leaves).rejects.toThrow('aborted')
    bodies[0]!.end(clipOf(100))
    expect((await (await stays)!.body.toArray()).join('').length).toBeGreaterThan(0)
    expect(bodies.length).toBe(1)

    const last = new AbortController()
    const other = store.read({ key: 'other', open, range: undefined, signal: last.signal })
    await vi.waitFor(() => expect(bodies.length).toBe(2))
    last.abort()
    await expect(other).rejects.toThrow('aborted')
    await vi.waitFor(() => expect(bodies[1]!.destroyed).toBe(true))
    await vi.waitFor(async () => expect(await readdir(join(folder, 'clips'))).toHaveLength(1))
  })

  test('refuses a clip without an end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-clips-'))
    life.push(() => rm(folder, { recursive: true, force: true }))
    const store = createClipStore(join(folder, 'clips'))
    life.push(() => store.stop())
    const megabyte = Buffer.alloc(1 << 20)
    const open = async () => Readable.from(Array.from({ length: 200 }, () => megabyte))
    await expect(store.read({ key: 'endless', open, range: undefined, signal })).rejects.toThrow('too long')
    expect(await readdir(join(folder, 'clips'))).toEqual([])
  })
})

describe('a range', () => {
  test.each([
    ['bytes=0-', { first: 0, last: 99 }],
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=90-200', { first: 90, last: 99 }],
    ['bytes=-1', { first: 99, last: 99 }],
    ['bytes=-500', { first: 0, last: 99 }],
    ['bytes=100-', undefined],
    ['bytes=5-2', undefined],
    ['bytes=-0', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,5-6', undefined],
    ['lines=0-1', undefined],
    [undefined, undefined],
  ])('%s of 100 bytes is %j', (text, expected) => {
    expect(readRange(text, 100)).toEqual(expected)
  })

  test('is always within the file', () => {
    const ranges = fc.tuple(fc.stringMatching(/^bytes=\d{0,16}-\d{0,16}$/), fc.nat({ max: 1_000 }))
    const isWithin = ([text, size]: [string, number]) => {
      const range = readRange(text, size)
      return !range || (range.first >= 0 && range.first <= range.last && range.last < size)
    }
    expect(() => fc.assert(fc.property(ranges, isWithin))).not.toThrow()
  })
})
