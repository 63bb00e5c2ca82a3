/** A password of the device's interface in a new data directory, because making one is slow. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ZEROS = (bytes: number) => Buffer.alloc(bytes).toString('base64')

/** Nobody knows which password has this hash: for tests in which nobody types one. */
export function presetPassword(dataDir: string): void {
  writeFileSync(join(dataDir, 'password.json'), JSON.stringify({ salt: ZEROS(16), hash: ZEROS(32) }), { mode: 0o600 })
}
