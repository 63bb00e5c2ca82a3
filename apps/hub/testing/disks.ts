import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

type Skip = (reason: string) => never

/** Returns what the command says. */
export const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { stdio: 'pipe' }).toString().trim()

/** A folder for the running test. */
export function testFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hub-disk-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Mounts a file system on a folder for the running test, which is skipped where nobody may do so. */
export function mount(path: string, skip: Skip, ...options: string[]): void {
  try {
    run('mount', ...options, path)
  } catch {
    skip('skipped: only root can mount a file system')
  }
  // Functions of `onTestFinished` run in reverse order.
  onTestFinished(() => void run('umount', '-l', path))
}

/** A disk of 64 MiB for the running test. */
export function smallDisk(skip: Skip): string {
  const path = testFolder()
  mount(path, skip, '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs')
  return path
}
