import { createSocket, type Socket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import { isIPv4 } from 'node:net'
import type { DatagramSocket } from '@hedgerow/wireguard/node'
import type { DeviceNetwork } from '../../apps/gateway/src/hub/hub-connection.ts'

/** A device's network that can end, come back, and move to another address while its tunnel goes on. */
export type SimulatedNetwork = DeviceNetwork & {
  disconnect(): void
  connect(): void
  /** New datagrams and connections come from there; undefined for the machine's own address. */
  moveTo(address: string | undefined): void
}

export function createNetwork(address: string | undefined): SimulatedNetwork {
  const current = { address, isConnected: true }
  const sockets = new Set<SimulatedSocket>()
  return {
    localAddress() {
      if (!current.isConnected) throw Object.assign(new Error('the network is down'), { code: 'ENETUNREACH' })
      return current.address
    },
    openSocket() {
      const socket = new SimulatedSocket(current)
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    disconnect: () => void (current.isConnected = false),
    connect: () => void (current.isConnected = true),
    moveTo(other) {
      current.address = other
      for (const socket of sockets) socket.move()
    },
  }
}

/** A UDP socket whose network address changes, as it does for a device behind a router. */
class SimulatedSocket extends EventEmitter implements DatagramSocket {
  readonly #network: { readonly address: string | undefined; readonly isConnected: boolean }
  #inner: Socket | undefined

  constructor(network: { readonly address: string | undefined; readonly isConnected: boolean }) {
    super()
    this.#network = network
  }

  bind(): void {
    const inner = createSocket({ type: 'udp4', lookup: (name, _options, found) => found(null, name, 4) })
    this.#inner = inner
    inner.on('message', (data, from) => {
      if (this.#network.isConnected) this.emit('message', data, from)
    })
    inner.on('error', (error) => this.emit('error', error))
    inner.once('listening', () => this.emit('listening'))
    inner.bind(0, this.#network.address)
  }

  move(): void {
    this.#inner?.close()
    this.bind()
  }

  address(): { port: number } {
    return this.#inner!.address()
  }

  /** The buffer keeps its size, because thousands of sockets share the machine's memory. */
  setRecvBufferSize(): void {}

  send(data: Uint8Array, port: number, address: string): void {
    if (this.#network.isConnected && isIPv4(address)) this.#inner?.send(data, port, address)
  }

  close(): void {
    this.#inner?.close(() => this.emit('close'))
    this.#inner = undefined
  }
}
