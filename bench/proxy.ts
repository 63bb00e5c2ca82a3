import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { hubStats, listGateways } from '@hedgerow/contract'
import { openProxyPair, UPLOAD_BYTES, type ProxyPair, type Route } from './proxy-pair.ts'
import { processorSecondsOfAll } from './processor.ts'
import { median, report, reportGoals, rounded } from './report.ts'

type Row = Record<string, number | string>
type Measurement = { isDifference?: boolean; measure(route: Route, seconds: number): Promise<number> }

const STREAMS = 1_000
/** By then V8 has freed what was left by the starts of the streams. */
const REST_MS = 3_000
const API_EVERY_MS = 20

const bulk = (connections: number, isUpload: boolean): Measurement => ({
  async measure(route, seconds) {
    const upload = { method: 'PUT', path: '/upload/file', bodyBytes: UPLOAD_BYTES } as const
    const result = await route.wrk({ ...(isUpload ? upload : { path: '/large' }), connections, seconds })
    if (result.errors > 0) throw new Error(`${result.errors} transfers failed`)
    const bytes = isUpload ? result.requests * UPLOAD_BYTES : result.bytes
    return (bytes * 8e-6) / result.seconds
  },
})

const requests = (connections: number): Measurement => ({
  async measure(route, seconds) {
    const result = await route.wrk({ path: '/page', connections, seconds })
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
  'requests, 16 connections (1/s)': requests(16),
  'requests, 128 connections (1/s)': requests(128),
  'requests, 512 connections (1/s)': requests(512),
  'WebSocket messages, 16 connections (1/s)': {
    measure: async (route, seconds) =>
      (await runTask<{ rate: number }>(route, { what: 'messages', count: 16, seconds })).rate,
  },
  'first byte, kept connection (ms)': {
    isDifference: true,
    measure: async (route, seconds) => (await route.wrk({ path: '/page', connections: 1, seconds })).medianMs,
  },
  'first byte, new connection (ms)': {
    isDifference: true,
    measure: async (route) =>
      (await runTask<{ medianMs: number }>(route, { what: 'first byte', count: 300, seconds: 0 })).medianMs,
  },
}

/**
 * A page behind a gateway: real nginx over wireguard-go at the far end, through a hub and, in turns, through nginx and
 * Caddy over wireguard-go. `--rounds` is how often they alternate (the medians count), `--seconds` is the time of each,
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
    const figures: Record<string, number | undefined> = {}
    await warmUp(pair)
    for (const [name, measurement] of Object.entries(MEASUREMENTS))
      if (isWanted(name)) {
        const compared = await compare(pair, measurement, { rounds, seconds })
        rows[name] = compared
        const what = name.replace(/ \(.*/, '')
        figures[what] = compared['ratio']
        figures[`${what}: to Caddy`] = compared['ratio to Caddy']
        figures[`${what}: processor time`] = compared['ratio of processor time']
        figures[`${what}: ms more`] = compared['difference']
      }
    for (const [name, besides] of Object.entries(BESIDES))
      if (isWanted(name)) rows[name] = await apiBeside(pair, besides, seconds * rounds)
    if (isWanted('event streams')) rows[`${STREAMS} event streams`] = await openStreams(pair)
    report('proxy', rows)
    reportGoals('proxy', figures)
  } finally {
    await pair.remove()
  }
}

/** The load of the hub while the portal's API is called. */
const BESIDES: Record<string, { path: string; connections: number }> = {
  'API p99 beside 128 connections (ms)': { path: '/page', connections: 128 },
  'API p99 beside 16 downloads (ms)': { path: '/large', connections: 16 },
}

/** Lets V8 compile what runs often. */
async function warmUp({ throughHub, throughNginx, throughCaddy }: ProxyPair): Promise<void> {
  for (const route of [throughHub, throughNginx, throughCaddy])
    await route?.wrk({ path: '/page', connections: 16, seconds: 3 })
}

async function compare(
  { throughHub, throughNginx, throughCaddy }: ProxyPair,
  { isDifference = false, measure }: Measurement,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Record<string, number>> {
  const routes = [throughNginx, throughHub, ...(throughCaddy ? [throughCaddy] : [])]
  const measured = routes.map(() => ({ rates: [] as number[], processorUs: [] as number[] }))
  for (let round = 0; round < rounds; round++)
    for (const [index, route] of routes.entries()) {
      const [before, startedAt] = [processorSecondsOfAll(route.pids), performance.now()]
      const rate = await measure(route, seconds)
      const share = (processorSecondsOfAll(route.pids) - before) / ((performance.now() - startedAt) / 1_000)
      measured[index]!.rates.push(rate)
      measured[index]!.processorUs.push((share * 1e6) / rate)
    }
  const [[nginx, nginxUs], [hub, hubUs], [caddy] = []] = measured.map(
    ({ rates, processorUs }) => [median(rates), median(processorUs)] as const,
  ) as [readonly [number, number], readonly [number, number], (readonly [number, number])?]
  const row = { nginx, hub, ...(caddy !== undefined && { caddy }) }
  const ratios = {
    ratio: hub / nginx,
    ...(caddy !== undefined && { 'ratio to Caddy': hub / caddy }),
    'our processor time (us each)': hubUs,
    "nginx's and wireguard-go's (us each)": nginxUs,
    'ratio of processor time': hubUs / nginxUs,
  }
  const all = { ...row, ...(isDifference ? { difference: hub - nginx } : ratios) }
  return Object.fromEntries(Object.entries(all).map(([figure, value]) => [figure, rounded(value)]))
}

async function apiBeside({ hub, throughHub }: ProxyPair, load: { path: string; connections: number }, seconds: number) {
  const took: number[] = []
  const loading = throughHub.wrk({ ...load, seconds })
  const endsAt = performance.now() + seconds * 1_000
  for (let i = 0; performance.now() < endsAt; i++) {
    const startedAt = performance.now()
    await hub.api(i % 2 === 0 ? listGateways : hubStats)
    took.push(performance.now() - startedAt)
    await sleep(API_EVERY_MS)
  }
  await loading
  const p99 = took.toSorted((a, b) => a - b)[Math.ceil(0.99 * took.length) - 1]!
  return { hub: rounded(p99) }
}

async function openStreams({ hub, throughHub }: ProxyPair): Promise<Row> {
  const before = residentKilobytes(hub.process().pid)
  const load = await throughHub.load({ what: 'streams', count: STREAMS, seconds: 0 })
  const [, line] = await load.says(/^result (.*)$/m)
  const { open } = JSON.parse(line!) as { open: number }
  await sleep(REST_MS)
  const each = (residentKilobytes(hub.process().pid) - before) / open
  await load.stop()
  return { open, hub: rounded(each) }
}

async function runTask<Result>(route: Route, task: Parameters<Route['load']>[0]): Promise<Result> {
  const load = await route.load(task)
  const [, line] = await load.says(/^result (.*)$/m)
  return JSON.parse(line!) as Result
}

function residentKilobytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}
