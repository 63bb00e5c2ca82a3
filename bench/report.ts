import { availableParallelism } from 'node:os'
import { GOALS, type Goal } from './goals.ts'

export type Distribution = { count: number; p50: number; p95: number; p99: number; max: number }

/** Nearest-rank percentiles of `values`, which are not empty, rounded to a tenth. */
export function distributionOf(values: readonly number[]): Distribution {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]! * 10) / 10
  return { count: sorted.length, p50: rank(0.5), p95: rank(0.95), p99: rank(0.99), max: rank(1) }
}

/** A table with a row for each step, then the same as one JSON line with what it was measured on. */
export function report(name: string, rows: Record<string, Record<string, number | string>>): void {
  console.table(rows)
  printLine(name, rows)
}

/** The figures of a run beside the bench's goals, those it did not measure too; and the same as one JSON line. */
export function reportGoals(bench: keyof typeof GOALS, figures: Record<string, number | undefined>): void {
  const rows = Object.entries<Goal>(GOALS[bench]).map(([what, goal]) => {
    const figure = figures[what]
    const [least, most] = 'least' in goal ? [goal.least, Infinity] : [-Infinity, goal.most]
    const isMet = figure !== undefined && figure >= least && figure <= most
    return [
      what,
      {
        result: figure === undefined ? '' : rounded(figure),
        goal: 'least' in goal ? `at least ${least}` : `at most ${most}`,
        '': figure === undefined ? 'not measured' : isMet ? 'met' : 'missed',
      },
    ] as const
  })
  report(`${bench}, goals`, Object.fromEntries(rows))
}

function printLine(name: string, results: object): void {
  const machine = { node: process.version, platform: process.platform, cpus: availableParallelism() }
  console.log(JSON.stringify({ bench: name, ...machine, results }))
}

/** The lower one of the two in the middle of an even number. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!

/** To three significant figures. */
export const rounded = (value: number): number => Number(value.toPrecision(3))
