import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { hubStats, listGateways } from '@hedgerow/contract'
import { openProxyPair, UPLOAD_BYTES, type ProxyPair, type Route } from './proxy-pair.ts'
import { processorSecondsOf } from './processor.ts'
import { median, report, rounded } from './report.ts'

type Row = Record<string, number | string>
type Measurement = { goal?: number; isDifference?: boolean; measure(way: Route, seconds: number): Promise<number> }

const STREAMS = 1_000
/** By then V8 has freed what was left by the starts of the streams. */
const REST_MS = 3_000
const API_EVERY_MS = 20

const bulk = (connections: number, isUpload: boolean): Measurement => ({
  goal: 1.7,
  async measure(way, seconds) {
    const upload = { method: 'PUT', path: '/upload/file', bodyBytes: UPLOAD_BYTES } as const
    const result = await way.wrk({ ...(isUpload ? upload : { path: '/large' }), connections, seconds })
    if (result.errors > 0) throw new Error(`${result.errors} transfers failed`)
    const bytes = isUpload ? result.requests * UPLOAD_BYTES : result.bytes
    return (bytes * 8e-6) / result.seconds
  },
})

const requests = (connections: number, goal?: number): Measurement => ({
  ...(goal !== undefined && { goal }),
  async measure(way, seconds) {
    const result = await way.wrk({ path: '/page', connections, seconds })
    if (result.errors > 0) throw new Error(`${result.errors} requests failed`)
    return result.requests / result.seconds
  },
})

const MEASUREMENTS: Record<string, Measurement> = {
  'download, 1 stream (Mbit/s)': bulk(1, false),
  'download, 16 streams (Mbit/s)': bulk(16, false),
  'upload, 1 stream (Mbit/s)': bulk(1, true),
  'upload, 16 streams (Mbit/s)': bulk(16, true),
  'requests, 1 connection (1/s)': requests(1),
  'requests, 16 connections (1/s)': requests(16, 1.2),
  'requests, 128 connections (1/s)': requests(128, 1.2),
  'requests, 512 connections (1/s)': requests(512),
  'WebSocket messages, 16 connections (1/s)': {
    measure: async (way, seconds) => (await ask<{ rate: number }>(way, { what: 'messages', count: 16, seconds })).rate,
  },
  'first byte, kept connection (ms)': {
    goal: 0.5,
    isDifference: true,
    measure: async (way, seconds) => (await way.wrk({ path: '/page', connections: 1, seconds })).medianMs,
  },
  'first byte, new connection (ms)': {
    goal: 0.5,
    isDifference: true,
    measure: async (way) =>
      (await ask<{ medianMs: number }>(way, { what: 'first byte', count: 300, seconds: 0 })).medianMs,
  },
}

/**
 * A page behind a gateway: real nginx over wireguard-go at the far end, through a hub and, in turns, through nginx over
 * wireguard-go. `--rounds` is how often the two alternate (the medians count), `--seconds` is the time of each,
 * `--only` picks rows by a part of their name, `--flags` are given to the hub's Node (`--flags=--cpu-prof`).
 */
export async function benchProxy(args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: { rounds: text('3'), seconds: text('2'), only: text(''), flags: text('') },
  })
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
  const isWanted = (name: string) => name.includes(values.only)
  const pair = await openProxyPair(values.flags.split(' ').filter(Boolean))
  try {
    const rows: Record<string, Row> = {}
    await warmUp(pair)
    for (const [name, measurement] of Object.entries(MEASUREMENTS))
      if (isWanted(name)) rows[name] = await compare(pair, measurement, { rounds, seconds })
    for (const [name, besides] of Object.entries(BESIDES))
      if (isWanted(name)) rows[name] = await apiBeside(pair, besides, seconds * rounds)
    if (isWanted('event streams')) rows[`${STREAMS} event streams`] = await openStreams(pair)
    report('proxy', rows)
  } finally {
    await pair.remove()
  }
}

/** The load of the hub while the portal's API is called. */
const BESIDES: Record<string, { path: string; connections: number }> = {
  'API p99 beside 128 connections (ms)': { path: '/page', connections: 128 },
  'API p99 beside 16 downloads (ms)': { path: '/large', connections: 16 },
}
const API_GOAL_MS = 50
const STREAM_GOAL_KB = 40

/** Lets V8 compile what runs often. */
async function warmUp({ throughHub, throughNginx }: ProxyPair): Promise<void> {
  for (const way of [throughHub, throughNginx]) await way.wrk({ path: '/page', connections: 16, seconds: 3 })
}

async function compare(
  { throughHub, throughNginx, hub }: ProxyPair,
  { goal, isDifference = false, measure }: Measurement,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Row> {
  const [theirs, ours, used]: number[][] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    theirs!.push(await measure(throughNginx, seconds))
    const [before, startedAt] = [processorSecondsOf(hub.process().pid), performance.now()]
    ours!.push(await measure(throughHub, seconds))
    used!.push((processorSecondsOf(hub.process().pid) - before) / ((performance.now() - startedAt) / 1_000))
  }
  const [nginx, own] = [median(theirs!), median(ours!)]
  const compared = isDifference ? own - nginx : own / nginx
  return {
    nginx: rounded(nginx),
    hub: rounded(own),
    [isDifference ? 'difference' : 'ratio']: rounded(compared),
    ...(goal !== undefined && { goal, met: (isDifference ? compared <= goal : compared >= goal) ? 'yes' : 'no' }),
    ...(isDifference ? {} : { 'our processor time (us each)': rounded((median(used!) * 1e6) / own) }),
  }
}

async function apiBeside({ hub, throughHub }: ProxyPair, load: { path: string; connections: number }, seconds: number) {
  const took: number[] = []
  const loading = throughHub.wrk({ ...load, seconds })
  const endsAt = performance.now() + seconds * 1_000
  for (let i = 0; performance.now() < endsAt; i++) {
    const askedAt = performance.now()
    await hub.api(i % 2 === 0 ? listGateways : hubStats)
    took.push(performance.now() - askedAt)
    await sleep(API_EVERY_MS)
  }
  await loading
  const p99 = took.toSorted((a, b) => a - b)[Math.ceil(0.99 * took.length) - 1]!
  return { hub: rounded(p99), goal: API_GOAL_MS, met: p99 <= API_GOAL_MS ? 'yes' : 'no' }
}

async function openStreams({ hub, throughHub }: ProxyPair): Promise<Row> {
  const before = residentKilobytes(hub.process().pid)
  const load = await throughHub.load({ what: 'streams', count: STREAMS, seconds: 0 })
  const [, said] = await load.says(/^result (.*)$/m)
  const { open } = JSON.parse(said!) as { open: number }
  await sleep(REST_MS)
  const each = (residentKilobytes(hub.process().pid) - before) / open
  await load.stop()
  return {
    open,
    hub: rounded(each),
    goal: STREAM_GOAL_KB,
    met: open === STREAMS && each <= STREAM_GOAL_KB ? 'yes' : 'no',
  }
}

async function ask<Result>(way: Route, task: Parameters<Route['load']>[0]): Promise<Result> {
  const load = await way.load(task)
  const [, said] = await load.says(/^result (.*)$/m)
  return JSON.parse(said!) as Result
}

function residentKilobytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}
