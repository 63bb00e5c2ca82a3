import type { GatewayHour } from '@hedgerow/contract'
import { formatBytes } from './amounts.ts'

export const percent = (fraction: number): string => `${Math.round(fraction * 100)} %`

/** A summary of the load and memory chart; undefined without heartbeats. */
export function describeLoad(hours: readonly GatewayHour[]): string | undefined {
  const load = highest(hours.map((hour) => hour.load?.max))
  const memory = highest(hours.map((hour) => hour.memory?.max))
  if (load === undefined || memory === undefined) return undefined
  return `Load at most ${percent(load)}, memory at most ${percent(memory)}.`
}

/** A summary of the traffic chart. */
export function describeTraffic(hours: readonly GatewayHour[]): string {
  const sum = (bytes: (hour: GatewayHour) => number) =>
    formatBytes(hours.reduce((total, hour) => total + bytes(hour), 0))
  const [from, to] = [sum((hour) => hour.receivedBytes), sum((hour) => hour.sentBytes)]
  return `${from} from the gateway, ${to} to it.`
}

function highest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
