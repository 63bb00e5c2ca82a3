/**
 * What this hub has seen of signed lists, in a file of its data folder, so that neither an expired list nor an older
 * list of keys becomes acceptable again. The hub and its commands write it.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

/** `passed`: a time that has certainly passed, in milliseconds since 1970; `keys`: the number of a list of keys. */
const seenFile = z.object({ rootKey: z.string(), keys: z.int(), passed: z.number() })
export type Seen = z.infer<typeof seenFile>

export type SeenFile = {
  /** Of lists that this root key signed. */
  read(rootKey: string): Seen
  /** Does nothing where the folder cannot be written: then less is known next time. */
  keep(seen: Seen): void
}

export function openSeen(path: string): SeenFile {
  const nothing = (rootKey: string): Seen => ({ rootKey, keys: 0, passed: 0 })
  return {
    read(rootKey) {
      try {
        const seen = seenFile.parse(JSON.parse(readFileSync(path, 'utf8')))
        return seen.rootKey === rootKey ? seen : { ...nothing(rootKey), passed: seen.passed }
      } catch {
        return nothing(rootKey)
      }
    },
    keep(seen) {
      // A name that nobody can have made a trap of.
      const unfinished = `${path}.${randomUUID()}`
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        try {
          writeFileSync(unfinished, JSON.stringify(seen), { mode: 0o600, flush: true, flag: 'wx' })
          renameSync(unfinished, path)
        } finally {
          rmSync(unfinished, { force: true })
        }
      } catch {
        // For a command of another user, for one.
      }
    },
  }
}
