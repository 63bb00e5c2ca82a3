import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startFrigate } from '../../../../../test/harness/frigate.ts'
import { findFrigate } from './find-frigate.ts'

const life: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

async function startOther(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  life.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('both ports of a Frigate are found, and nothing else', async () => {
  const frigate = await startFrigate()
  life.push(frigate.stop)
  const others = await Promise.all([
    startOther((_request, response) => void response.end('<h1>Router</h1>')),
    startOther((_request, response) => void response.writeHead(401).end()),
    startOther((_request, response) => void response.end(Buffer.alloc(1 << 20))),
    startOther((_request, response) => void response.writeHead(302, { location: frigate.url }).end()),
  ])
  expect(await findFrigate([frigate.url, frigate.secureUrl, 'http://127.0.0.1:1', ...others])).toEqual([
    { url: frigate.url, version: '0.17.2-3a9f0c1', needsSignIn: false },
    { url: frigate.secureUrl, version: undefined, needsSignIn: true },
  ])
})
