/** Files and folders with the hub's keys: nobody else on the machine may read or replace them, whatever the umask. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../config.ts'

const WRITABLE_BY_ALL = 0o002
/** With the sticky bit, as on /tmp, users cannot replace each other's files. */
const STICKY = 0o1000

/** Makes the folder when it is missing. Throws a `ConfigError` when every user of the machine can write to it. */
export function makePrivateFolder(path: string): void {
  makeFolder(path)
  const { mode } = statSync(path)
  if (process.platform === 'win32' || (mode & WRITABLE_BY_ALL) === 0 || (mode & STICKY) !== 0) return
  throw new ConfigError([
    `Every user of this machine can write to ${path} (mode ${(mode & 0o777).toString(8)}) and so replace the ` +
      "hub's keys. " +
      `Make it the hub's alone, with "chmod 700 ${path}", and start again.`,
  ])
}

/** Makes the file when it is missing, and removes others' access to an existing one. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
}

/** Not Node's own recursion: it never ends below /proc, which refuses each new folder as if the one above were gone. */
function makeFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return
  if (!existsSync(dirname(path))) makeFolder(dirname(path))
  mkdirSync(path, 0o700)
}
