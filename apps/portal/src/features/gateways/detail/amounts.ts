import type { Heartbeat } from '@hedgerow/contract'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** Bytes in steps of 1000, with three significant digits: "1.25 MB". */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(digits)} ${UNITS[unit]}`
}

/** A load average divided by the number of processor cores; above 1, work waits. */
export function formatLoad(perCore: number): string {
  return perCore.toFixed(perCore >= 99.95 ? 0 : perCore >= 9.995 ? 1 : 2)
}

/** A time span in its two largest parts: "3 d 4 h", "12 min". */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return `${days} d ${hours % 24} h`
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`
}

/** How often the agent restarted by itself: "none", "12 in the last hour", "3 since the device started". */
export function restartsInWords({ sinceBoot, lastHour, lastDay }: NonNullable<Heartbeat['restarts']>): string {
  if (lastHour > 0) return `${lastHour} in the last hour`
  if (lastDay > 0) return `${lastDay} in the last day`
  return sinceBoot > 0 ? `${sinceBoot} since the device started` : 'none'
}

/** The offset of a device's clock in words. Less than two seconds may be the time that the message took. */
export function clockOffset(deviceMs: number, receivedAt: string): string {
  const offMs = deviceMs - Date.parse(receivedAt)
  const seconds = Math.round(Math.abs(offMs) / 1_000)
  if (seconds < 2) return 'correct'
  return `${formatDuration(seconds)} ${offMs > 0 ? 'ahead' : 'behind'}`
}
