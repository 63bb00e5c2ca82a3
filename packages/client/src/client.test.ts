import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listIncidents } from '@hedgerow/contract'
import { expect, onTestFinished, test } from 'vitest'
import { createClient, Refusal } from './client.ts'

/** A client of a server that answers so. */
async function clientOf(answer: RequestListener) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'hgr_x')
}
const failure = (call: Promise<unknown>) => call.catch((error: unknown) => error)

test('parameters and queries are escaped, and the token is in the header', async () => {
  const seen: (string | undefined)[] = []
  const client = await clientOf(({ url, headers }, response) => {
    seen.push(url, headers.authorization)
    response.end('[]')
  })
  await client(listIncidents, { query: { label: 'a&b', limit: 5 } })
  expect(seen).toEqual(['/api/v1/hub/incidents?label=a%26b&limit=5', 'Bearer hgr_x'])
})

test('a refusal has its status, its body and when to try again', async () => {
  const client = await clientOf((_, response) => {
    response.writeHead(429, { 'retry-after': '3' })
    response.end(JSON.stringify({ error: 'a_newer_code', message: 'Later.' }))
  })
  expect(await failure(client(listIncidents))).toMatchObject({
    status: 429,
    body: { error: 'a_newer_code', message: 'Later.' },
    retryAfterMs: 3_000,
  })
})

test('the page of a proxy is a refusal too', async () => {
  const client = await clientOf((_, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'))
  const refused = await failure(client(listIncidents))
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ status: 502, body: { error: 'unknown', message: '<h1>Bad Gateway</h1>' } })
})

test('an answer that is not of the contract, and a way to another server, are errors', async () => {
  const wrong = await clientOf((_, response) => response.end('[{"id":1}]'))
  expect(await failure(wrong(listIncidents))).toBeInstanceOf(Error)
  const visited: string[] = []
  const elsewhere = await clientOf(({ url }, response) => {
    visited.push(url ?? '')
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  expect(await failure(elsewhere(listIncidents))).toBeInstanceOf(TypeError)
  expect(visited).not.toContain('/elsewhere')
})
