/** When a backup is due. Pure. */
import type { BackupTimes } from '../config.ts'

export const HOUR_MS = 3_600_000

export const periodMs = (times: BackupTimes): number => ('hours' in times ? times.hours : 24) * HOUR_MS

/** Also without a backup, and when the last one is in the future: then the clock was wrong. */
export function isDue(times: BackupTimes, lastAt: number | undefined, now: number): boolean {
  if (lastAt === undefined || lastAt > now) return true
  return 'hours' in times ? now - lastAt >= times.hours * HOUR_MS : lastAt < lastTimeOf(times.at, now)
}

/** Half a period and an hour late: by then one has failed, or the hub was off. */
export function isOverdue(times: BackupTimes, lastAt: number, now: number): boolean {
  return now - lastAt > 1.5 * periodMs(times) + HOUR_MS
}

function lastTimeOf({ hour, minute }: { hour: number; minute: number }, now: number): number {
  const time = new Date(now)
  time.setHours(hour, minute, 0, 0)
  if (time.getTime() > now) time.setDate(time.getDate() - 1)
  return time.getTime()
}
