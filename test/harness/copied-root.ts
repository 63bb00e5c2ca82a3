import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { startChild, type Child } from './child-process.ts'

/**
 * A root directory that looks like this machine's, or like another folder, with private writes: an overlay in memory
 * that only its own processes see. It has this machine's network, and no systemd. Needs root and `unshare`.
 */
export type CopiedRoot = {
  /** Copies a file of this machine into its /tmp, and returns the path there. */
  bring(file: string): string
  /** Runs a line of shell inside to its end; returns its output, both streams, and its exit code. */
  shell(line: string): { code: number | null; output: string }
  /** Starts a command inside. */
  start(command: string, args: string[]): Promise<Child>
  /** Ends it and removes everything that was written. */
  remove(): Promise<void>
}

const MAKE = [
  'mount -t tmpfs tmpfs "$0"',
  'mkdir "$0/upper" "$0/work" "$0/root"',
  'mount -t overlay overlay -o "lowerdir=$1,upperdir=$0/upper,workdir=$0/work" "$0/root"',
  'mount --rbind /dev "$0/root/dev"',
  'mount -t proc proc "$0/root/proc"',
  'mount -t tmpfs tmpfs "$0/root/tmp"',
  'echo made',
  'exec chroot "$0/root" sleep 3600',
].join(' && ')

/** Rejects with the system's message when it allows no such mounts. */
export async function copyRoot(original = '/'): Promise<CopiedRoot> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-root-'))
  const keeper = await startChild('unshare', [
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    MAKE,
    folder,
    original,
  ])
  const remove = async () => {
    await keeper.stop(1_000)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await keeper.says(/^made$/m, 10_000)
  } catch (cause) {
    await remove()
    throw new Error(`There is no root to write in: ${keeper.output()}`, { cause })
  }
  const inside = ['--target', String(keeper.pid), '--mount', '--root', '--wdns=/', '--']
  return {
    bring(file) {
      // The copy is made outside of the root, where both are visible.
      execFileSync('nsenter', ['--target', String(keeper.pid), '--mount', 'cp', file, join(folder, 'root/tmp')])
      return `/tmp/${basename(file)}`
    },
    shell(line) {
      const { status, stdout, stderr } = spawnSync('nsenter', [...inside, 'sh', '-c', line], {
        encoding: 'utf8',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin' },
      })
      return { code: status, output: stdout + stderr }
    },
    start: (command, args) => startChild('nsenter', [...inside, command, ...args]),
    remove,
  }
}
