import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tgz } from '../../testing/tensorflow-graph.ts'
import { readArchive } from './archive.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-archive-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function read(bytes: Buffer, wanted: string[]) {
  const path = join(folder, 'archive.tgz')
  await writeFile(path, bytes)
  return readArchive(path, wanted)
}

const A = Buffer.alloc(1_000, 'a')
const WHOLE = [
  { name: 'package/models/', kind: '5' },
  { name: 'package/README.md', body: Buffer.alloc(70_000, 'r') },
  { name: 'package/models/a', body: A },
  { name: 'package/models/b', body: Buffer.from('b') },
]

test('only the wanted files are kept, without the folder at the top', async () => {
  expect([...(await read(tgz(WHOLE), ['models/a', 'models/c']))]).toEqual([['models/a', A]])
  expect([...(await read(tgz([]), ['models/a']))]).toEqual([])
})

test.each([
  ['is cut off', tgz(WHOLE).subarray(0, -30), 'it ends too early'],
  ['is cut off in a file', gzipSync(gunzipSync(tgz(WHOLE)).subarray(0, 72_600)), 'it ends too early'],
  ['is not compressed', gunzipSync(tgz(WHOLE)), 'incorrect header check'],
  ['is empty', Buffer.alloc(0), 'it ends too early'],
  ['holds something else', gzipSync(Buffer.alloc(2_000, 'x')), 'it is damaged'],
  ['has a symbolic link', tgz([{ name: 'package/models/a', kind: '2' }]), 'it has a link or a device in it'],
  ['has a hard link', tgz([{ name: 'package/x', kind: '1' }]), 'it has a link or a device in it'],
  ['has a device', tgz([{ name: 'package/x', kind: '3' }]), 'it has a link or a device in it'],
  ['leads upwards', tgz([{ name: 'package/../../a', body: A }]), 'a name in it leads elsewhere'],
  ['leads upwards on Windows', tgz([{ name: 'package\\..\\a', body: A }]), 'a name in it leads elsewhere'],
  ['leads to the root', tgz([{ name: '/models/a', body: A }]), 'a name in it leads elsewhere'],
  ['has a file twice', tgz([...WHOLE, WHOLE[2]!]), 'it has models/a twice'],
  ['says that it is huge', tgz([{ name: 'package/x', size: 2 ** 31 }]), 'it unpacks to more than 1 GiB'],
  ['has a large model', tgz([{ name: 'package/models/a', size: 2 ** 29 + 1 }]), 'it is larger than any model'],
  ['has very many files', tgz(Array.from({ length: 10_001 }, () => ({ name: 'package/x' }))), 'it has too many files'],
])('an archive is refused that %s', async (_, bytes, message) => {
  await expect(read(bytes, ['models/a'])).rejects.toMatchObject({
    code: 'model_archive_invalid',
    message: expect.stringMatching(new RegExp(`^The archive cannot be used: ${message}\\.$`)),
  })
})
