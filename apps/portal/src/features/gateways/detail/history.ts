import type { GatewayHour } from '@hedgerow/contract'
import { formatBytes, formatLoad } from './amounts.ts'

export const percent = (fraction: number): string => `${Math.round(fraction * 100)} %`

/** A summary of the load's chart; undefined without heartbeats. */
export function describeLoad(hours: readonly GatewayHour[]): string | undefined {
  const load = highest(hours.map((hour) => hour.load?.max))
  return load === undefined ? undefined : `Load at most ${formatLoad(load)} per core.`
}

/** A summary of the memory's chart; undefined without heartbeats. */
export function describeMemory(hours: readonly GatewayHour[]): string | undefined {
  const memory = highest(hours.map((hour) => hour.memory?.max))
  return memory === undefined ? undefined : `Memory at most ${percent(memory)}.`
}

/** A summary of the traffic chart. */
export function describeTraffic(hours: readonly GatewayHour[]): string {
  const sum = (bytes: (hour: GatewayHour) => number) =>
    formatBytes(hours.reduce((total, hour) => total + bytes(hour), 0))
  const [from, to] = [sum((hour) => hour.receivedBytes), sum((hour) => hour.sentBytes)]
  return `${from} from the gateway, ${to} to it.`
}

function highest(values: readonly (number | undefined)[]): number | undefined {
  const present = values.filter((value) => value !== undefined)
  return present.length === 0 ? undefined : Math.max(...present)
}
