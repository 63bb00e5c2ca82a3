import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { openRecordingFolder, type RecordingFolderOptions } from './folder.ts'

let path: string
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'hedgerow-recordings-'))
})
afterEach(() => rm(path, { recursive: true, force: true }))

const DAY_MS = 86_400_000
const megabytes = (count: number) => Buffer.alloc(count * 1_000_000, 1)

async function open(options: Partial<RecordingFolderOptions> = {}) {
  const folder = await openRecordingFolder({
    path,
    days: 14,
    megabytes: 10,
    isWrong: () => false,
    clock: Date.now,
    log: pino({ level: 'silent' }),
    freeBytes: async () => 1e12,
    ...options,
  })
  onTestFinished(folder.stop)
  return folder
}

const names = async () => (await readdir(path)).filter((name) => name !== 'making')

async function lay(name: string, bytes: Buffer, daysAgo = 0): Promise<void> {
  await writeFile(join(path, name), bytes)
  const at = new Date(Date.now() - daysAgo * DAY_MS)
  await utimes(join(path, name), at, at)
}

test('the oldest are deleted first when there are too many bytes', async () => {
  for (const age of [3, 1, 2]) await lay(`a${age}.mp4`, megabytes(3), age)
  const folder = await open()
  await folder.write('new.jpg', megabytes(3))
  expect(await names()).toEqual(['a1.mp4', 'a2.mp4', 'new.jpg'])
  expect(folder.pathOf('a3.mp4')).toBeUndefined()
  expect(folder.pathOf('new.jpg')).toBe(join(path, 'new.jpg'))
})

test('recordings of false alarms are deleted before older ones', async () => {
  for (const age of [3, 1, 2]) await lay(`a${age}.mp4`, megabytes(3), age)
  const folder = await open({ isWrong: (id) => id === 'a1' })
  await folder.write('new.jpg', megabytes(3))
  expect(await names()).toEqual(['a2.mp4', 'a3.mp4', 'new.jpg'])
})

test('recordings that are too old are deleted at the start', async () => {
  await lay('old.mp4', megabytes(1), 15)
  await lay('young.mp4', megabytes(1), 13)
  await open()
  expect(await names()).toEqual(['young.mp4'])
})

test('recordings that were incomplete when the device ended are deleted at the start', async () => {
  const half = (await open()).newPart()
  await writeFile(half, megabytes(1))
  await lay('whole.mp4', megabytes(1))
  const folder = await open()
  expect(await names()).toEqual(['whole.mp4'])
  expect(folder.pathOf('whole.mp4')).toBeDefined()
  // A program that outlived the last run finds no place to write to.
  await expect(writeFile(half, megabytes(1))).rejects.toThrow(/ENOENT/)
})

test('one file under several names takes its room once, and stays until the last name is deleted', async () => {
  const folder = await open()
  const part = folder.newPart()
  await writeFile(part, megabytes(6))
  await folder.adopt(part, ['a.mp4', 'b.mp4'])
  expect((await stat(join(path, 'a.mp4'))).ino).toBe((await stat(join(path, 'b.mp4'))).ino)
  await folder.write('small.jpg', megabytes(3))
  expect(await names()).toEqual(['a.mp4', 'b.mp4', 'small.jpg'])
  await folder.write('large.jpg', megabytes(5))
  expect(await names()).toEqual(['large.jpg', 'small.jpg'])
})

test('recordings are deleted when something else fills the disk, and the device reports it', async () => {
  await lay('a.mp4', megabytes(3), 1)
  let free = 1e12
  const folder = await open({ freeBytes: async () => free })
  free = 0
  await folder.write('b.jpg', megabytes(1))
  expect(await names()).toEqual([])
  expect(folder.problems()).toEqual(['The disk has no room for recordings; older ones were deleted.'])
  free = 1e12
  await folder.write('c.jpg', megabytes(1))
  expect(await readFile(join(path, 'c.jpg'))).toHaveLength(1_000_000)
  expect(folder.problems()).toEqual([])
})

test('a folder that cannot be written is a problem in words and leaves nothing behind', async () => {
  const folder = await open()
  await rm(path, { recursive: true })
  await writeFile(path, 'in the way')
  await expect(folder.write('a.jpg', megabytes(1))).rejects.toThrow(/ENOTDIR/)
  expect(folder.problems()[0]).toMatch(/^A recording could not be written: /)
})

test('after the folder vanished, recordings are kept again, and those that are gone are not named', async () => {
  const folder = await open()
  await folder.write('before.jpg', megabytes(8))
  await rm(path, { recursive: true })
  expect(folder.pathOf('before.jpg')).toBeUndefined()
  const part = folder.newPart()
  await writeFile(part, megabytes(1))
  await folder.adopt(part, ['clip.mp4'])
  await folder.write('after.jpg', megabytes(8))
  expect(await names()).toEqual(['after.jpg', 'clip.mp4'])
  expect(folder.pathOf('after.jpg')).toBe(join(path, 'after.jpg'))
  expect(folder.problems()).toEqual([])
  expect((await stat(path)).mode & 0o777).toBe(0o700)
})

test('a clip that was being written when the folder vanished is lost, and the next one is kept', async () => {
  const folder = await open()
  const part = folder.newPart()
  await rm(path, { recursive: true })
  await expect(folder.adopt(part, ['lost.mp4'])).rejects.toThrow(/ENOENT/)
  expect(folder.problems()[0]).toContain('A recording could not be stored')
  await folder.write('next.jpg', megabytes(1))
  expect(await names()).toEqual(['next.jpg'])
  expect(folder.problems()).toEqual([])
})

test('recordings that come back with their disk are known again', async () => {
  const folder = await open()
  await folder.write('a.jpg', megabytes(1))
  await rename(path, `${path}-away`)
  await folder.write('b.jpg', megabytes(1))
  expect(folder.pathOf('a.jpg')).toBeUndefined()
  await rm(path, { recursive: true })
  await rename(`${path}-away`, path)
  await folder.write('c.jpg', megabytes(1))
  expect(await names()).toEqual(['a.jpg', 'c.jpg'])
  expect(folder.pathOf('a.jpg')).toBe(join(path, 'a.jpg'))
})
