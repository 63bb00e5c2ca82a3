import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { InterfaceOptions, WireGuardInterface } from './interface.ts'
import { openInterface } from './interface.ts'

/** ip-sysctl.rst of Linux, `bindv6only`: `1` gives a socket on `::` no IPv4. Node has no option that overrules it. */
const V6_ONLY_SETTING = '/proc/sys/net/ipv6/bindv6only'

/**
 * Opens an interface on IPv6 and IPv4: on one socket, on one of each where the system wants that, and on IPv4 alone
 * where the machine has no IPv6. Rejects as `openInterface` does.
 */
export async function openOnBothFamilies(options: Omit<InterfaceOptions, 'host'>): Promise<WireGuardInterface> {
  try {
    if (isV6Only())
      return await openInterface({ ...options, host: '::', offload: false, openSocket: () => new SocketOfEach() })
    return await openInterface({ ...options, host: '::' })
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code !== 'EAFNOSUPPORT' && code !== 'EADDRNOTAVAIL') throw error
    return openInterface({ ...options, host: '0.0.0.0' })
  }
}

function isV6Only(): boolean {
  try {
    return readFileSync(V6_ONLY_SETTING, 'utf8').trim() === '1'
  } catch {
    return false
  }
}

/** One UDP port of both families on two sockets; it is bound when both are, and closed when both are. */
class SocketOfEach extends EventEmitter {
  readonly #v6 = withoutNames('udp6')
  readonly #v4 = withoutNames('udp4')

  bind({ port }: { port: number }): void {
    for (const socket of [this.#v6, this.#v4]) {
      socket.on('message', (...message) => this.emit('message', ...message))
      socket.on('error', (error) => this.emit('error', error))
    }
    this.#v6.once('listening', () => this.#v4.bind({ port: this.#v6.address().port, address: '0.0.0.0' }))
    this.#v4.once('listening', () => this.emit('listening'))
    this.#v6.bind({ port, address: '::' })
  }

  address(): { port: number } {
    return this.#v6.address()
  }

  setRecvBufferSize(bytes: number): void {
    this.#v6.setRecvBufferSize(bytes)
    this.#v4.setRecvBufferSize(bytes)
  }

  send(data: Uint8Array, port: number, address: string): void {
    const socket = isIP(address) === 6 ? this.#v6 : this.#v4
    socket.send(data, port, address)
  }

  close(): void {
    this.#v6.close(() => this.#v4.close(() => this.emit('close')))
  }
}

/** Endpoints are addresses, so the look-up returns the given address at once. */
function withoutNames(type: 'udp4' | 'udp6'): Socket {
  return createSocket({
    type,
    ipv6Only: type === 'udp6',
    lookup: (address, _options, callback) => callback(null, address, type === 'udp6' ? 6 : 4),
  })
}
