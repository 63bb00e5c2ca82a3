import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { FleetState } from '../test/fleet/fleet.ts'
import { parseSources } from '../test/fleet/plan.ts'
import { filesOfFleet, startFleetInProcesses, type FleetInProcesses } from '../test/fleet/processes.ts'
import { memoryFolder } from './memory-folder.ts'

/**
 * `npm run fleet`: thousands of simulated gateways for a hub, to see how large a machine a fleet needs
 * (docs/operations/sizing.md), and for screenshots and demos.
 */
const HELP = `Usage: npm run fleet -- [options]

  --hub URL             the hub that the fleet joins (http://localhost:8080)
  --gateways N          how many (50)
  --seed N              the same seed makes the same fleet (1)
  --invitation CODE     an invitation of the hub; without one the gateways wait for approval
  --seconds N           ends after so long (until Ctrl-C)
  --detections N        detections a second of the whole fleet (1)
  --pictures SHARE      of them with a picture, 0 to 1 (1)
  --starts N            gateways that start a second (50)
  --flapping SHARE      gateways whose network fails again and again (0.02)
  --roaming SHARE       gateways that move to another address and back (0.02)
  --clock-errors SHARE  gateways whose clock is wrong by up to two days (0.01)
  --clones SHARE        gateways whose keys a second device uses (0)
  --from NETWORK        source addresses: 127.64.0.0/10 for a hub on this machine's loopback, none elsewhere
  --data FOLDER         keeps the keys for the next run (a temporary folder)
  --help                this text
`

const REPORT_EVERY_MS = 10_000
const SETTLE_MS = 30_000
const LOOPBACK_SOURCES = '127.64.0.0/10'

const shareOptions = { flapping: '0.02', roaming: '0.02', 'clock-errors': '0.01', clones: '0', pictures: '1' } as const
const numberOptions = { gateways: '50', seed: '1', detections: '1', starts: '50' } as const

/** A mistake that the person can correct: the message is the whole explanation. */
class UsageError extends Error {}

const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort())

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof Error && 'code' in error)
  console.error(isUsage ? (error as Error).message : error)
  process.exitCode = 1
}

async function main(args: string[]): Promise<number> {
  const string = (fallback: string) => ({ type: 'string', default: fallback }) as const
  const { values } = parseArgs({
    args,
    options: {
      ...(Object.fromEntries(
        Object.entries({ ...shareOptions, ...numberOptions }).map(([name, fallback]) => [name, string(fallback)]),
      ) as Record<keyof typeof shareOptions | keyof typeof numberOptions, ReturnType<typeof string>>),
      hub: { type: 'string', default: 'http://localhost:8080' },
      invitation: { type: 'string' },
      seconds: { type: 'string' },
      from: { type: 'string' },
      data: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const hubUrl = readHub(values.hub)
  const share = (name: keyof typeof shareOptions) => readNumber(name, values[name], { least: 0, most: 1 })
  const gateways = readNumber('gateways', values.gateways, { least: 1, most: 100_000 })
  const sources = values.from ?? (isLoopback(hubUrl) ? LOOPBACK_SOURCES : undefined)
  await requireFiles(filesOfFleet(gateways))
  const dataDir = values.data ?? (await mkdtemp(join(memoryFolder() ?? tmpdir(), 'fleet-')))
  const fleet = await startFleetInProcesses({
    hubUrl,
    dataDir,
    gateways,
    seed: readNumber('seed', values.seed, { least: 0, most: 1e9 }),
    sources: sources === undefined ? undefined : parseSources(sources),
    invitationCode: values.invitation,
    startsPerSecond: readNumber('starts', values.starts, { least: 0.01, most: 1e6 }),
    detectionsPerSecond: readNumber('detections', values.detections, { least: 0, most: 1e5 }),
    picturesShare: share('pictures'),
    shares: {
      flapping: share('flapping'),
      roaming: share('roaming'),
      clockErrors: share('clock-errors'),
      clones: share('clones'),
    },
  })
  const endAfterMs =
    values.seconds === undefined ? Infinity : readNumber('seconds', values.seconds, { least: 1, most: 1e7 }) * 1_000
  try {
    return await watch(fleet, endAfterMs)
  } finally {
    await fleet.stop()
    if (values.data === undefined) await rm(dataDir, { recursive: true, force: true })
  }
}

/** Prints what happens until the time is over or a person ends it, then the numbers. Returns the exit code. */
async function watch(fleet: FleetInProcesses, endAfterMs: number): Promise<number> {
  const startedAt = performance.now()
  const shown = new Set<string>()
  const elapsedMs = () => performance.now() - startedAt
  const failed = fleet.allStarted.then(() => new Promise<never>(() => {}))
  while (!ending.signal.aborted && elapsedMs() < endAfterMs) {
    const pause = sleep(Math.min(REPORT_EVERY_MS, endAfterMs - elapsedMs()), undefined, { signal: ending.signal })
    await Promise.race([pause.catch(() => {}), failed])
    console.log(lineOf(elapsedMs(), await fleet.state()))
    for (const { sentence, gateways } of (await fleet.problems()).slice(0, 5)) {
      if (shown.has(sentence)) continue
      shown.add(sentence)
      console.log(`       ${gateways === 1 ? '1 gateway' : `${gateways} gateways`}: ${sentence}`)
    }
  }
  const isSettled = await fleet.settle(SETTLE_MS)
  const state = await fleet.state()
  const { megabytes, processorSeconds } = await fleet.used()
  console.log(`\nAfter ${Math.round(elapsedMs() / 1_000)} s:`)
  console.table({ ...state, 'memory of the fleet, MB': Math.round(megabytes) })
  console.log(`The fleet used ${processorSeconds.toFixed(1)} s of processor time.`)
  if (!isSettled) console.log('Not every detection reached the hub.')
  return isSettled && state.enrolled > 0 ? 0 : 1
}

function lineOf(elapsedMs: number, state: FleetState): string {
  const seconds = Math.round(elapsedMs / 1_000)
  const time = `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`
  const parts = [
    `${state.started} started`,
    `${state.enrolled} enrolled`,
    `${state.waiting} waiting`,
    `${state.refused} refused`,
    `${state.inTunnel} in their tunnels`,
    `${state.heartbeats} heartbeats`,
    `${state.detectionsAcknowledged} of ${state.detectionsSent} detections acknowledged`,
    `${state.reconnects} reconnects`,
  ]
  return `${time}  ${parts.join(', ')}`
}

function readHub(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`"${text}" is no address of a hub: write it as http://hub.example.net:8080`)
  // Simulated gateways speak IPv4 only, and the hub tells them to use the name from their request.
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1'
  return url
}

function isLoopback({ hostname }: URL): boolean {
  return process.platform === 'linux' && hostname.startsWith('127.')
}

function readNumber(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = text.trim() === '' ? NaN : Number(text)
  if (value >= least && value <= most) return value
  throw new UsageError(`--${name} takes a number from ${least} to ${most}, not "${text}".`)
}

/** Checks the limit on Linux; elsewhere the first failure reveals it. */
async function requireFiles(count: number): Promise<void> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity)
  if (limit >= count) return
  throw new UsageError(
    `This process may open ${limit} files, and the fleet needs ${count}: run "ulimit -n ${count}" first.`,
  )
}
