import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gatewayUiTicket, readGateway } from '@hedgerow/contract'
import type { Client } from '@hedgerow/client'
import { waitFor } from './wait-for.ts'

export type UiAnswer = {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  text: string
  firstByteAtMs: number
}

export type UiRequest = { method?: string; headers?: OutgoingHttpHeaders; body?: Uint8Array | string }

/** The names of a gateway's applications, as soon as the hub knows them. */
export function applicationsOf(api: Client, gatewayId: string): Promise<string[]> {
  return waitFor(
    async () => {
      const { applications } = await api(readGateway, { params: { id: gatewayId } })
      return applications.length === 0 ? undefined : applications.map(({ name }) => name)
    },
    { for: 'the applications of the gateway' },
  )
}

/**
 * Opens a gateway's own interface or an application of it as a browser does: gets a ticket, posts it to the origin, and
 * keeps the cookie. Resolves names under `localhost` to 127.0.0.1 as browsers do.
 */
export async function openGatewayUi(hubUrl: string, api: Client, gatewayId: string, application?: string) {
  const query = application === undefined ? {} : { application }
  const { action, ticket } = await api(gatewayUiTicket, { params: { id: gatewayId }, query })
  const handover = await send(action, {
    method: 'POST',
    headers: { origin: hubUrl, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ticket }).toString(),
  })
  const cookie = handover.headers['set-cookie']?.map((line) => line.split(';')[0]).join('; ')
  if (handover.status !== 303 || !cookie) throw new Error(`The handover answered ${handover.status}: ${handover.text}`)
  return {
    origin: new URL(action).origin,
    cookie,
    handover,
    send: (path: string, options: UiRequest = {}) =>
      send(new URL(path, action).href, { ...options, headers: { cookie, ...options.headers } }),
  }
}

function send(url: string, { method = 'GET', headers, body }: UiRequest): Promise<UiAnswer> {
  const { host, hostname, port, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: hostname.endsWith('.localhost') ? '127.0.0.1' : hostname,
      port,
      method,
      path: pathname + search,
      headers: { host, ...headers },
      agent: false,
    })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      const firstByteAtMs = performance.now()
      buffer(response).then((bytes) => {
        const status = response.statusCode ?? 0
        resolve({ status, headers: response.headers, body: bytes, text: bytes.toString('utf8'), firstByteAtMs })
      }, reject)
    })
    outgoing.end(body)
  })
}
