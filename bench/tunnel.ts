import { parseArgs } from 'node:util'
import { median, report, rounded } from './report.ts'
import type { ClientResult, Measurement } from './tunnel-client.ts'
import { openTunnelPair } from './tunnel-pair.ts'

type Compared = Measurement['what']

/** The least ratio of our rate to that of Linux. */
const GOALS: Record<Compared, number> = { download: 1.8, upload: 1.2, requests: 1 }

const measurements = (seconds: number): Record<string, Measurement> => ({
  'download, 1 stream (Mbit/s)': { what: 'download', streams: 1, seconds },
  'download, 16 streams (Mbit/s)': { what: 'download', streams: 16, seconds },
  'upload, 1 stream (Mbit/s)': { what: 'upload', streams: 1, seconds },
  'upload, 16 streams (Mbit/s)': { what: 'upload', streams: 16, seconds },
  'requests, 16 connections (1/s)': { what: 'requests', streams: 16, seconds },
})

/**
 * Our WireGuard and TCP against those of Linux with wireguard-go, over a path that loses nothing. `--rounds` alternates
 * the two that often and takes medians, `--seconds` each, `--only` picks rows by a part of their name.
 */
export async function benchTunnel(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '4' },
      only: { type: 'string', default: '' },
    },
  })
  report('tunnel', await compare({ rounds: Number(values.rounds), seconds: Number(values.seconds), only: values.only }))
}

/**
 * One row for each measurement: both rates, their ratio and its goal, our longest time without progress, and the
 * processor time of a megabit or a request for our process. Other work on the machine changes that less than the rates.
 */
async function compare(options: {
  rounds: number
  seconds: number
  only: string
}): Promise<Record<string, Record<string, number | string>>> {
  const pair = await openTunnelPair()
  try {
    const rows: Record<string, Record<string, number | string>> = {}
    for (const [name, measurement] of Object.entries(measurements(options.seconds))) {
      if (!name.includes(options.only)) continue
      const linux: ClientResult[] = []
      const ours: ClientResult[] = []
      for (let round = 0; round < options.rounds; round++) {
        linux.push(await pair.linux(measurement))
        ours.push(await pair.ours(measurement))
      }
      const [theirRate, ourRate] = [median(linux.map(({ rate }) => rate)), median(ours.map(({ rate }) => rate))]
      rows[name] = {
        linux: rounded(theirRate),
        ours: rounded(ourRate),
        ratio: rounded(ourRate / theirRate),
        goal: GOALS[measurement.what],
        met: ourRate / theirRate >= GOALS[measurement.what] ? 'yes' : 'no',
        'our processor time (us each)': rounded(median(ours.map(({ cpuMicroseconds }) => cpuMicroseconds))),
        'longest pause (ms)': Math.max(...ours.map(({ longestPauseMs }) => longestPauseMs)),
        'longest pause of linux (ms)': Math.max(...linux.map(({ longestPauseMs }) => longestPauseMs)),
      }
    }
    return rows
  } finally {
    await pair.remove()
  }
}
