import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { readJsonFile, writeDurably } from './durable-file.ts'

/**
 * The password of the device's own interface, for people in its network. The data directory holds only its hash, so the
 * password is shown once, and replaced when it is lost.
 */
export type DevicePassword = {
  /** Made at this start; undefined when there was one before. */
  made: string | undefined
  /** Forgets the password that was made at this start, because nobody has seen it; the next start makes another. */
  forgetMade(): Promise<void>
  /** Whether a typed password is right. Checks run one at a time, because each takes 32 MB for a moment. */
  verify(typed: string): Promise<boolean>
  /** A mark that differs for each password and is no secret: sessions that began with an older password have ended. */
  mark(): Promise<string>
}

/** scrypt (RFC 7914) with 32 MB. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const HASH_BYTES = 32
const FILE = 'password.json'
/** Leaves out characters that people mistake for each other. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 4
const TYPED_MAX = 200

const passwordFile = z.strictObject({ salt: z.base64(), hash: z.base64() })
const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** Makes one at the first start. Throws DataFileError for a damaged file. */
export async function openPassword(dataDir: string): Promise<DevicePassword> {
  const path = join(dataDir, FILE)
  const made = (await readJsonFile(path, passwordFile)) ? undefined : await replacePassword(dataDir)
  let turn: Promise<unknown> = Promise.resolve()

  async function compare(typed: string): Promise<boolean> {
    // Read at each call, because a command may have replaced it.
    const stored = await readJsonFile(path, passwordFile)
    if (!stored || typed.length > TYPED_MAX) return false
    const hash = await derive(plain(typed), Buffer.from(stored.salt, 'base64'), HASH_BYTES, COST)
    return timingSafeEqual(hash, Buffer.from(stored.hash, 'base64'))
  }

  return {
    made,
    async forgetMade() {
      if (made !== undefined) await rm(path, { force: true })
    },
    verify(typed) {
      const result = turn.then(() => compare(typed))
      turn = result.catch(() => {})
      return result
    },
    // The mark is made of random bytes, so it reveals nothing about the password.
    mark: async () => (await readJsonFile(path, passwordFile))?.salt ?? '',
  }
}

/** Returns the new password; it cannot be read later. */
export async function replacePassword(dataDir: string): Promise<string> {
  const password = Array.from({ length: GROUPS }, () => draw(GROUP_LENGTH)).join('-')
  const salt = randomBytes(16)
  const hash = await derive(plain(password), salt, HASH_BYTES, COST)
  const content = { salt: salt.toString('base64'), hash: hash.toString('base64') }
  await writeDurably(join(dataDir, FILE), `${JSON.stringify(content)}\n`)
  return password
}

/** Ignores capitals, spaces and hyphens in a typed password. */
function plain(password: string): string {
  return password.toLowerCase().replaceAll(/[\s-]/g, '')
}

/** All characters are equally likely: bytes beyond the last whole alphabet are drawn again. */
function draw(length: number): string {
  let text = ''
  while (text.length < length) {
    const [byte = 255] = randomBytes(1)
    if (byte < 256 - (256 % ALPHABET.length)) text += ALPHABET[byte % ALPHABET.length]
  }
  return text
}
