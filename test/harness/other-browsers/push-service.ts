import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttp } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { WebSocketServer, type WebSocket } from 'ws'
import { issueAuthority, issueServerCertificate } from '../../../apps/hub/src/certificates/issue.ts'

/** Firefox's push service, in place of Mozilla's: it carries messages, and reads none. */
export type PushService = {
  /** For `dom.push.serverURL`. */
  url: string
  /** For a hub that may call it. */
  env: Record<string, string>
  stop(): Promise<void>
}

type PushMessage = { messageType?: string; channelID?: string }

/** Its side of Firefox's `dom/push/PushServiceWebSocket.sys.mjs`. */
export async function startPushService(): Promise<PushService> {
  const browsers = new Map<string, WebSocket>()
  const http = createHttp()
  new WebSocketServer({ server: http }).on('connection', (browser) => {
    browser.on('message', (data: Buffer) => {
      const { messageType, channelID = '' } = JSON.parse(data.toString()) as PushMessage
      const pushEndpoint = `https://${host}/${channelID}`
      if (messageType === 'register') browsers.set(channelID, browser)
      const more = messageType === 'hello' ? { uaid: 'a', use_webpush: true, broadcasts: {} } : { pushEndpoint }
      if (messageType !== 'ack') browser.send(JSON.stringify({ messageType, channelID, status: 200, ...more }))
    })
  })
  const authority = await issueAuthority(Date.now())
  const { certificate, privateKey } = await issueServerCertificate(authority, ['localhost'], Date.now())
  const https = createServer({ key: privateKey, cert: certificate }, async (request, response) => {
    const [channelID, data] = [request.url!.slice(1), (await buffer(request)).toString('base64url')]
    const headers = { encoding: String(request.headers['content-encoding']) }
    const message = { messageType: 'notification', channelID, version: String(Math.random()), data, headers }
    browsers.get(channelID)?.send(JSON.stringify(message))
    response.writeHead(201).end()
  })
  for (const server of [http, https]) await new Promise<void>((resolve) => server.listen(0, resolve))
  const portOf = (server: typeof http) => (server.address() as AddressInfo).port
  const host = `localhost:${portOf(https)}`
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-push-'))
  await writeFile(join(folder, 'ca.pem'), authority.certificate)
  return {
    url: `ws://localhost:${portOf(http)}`,
    env: { HUB_PUSH_HOSTS: host, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    async stop() {
      for (const server of [http, https]) {
        server.close()
        server.closeAllConnections()
      }
      for (const browser of browsers.values()) browser.terminate()
      await rm(folder, { recursive: true })
    },
  }
}
