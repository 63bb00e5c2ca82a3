import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MOUNT = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3
const NAME = 'hedgerow-tests-'

/**
 * Creates a folder in memory, which is removed when this process ends, so that hundreds of short-lived databases do not
 * wait for a disk. Undefined where there is no file system in memory, too little room, or no permission to run programs
 * from it.
 */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MOUNT)
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MOUNT)
    if (bavail * bsize < ROOM_BYTES || !mount || mount.includes('noexec')) return undefined
    removeLeftovers()
    const folder = join(MOUNT, `${NAME}${process.pid}`)
    mkdirSync(folder)
    // The mode of /tmp, because the tests' PostgreSQL and nginx run as other users.
    chmodSync(folder, 0o1777)
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return folder
  } catch {
    return undefined
  }
}

/** Removes the folders of runs that were killed. One that holds a mount of its test stays, and hinders nobody. */
function removeLeftovers(): void {
  for (const name of readdirSync(MOUNT)) {
    if (!name.startsWith(NAME) || isRunning(Number(name.slice(NAME.length)))) continue
    try {
      rmSync(join(MOUNT, name), { recursive: true, force: true })
    } catch {
      // Busy.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
