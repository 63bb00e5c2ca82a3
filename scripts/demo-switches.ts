import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

type Name = 'valve' | 'siren'
export type State = Record<Name, { isOn: boolean; timesOn: number; changedAt: string | null }>

/** A valve and a siren that are switched over HTTP like small relays, simulated, with a page that shows them. */
export type Switches = {
  /** The page; `GET state` below it is the same as JSON. */
  readonly url: string
  /** The configuration of a deterrent in gateway.yaml that switches one of them. */
  driverOf(name: Name): object
  stop(): Promise<void>
}

const PAGE = join(import.meta.dirname, 'demo-switches.html')
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"

export async function startSwitches(): Promise<Switches> {
  const page = await readFile(PAGE)
  const off = { isOn: false, timesOn: 0, changedAt: null }
  const state: State = { valve: off, siren: off }
  const viewers = new Set<ServerResponse>()

  function turn(name: Name, isOn: boolean): void {
    const { isOn: wasOn, timesOn } = state[name]
    if (wasOn === isOn) return
    state[name] = { isOn, timesOn: timesOn + Number(isOn), changedAt: new Date().toISOString() }
    for (const viewer of viewers) send(viewer)
  }

  const send = (viewer: ServerResponse) => viewer.write(`data: ${JSON.stringify(state)}\n\n`)

  function answer({ method, url }: IncomingMessage, response: ServerResponse): void {
    const [, name, wanted] = /^\/(valve|siren)\/(on|off)$/.exec(url ?? '') ?? []
    if (method === 'POST' && name !== undefined) {
      turn(name as Name, wanted === 'on')
      response.end(`${name} ${wanted}`)
    } else if (method !== 'GET') {
      response.writeHead(405).end()
    } else if (url === '/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY })
      response.end(page)
    } else if (url === '/state') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(state))
    } else if (url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      send(response)
      viewers.add(response)
      response.on('close', () => viewers.delete(response))
    } else response.writeHead(404).end()
  }

  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const call = (path: string) => ({ url: `${url}${path}`, method: 'POST' })
  return {
    url,
    driverOf: (name) => ({ driver: 'http', on: call(`${name}/on`), off: call(`${name}/off`) }),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
