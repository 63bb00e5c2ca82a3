import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Instant } from '../saved-state.ts'

/** On Linux `mono` is the same in all processes of one boot (clock_gettime(2), CLOCK_MONOTONIC). */
export function instantNow(): Instant {
  return { wall: Date.now(), mono: Number(process.hrtime.bigint() / 1_000_000n) }
}

/** Changes with each boot of the device; where the system has no id of a boot, with each process. */
export function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return `${process.pid} ${Date.now() - uptime() * 1_000}`
  }
}
