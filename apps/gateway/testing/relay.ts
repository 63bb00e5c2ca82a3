import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'

/** A relay with an HTTP interface, in the test's process: it records when it was on. */
export type Relay = {
  onUrl: string
  offUrl: string
  isOn(): boolean
  /** Every call, in order. */
  calls: ('on' | 'off')[]
  /** How it answers from now on. */
  behave(manner: 'well' | 'refuses' | 'silent'): void
  /** A text that it adds to its answers. */
  repeat(text: string): void
  /** Switches it by hand. */
  force(on: boolean): void
  stop(): Promise<void>
}

export async function startRelay(): Promise<Relay> {
  let isOn = false
  let said = ''
  let manner: 'well' | 'refuses' | 'silent' = 'well'
  const calls: ('on' | 'off')[] = []
  const server: Server = createServer((request, response) => {
    if (manner === 'silent') return
    const wanted = request.url?.startsWith('/on') ? 'on' : 'off'
    calls.push(wanted)
    if (manner === 'well') isOn = wanted === 'on'
    response.writeHead(manner === 'well' ? 200 : 503)
    response.end(said || `relay ${wanted}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    onUrl: `${url}/on`,
    offUrl: `${url}/off`,
    isOn: () => isOn,
    calls,
    repeat: (text) => void (said = text),
    force: (on) => void (isOn = on),
    behave: (changed) => void (manner = changed),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
