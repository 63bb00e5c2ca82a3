import { availableParallelism } from 'node:os'

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

/** A distribution and, where a goal was set, which of its figures may be at most `goal`. */
export type Measured = Distribution & { of?: 'p50' | 'p95' | 'p99' | 'max'; goal?: number }

/** As `report`, with a column that says which goals were met. */
export function reportGoals(name: string, rows: Record<string, Measured>): void {
  const judged = Object.entries(rows).map(([what, { of, goal, ...figures }]) => {
    if (of === undefined || goal === undefined) return [what, figures]
    return [what, { ...figures, goal: `${of} ${goal}`, '': figures[of] <= goal ? 'met' : 'missed' }]
  })
  console.table(Object.fromEntries(judged))
  printLine(name, rows)
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
