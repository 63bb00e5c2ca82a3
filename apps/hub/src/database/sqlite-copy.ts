import { existsSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { bytesInWords, type Progress } from '@hedgerow/http'
import { ConfigError } from '../config.ts'

const BUSY_TIMEOUT_MS = 5_000
/** One statement, which may take minutes: in a thread, so that progress is shown meanwhile. */
const STATEMENT = `
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const { path, statement, parameters, readOnly } = workerData
  try {
    const database = new DatabaseSync(path, { timeout: ${BUSY_TIMEOUT_MS}, readOnly })
    try {
      parentPort.postMessage({ rows: database.prepare(statement).all(...parameters) })
    } finally {
      database.close()
    }
  } catch ({ message, code, errcode }) {
    parentPort.postMessage({ failure: { message, code, errcode } })
  }`

type Row = Record<string, unknown>

/** Rejects with SQLite's error. */
export async function runInThread(
  path: string,
  statement: string,
  { parameters = [], readOnly = false }: { parameters?: string[]; readOnly?: boolean } = {},
): Promise<Row[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
  const worker = new Worker(STATEMENT, { eval: true, workerData: { path, statement, parameters, readOnly } })
  worker.once('error', reject)
  worker.once('message', ({ rows, failure }: { rows?: Row[]; failure?: Error }) =>
    rows ? resolve(rows) : reject(Object.assign(new Error(failure?.message), failure)),
  )
  worker.once('exit', (code) => reject(new Error(`the thread of a statement ended with ${code}`)))
  return promise
}

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** A consistent copy, also while others write. `to` is empty or does not exist. */
export async function copySqlite(from: string, to: string, progress: Progress): Promise<void> {
  if (!existsSync(from)) throw new ConfigError([`There is no database at ${from} (HUB_DATA_DIR, HUB_DATABASE_URL).`])
  const work = runInThread(from, 'vacuum into ?', { parameters: [to] })
  await progress.during('Copying the database', () => bytesInWords(sizeOf(to), sizeOf(from)), work)
}
