import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export type MulticastQuestion = {
  /** IPv4 addresses of the device to ask from, one for each network. */
  from: readonly string[]
  group: string
  port: number
  /** A new datagram each time it is asked. */
  ask(): string | Buffer
  onAnswer(bytes: Buffer, sender: string): void
  /** Ends the search. */
  signal: AbortSignal
}

const ASK_EVERY_MS = 1_000

/** Asks everything in the device's networks; resolves at the end. A network without multicast is skipped. */
export async function askByMulticast({ from, ...question }: MulticastQuestion): Promise<void> {
  await Promise.all(from.map((address) => askFrom(address, question)))
}

async function askFrom(address: string, question: Omit<MulticastQuestion, 'from'>): Promise<void> {
  const { group, port, ask, onAnswer, signal } = question
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  socket.on('message', (bytes, { address: sender }) => onAnswer(bytes, sender))
  try {
    socket.bind(0, address)
    await once(socket, 'listening', { signal })
    socket.setMulticastInterface(address)
    const send = () => socket.send(ask(), port, group, () => {})
    send()
    // Repeated, because datagrams get lost and devices sleep.
    const again = setInterval(send, ASK_EVERY_MS)
    if (!signal.aborted) await once(signal, 'abort')
    clearInterval(again)
  } catch {
    // This network has no multicast.
  } finally {
    socket.close()
  }
}
