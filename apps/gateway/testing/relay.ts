import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'

/** `refuses what is so`: 409 for on while on, and for off while off. */
type Manner = 'well' | 'refuses' | 'refuses what is so' | 'silent'

/** A relay with an HTTP interface, in the test's process: it records when it was on. */
export type Relay = {
  onUrl: string
  offUrl: string
  /** Its state as JSON; not among `calls`. */
  stateUrl: string
  isOn(): boolean
  /** Every call, in order. */
  calls: ('on' | 'off')[]
  /** How it answers from now on. */
  behave(manner: Manner): void
  /** A text that it adds to its answers. */
  repeat(text: string): void
  /** Switches it by hand. */
  force(on: boolean): void
  stop(): Promise<void>
}

export async function startRelay(): Promise<Relay> {
  let isOn = false
  let repeated = ''
  let manner: Manner = 'well'
  const calls: ('on' | 'off')[] = []
  const server: Server = createServer((request, response) => {
    if (manner === 'silent') return
    if (request.url === '/state') {
      response.end(JSON.stringify({ on: isOn }))
      return
    }
    const wanted = request.url?.startsWith('/on') ? 'on' : 'off'
    calls.push(wanted)
    const isSo = isOn === (wanted === 'on')
    if (manner !== 'refuses') isOn = wanted === 'on'
    response.writeHead(manner === 'refuses' ? 503 : manner === 'refuses what is so' && isSo ? 409 : 200)
    response.end(repeated || `relay ${wanted}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    onUrl: `${url}/on`,
    offUrl: `${url}/off`,
    stateUrl: `${url}/state`,
    isOn: () => isOn,
    calls,
    repeat: (text) => void (repeated = text),
    force: (on) => void (isOn = on),
    behave: (changed) => void (manner = changed),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
