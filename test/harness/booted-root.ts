import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { startChild } from './child-process.ts'
import { waitFor } from './wait-for.ts'

/** A Debian with systemd as its first process, and this machine's network. */
export type BootedRoot = {
  /** Runs a line of shell inside to its end; returns its output, both streams, and its exit code. */
  shell(line: string): { code: number | null; output: string }
  /** Ends it and removes everything that was written. */
  remove(): Promise<void>
}

/**
 * Boots a root directory that has systemd; writes stay in memory. `shown` is mounted at /mnt, read-only. Needs root and
 * `systemd-nspawn`. Rejects with the system's message when it allows no such container.
 */
export async function bootRoot(original: string, shown: string): Promise<BootedRoot> {
  const options = ['--quiet', '--register=no', '--keep-unit', '--volatile=overlay', '--resolv-conf=copy-host']
  const container = await startChild('systemd-nspawn', [
    ...options,
    `--bind-ro=${shown}:/mnt`,
    `--directory=${original}`,
    '--boot',
  ])
  const remove = async () => void (await container.stop(20_000))
  // systemd-nspawn has another child at first, which makes the container and ends.
  const inside = async () => {
    const children = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').split(' ')
    return children.find((pid) => pid !== '' && /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')))
  }
  try {
    const pid = await waitFor(inside, { for: 'the first process of the container' })
    const shell: BootedRoot['shell'] = (line) => {
      const spaces = ['--mount', '--uts', '--ipc', '--pid', '--root', '--wdns=/']
      const { status, stdout, stderr } = spawnSync('nsenter', ['--target', pid, ...spaces, '--', 'sh', '-c', line], {
        encoding: 'utf8',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin', DEBIAN_FRONTEND: 'noninteractive' },
      })
      return { code: status, output: stdout + stderr }
    }
    await waitFor(() => Promise.resolve(/running|degraded/.test(shell('systemctl is-system-running').output)), {
      for: 'systemd to be up',
      timeoutMs: 180_000,
    })
    return { shell, remove }
  } catch (cause) {
    await remove()
    throw new Error(`There is no systemd to try: ${container.output()}`, { cause })
  }
}
