/** Reads the archives (`.tgz`) of packages and releases. Nothing is unpacked to the disk. */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { codeOf, inWords } from '../kernel/failure.ts'
import { ModelError } from './model-error.ts'
import { MODEL_MAX_BYTES } from './store.ts'

const BLOCK = 512
const ENTRIES_MAX = 10_000
const UNPACKED_MAX_BYTES = 1024 ** 3
/** Kinds of POSIX's `ustar` format and of GNU's: a file, and what only describes one. */
const FILE = ['0', '\0']
const DESCRIPTION = ['5', 'x', 'g', 'L']

/**
 * The files whose names are wanted, without the folder at their top. Throws ModelError for a damaged archive, for one
 * with links or devices, and for one that unpacks to more than 1 GiB.
 */
export async function readArchive(path: string, wanted: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  const invalid = (what: string) => new ModelError('model_archive_invalid', `The archive cannot be used: ${what}.`)
  try {
    await pipeline(createReadStream(path), createGunzip(), async (parts: AsyncIterable<Buffer>) => {
      const bytes = createReader(parts)
      let heldBytes = 0
      for (let entries = 0; ; entries++) {
        const header = await bytes.take(BLOCK)
        // Two empty blocks end an archive.
        if (!header || header.every((byte) => byte === 0)) break
        const { name, size, kind } = readHeader(header) ?? refuse('it is damaged')
        if (entries === ENTRIES_MAX) refuse('it has too many files')
        if (bytes.taken() + size > UNPACKED_MAX_BYTES) refuse('it unpacks to more than 1 GiB')
        if (!FILE.includes(kind) && !DESCRIPTION.includes(kind)) refuse('it has a link or a device in it')
        if (name.startsWith('/') || name.split(/[/\\]/).includes('..')) refuse('a name in it leads elsewhere')
        const file = name.slice(name.indexOf('/') + 1)
        const padded = Math.ceil(size / BLOCK) * BLOCK
        if (!FILE.includes(kind) || !wanted.includes(file)) await bytes.skip(padded)
        else {
          if (files.has(file)) refuse(`it has ${file} twice`)
          if ((heldBytes += size) > MODEL_MAX_BYTES) refuse('it is larger than any model')
          const body = (await bytes.take(padded)) ?? refuse('it ends too early')
          files.set(file, body.subarray(0, size))
        }
      }
      // The rest tells whether the compressed bytes are whole.
      await bytes.skip(UNPACKED_MAX_BYTES)
    })
  } catch (error) {
    if (error instanceof ModelError) throw error
    if (codeOf(error) === 'Z_BUF_ERROR') throw invalid('it ends too early')
    throw invalid(inWords(error))
  }
  return files

  function refuse(what: string): never {
    throw invalid(what)
  }
}

/** Undefined for a block that is no header: its sum is wrong. */
function readHeader(header: Buffer): { name: string; size: number; kind: string } | undefined {
  const text = (from: number, to: number) => header.toString('utf8', from, to).split('\0', 1)[0]!
  const octal = (from: number, to: number) => Number.parseInt(text(from, to).trim(), 8)
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  const size = octal(124, 136)
  if (octal(148, 156) !== sum || !(size >= 0)) return undefined
  const prefix = text(257, 262) === 'ustar' ? text(345, 500) : ''
  return {
    name: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`,
    size,
    kind: header.toString('latin1', 156, 157),
  }
}

function createReader(parts: AsyncIterable<Buffer>) {
  const next = parts[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  let taken = 0

  /** Calls `use` with the next bytes, part by part; returns whether there were as many. */
  async function read(length: number, use: (part: Buffer) => void): Promise<boolean> {
    for (let missing = length; missing > 0;) {
      if (rest.length === 0) {
        const { value, done } = await next.next()
        if (done) return false
        rest = value
      }
      const part = rest.subarray(0, missing)
      rest = rest.subarray(part.length)
      missing -= part.length
      taken += part.length
      use(part)
    }
    return true
  }

  return {
    taken: () => taken,
    skip: (length: number) => read(length, () => {}),
    /** Undefined when fewer are left. */
    async take(length: number): Promise<Buffer | undefined> {
      const all: Buffer[] = []
      return (await read(length, (part) => all.push(part))) ? Buffer.concat(all) : undefined
    },
  }
}
