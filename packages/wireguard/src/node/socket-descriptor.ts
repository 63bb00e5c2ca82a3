import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * The file descriptor of this process's own UDP socket on a port, from Linux's /proc, because Node does not expose it.
 * Undefined where it cannot be found.
 */
export function descriptorOf({ port, family }: { port: number; family: 4 | 6 }): number | undefined {
  try {
    const localPort = port.toString(16).toUpperCase().padStart(4, '0')
    const inodes = readFileSync(`/proc/self/net/udp${family === 6 ? '6' : ''}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = '']) => local.endsWith(`:${localPort}`))
      .map((columns) => `socket:[${columns[9]}]`)
    const own = readdirSync('/proc/self/fd').filter((descriptor) => inodes.includes(linkOf(descriptor)))
    return own.length === 1 ? Number(own[0]) : undefined
  } catch {
    return undefined
  }
}

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    // The listing's own descriptor is closed by now.
    return ''
  }
}
