import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'

/** Debian installs servers in /usr/sbin, which may not be in an ordinary user's PATH. */
export const SEARCH_PATH = `${process.env.PATH}:/usr/sbin`

/** What a test may need from its machine beyond an ordinary user's rights. */
export type Privilege = 'root' | 'tun' | `command ${string}`

/** Why a test can't run here; undefined when nothing is missing. */
export function missingPrivilege(...needed: Privilege[]): string | undefined {
  return needed.map(reason).find((text) => text !== undefined)
}

/** Prints why a suite is skipped, if it is; returns the argument of `describe.skipIf`. */
export function skipWithout(suite: string, ...needed: Privilege[]): boolean {
  const missing = missingPrivilege(...needed)
  if (missing) console.log(`skipped: ${suite}: ${missing}`)
  return missing !== undefined
}

function reason(privilege: Privilege): string | undefined {
  if (privilege === 'root') return process.getuid?.() === 0 ? undefined : 'it needs root'
  if (privilege === 'tun') return canOpen('/dev/net/tun') ? undefined : 'there is no /dev/net/tun'
  const command = privilege.slice('command '.length)
  const found = spawnSync('sh', ['-c', 'command -v "$0"', command], { env: { PATH: SEARCH_PATH } }).status === 0
  return found ? undefined : `${command} is not installed`
}

function canOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}
