import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** A TCP relay on this machine whose first connections break off after so many bytes each. */
export type BrokenWay = {
  readonly port: number
  /** How many bytes went to the callers. */
  bytes(): number
  stop(): Promise<void>
}

export async function startBrokenWay(toPort: number, endAfter: readonly number[]): Promise<BrokenWay> {
  const lengths = [...endAfter]
  let bytes = 0
  const server = createServer((caller) => {
    let left = lengths.shift() ?? Infinity
    const callee = connect(toPort, '127.0.0.1')
    const end = () => void (caller.destroy(), callee.destroy())
    caller.on('error', end).on('close', end).pipe(callee)
    callee.on('error', end).on('close', end)
    callee.on('data', (data) => {
      bytes += data.length
      left -= data.length
      if (left < 0) end()
      else if (!caller.write(data)) callee.pause()
    })
    caller.on('drain', () => callee.resume())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => bytes,
    async stop() {
      server.close()
      await once(server, 'close')
    },
  }
}
