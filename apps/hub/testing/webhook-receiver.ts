import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Posted = { headers: Record<string, string | string[] | undefined>; body: string }

/** A real HTTP server on loopback; `state` decides what it answers. */
export async function startWebhookReceiver() {
  const received: Posted[] = []
  const state = { status: 204, location: '' }
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body })
      response.writeHead(state.status, state.location ? { location: state.location } : {}).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, received, state, stop: () => void server.close() }
}
