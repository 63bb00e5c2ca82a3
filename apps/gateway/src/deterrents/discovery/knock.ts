import { once } from 'node:events'
import { connect } from 'node:net'

const AT_ONCE = 256
/** A device in the same network answers within some milliseconds, over bad radio within half a second. */
const ANSWER_MS = 700

/** Calls `onOpen` for each address that takes a TCP connection. Sends nothing. */
export async function knock(options: {
  addresses: readonly { host: string; port: number }[]
  onOpen(host: string, port: number): void
  signal: AbortSignal
}): Promise<void> {
  const { addresses, onOpen, signal } = options
  const waiting = addresses.values()
  async function next(): Promise<void> {
    for (const { host, port } of waiting) {
      if (signal.aborted) return
      if (await isOpen(host, port, signal)) onOpen(host, port)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

async function isOpen(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) })
    return true
  } catch {
    return false
  } finally {
    socket.on('error', () => {})
    socket.destroy()
  }
}
