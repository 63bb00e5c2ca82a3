import { parseArgs } from 'node:util'
import { median, report, reportGoals, rounded } from './report.ts'
import type { ClientResult, Measurement } from './tunnel-client.ts'
import { openTunnelPair } from './tunnel-pair.ts'

type Rows = Record<string, Record<string, number | string>>

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
  const options = { rounds: Number(values.rounds), seconds: Number(values.seconds), only: values.only }
  const { rows, figures } = await compare(options)
  report('tunnel', rows)
  reportGoals('tunnel', figures)
}

/**
 * One row for each measurement: both rates and their ratio, the longest times without progress, and the processor time
 * of a megabit or a request at the near end: of our process, and of the client and wireguard-go. Other work on the
 * machine changes that less than the rates.
 */
async function compare(options: {
  rounds: number
  seconds: number
  only: string
}): Promise<{ rows: Rows; figures: Record<string, number> }> {
  const pair = await openTunnelPair()
  try {
    const rows: Rows = {}
    const figures: Record<string, number> = {}
    for (const [name, measurement] of Object.entries(measurements(options.seconds))) {
      if (!name.includes(options.only)) continue
      const linux: ClientResult[] = []
      const ours: ClientResult[] = []
      for (let round = 0; round < options.rounds; round++) {
        linux.push(await pair.linux(measurement))
        ours.push(await pair.ours(measurement))
      }
      const [theirRate, ourRate] = [linux, ours].map((all) => median(all.map(({ rate }) => rate))) as [number, number]
      const [theirTime, ourTime] = [linux, ours].map((all) =>
        median(all.map(({ cpuMicroseconds }) => cpuMicroseconds)),
      ) as [number, number]
      const what = name.replace(/ \(.*/, '')
      figures[what] = ourRate / theirRate
      figures[`${what}: processor time`] = ourTime / theirTime
      rows[name] = {
        linux: rounded(theirRate),
        ours: rounded(ourRate),
        ratio: rounded(ourRate / theirRate),
        'our processor time (us each)': rounded(ourTime),
        'theirs (us each)': rounded(theirTime),
        'longest pause (ms)': Math.max(...ours.map(({ longestPauseMs }) => longestPauseMs)),
        'longest pause of linux (ms)': Math.max(...linux.map(({ longestPauseMs }) => longestPauseMs)),
      }
    }
    return { rows, figures }
  } finally {
    await pair.remove()
  }
}
