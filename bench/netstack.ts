import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseArgs } from 'node:util'
import { Stack, type Connection } from '@hedgerow/netstack'
import { report } from './report.ts'
import { compare } from './tunnel.ts'
import type { Impairment } from './tunnel-relay.ts'

const CLEAN: Impairment = { delayMs: 0, loss: 0, reordering: 0, duplication: 0 }
const PATHS: Record<string, Impairment> = {
  '20 ms, 0.1 % loss': { ...CLEAN, delayMs: 10, loss: 0.001 },
  '100 ms, 1 % loss': { ...CLEAN, delayMs: 50, loss: 0.01 },
  '10 ms, 25 % reordered': { ...CLEAN, delayMs: 5, reordering: 0.25, duplication: 0.01 },
}

const CONNECTIONS = 1_000
const IDLE_GOAL_BYTES = 4_096
const IMPAIRED_GOALS = { download: 0.9, upload: 0.9, requests: 0.9 }

/**
 * TCP alone: the memory of an idle connection, the rate of a stream between two stacks in one thread, and both TCPs
 * over paths that delay, lose, reorder and duplicate, in the same tunnels. `--rounds`, `--seconds` and `--only` as for
 * the bench of the tunnel; `--path` picks paths by a part of their name, and `--path none` leaves Linux out.
 */
export async function benchNetstack(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '8' },
      only: { type: 'string', default: '' },
      path: { type: 'string', default: '' },
    },
  })
  const idleBytes = idleConnectionBytes()
  const rows: Record<string, Record<string, number | string>> = {
    'idle connection (bytes)': {
      ours: idleBytes,
      goal: IDLE_GOAL_BYTES,
      met: idleBytes <= IDLE_GOAL_BYTES ? 'yes' : 'no',
    },
    'two stacks, one thread (Mbit/s)': { ours: Math.round(exchangeMbitPerSecond(500 << 20)) },
  }
  const options = { rounds: Number(values.rounds), seconds: Number(values.seconds), only: values.only }
  for (const [path, impairment] of Object.entries(PATHS)) {
    if (!path.includes(values.path)) continue
    for (const [name, row] of Object.entries(await compare(options, IMPAIRED_GOALS, impairment)))
      rows[`${path}: ${name}`] = row
  }
  report('netstack', rows)
}

const [OURS, THEIRS] = [0x0a4f0001, 0x0a4f0002]

const createCore = (address: number): Stack =>
  new Stack({
    address,
    mtu: 1420,
    keyedHash: (bytes) => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261),
  })

/** Runs both until neither has anything to send at `now`; returns the accepted connections. */
function exchange(a: Stack, b: Stack, now: number): Connection[] {
  const accepted: Connection[] = []
  for (let isBusy = true; isBusy;) {
    isBusy = false
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      for (const output of from.tick(now)) {
        if (output.type !== 'packet') continue
        isBusy = true
        for (const event of to.receive(output.packet, now))
          if (event.type === 'accepted') accepted.push(event.connection)
      }
    }
  }
  return accepted
}

/** The memory of one side after a request and its answer: the cost of a fleet's keep-alive connections. */
function idleConnectionBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const usedBytes = (): number => {
    // V8 frees buffers on another thread after a collection; the next collection waits for that.
    for (let i = 0; i < 3; i++) collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const [a, b] = [createCore(OURS), createCore(THEIRS)]
  b.listen(80, CONNECTIONS)
  const message = new Uint8Array(1_000)
  const before = usedBytes()
  const ends: Connection[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection = a.connect(THEIRS, 80, i)!
    const [peer] = exchange(a, b, i)
    for (const end of [connection, peer!]) {
      end.send(message)
      exchange(a, b, i)
    }
    for (const end of [connection, peer!]) end.read(65_536)
    exchange(a, b, i + 100)
    ends.push(connection, peer!)
  }
  const bytes = (usedBytes() - before) / ends.length
  return Math.round(bytes)
}

function exchangeMbitPerSecond(bytes: number): number {
  const [a, b] = [createCore(OURS), createCore(THEIRS)]
  b.listen(80)
  const connection = a.connect(THEIRS, 80, 0)!
  const [peer] = exchange(a, b, 0)
  const block = new Uint8Array(65_536)
  const startedAt = performance.now()
  let received = 0
  while (received < bytes) {
    connection.send(block)
    exchange(a, b, performance.now() - startedAt)
    for (let chunks = peer!.read(65_536); chunks.length > 0; chunks = peer!.read(65_536))
      for (const chunk of chunks) received += chunk.length
  }
  return (received * 8e-3) / (performance.now() - startedAt)
}
