import { open, readFile, rm, truncate, type FileHandle } from 'node:fs/promises'
import { syncPath } from '../kernel/durable-file.ts'
import { numberedFiles } from '../kernel/numbered-files.ts'
import { ledgerEntry, type LedgerEntry, type NewLedgerEntry } from './ledger-entry.ts'

/**
 * Every firing and every refusal, on disk: a folder of numbered files with one JSON line for each entry. New entries go
 * to the newest file, each entry is on disk when `append` resolves, and the oldest file is deleted when there are too
 * many.
 */
export type Ledger = {
  /** Entries are numbered in the order of the calls. Rejects with the disk's error. */
  append(entry: NewLedgerEntry): Promise<LedgerEntry>
  /** Newest first; with `before`, only entries with a lower id. */
  newest(options: { before?: number | undefined; limit: number }): Promise<LedgerEntry[]>
  /** Oldest first, starting after the id `after`. */
  after(id: number, limit: number): Promise<LedgerEntry[]>
  close(): Promise<void>
}

const FILE_BYTES_LIMIT = 256 * 1024
const FILES_MAX = 16

export async function openLedger(directory: string): Promise<Ledger> {
  const { pathOf, list } = numberedFiles(directory)
  /** A file's name is the id of its first entry. */
  let firsts = await list()
  let turn: Promise<unknown> = Promise.resolve()
  let newest: { first: number; handle: FileHandle; bytes: number } | undefined
  let lastId = 0

  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = turn.then(action)
    turn = result.catch(() => {})
    return result
  }

  const read = async (first: number) => parseLines(await readFile(pathOf(first), 'utf8'))

  const lastFile = firsts.at(-1)
  if (lastFile !== undefined) {
    const text = await readFile(pathOf(lastFile), 'utf8')
    // A line that a crash cut off would merge with the next one.
    const whole = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1))
    await truncate(pathOf(lastFile), whole)
    lastId = parseLines(text).at(-1)?.id ?? lastFile - 1
    newest = { first: lastFile, handle: await open(pathOf(lastFile), 'a', 0o600), bytes: whole }
  }

  /** Files may vanish and come back. */
  async function look(): Promise<void> {
    firsts = await list()
    // Its handle would take entries for a file without a name.
    if (newest && firsts.at(-1) !== newest.first) await closeNewest()
  }

  async function closeNewest(): Promise<void> {
    const handle = newest?.handle
    newest = undefined
    await handle?.close()
  }

  async function fileFor(id: number): Promise<{ handle: FileHandle; bytes: number }> {
    await look()
    if (newest && newest.bytes < FILE_BYTES_LIMIT) return newest
    await closeNewest()
    const handle = await open(pathOf(id), 'wx', 0o600)
    newest = { first: id, handle, bytes: 0 }
    firsts.push(id)
    while (firsts.length > FILES_MAX) await rm(pathOf(firsts.shift()!), { force: true })
    await syncPath(directory)
    return newest
  }

  async function append(entry: NewLedgerEntry): Promise<LedgerEntry> {
    const numbered = { id: lastId + 1, ...entry }
    const line = Buffer.from(`${JSON.stringify(numbered)}\n`)
    const file = await fileFor(numbered.id)
    try {
      await file.handle.writeFile(line)
      await file.handle.datasync()
    } catch (error) {
      // Removes an incomplete line, so that no complete one follows it.
      await file.handle.truncate(file.bytes).catch(() => {})
      throw error
    }
    file.bytes += line.length
    lastId = numbered.id
    return numbered
  }

  return {
    append: (entry) => inTurn(() => append(entry)),
    newest: ({ before = Infinity, limit }) =>
      inTurn(async () => {
        const found: LedgerEntry[] = []
        await look()
        for (const first of firsts.toReversed()) {
          if (found.length >= limit) break
          if (first >= before) continue
          found.push(...(await read(first)).filter(({ id }) => id < before).toReversed())
        }
        return found.slice(0, limit)
      }),
    after: (after, limit) =>
      inTurn(async () => {
        const found: LedgerEntry[] = []
        await look()
        for (const [index, first] of firsts.entries()) {
          if (found.length >= limit) break
          if ((firsts[index + 1] ?? Infinity) <= after + 1) continue
          found.push(...(await read(first)).filter(({ id }) => id > after))
        }
        return found.slice(0, limit)
      }),
    close: () => inTurn(closeNewest),
  }
}

/** Skips unreadable lines. */
function parseLines(text: string): LedgerEntry[] {
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = ledgerEntry.safeParse(JSON.parse(line))
      return parsed.success ? [parsed.data] : []
    } catch {
      return []
    }
  })
}
