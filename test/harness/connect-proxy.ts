import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** An HTTP proxy on this machine that opens tunnels (CONNECT) and counts them. */
export type ConnectProxy = { readonly url: string; tunnels(): number; stop(): Promise<void> }

export async function startConnectProxy(): Promise<ConnectProxy> {
  let tunnels = 0
  const open = new Set<Duplex>()
  const server = createServer().on('connect', ({ url }, caller) => {
    tunnels += 1
    const callee = connect(Number(url!.split(':').at(-1)), '127.0.0.1', () => {
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n')
      caller.pipe(callee).pipe(caller)
    })
    for (const [one, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy()).on('close', () => (open.delete(one), other.destroy()))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels: () => tunnels,
    async stop() {
      for (const one of open) one.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
