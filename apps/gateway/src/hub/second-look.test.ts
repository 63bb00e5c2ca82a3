import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { post, readAnswer } from '../kernel/http-call.ts'
import { askHubWith } from './second-look.ts'
import type { Post } from './sending.ts'

const question = { label: 'boar', camera: 'orchard', at: '2026-05-01 23:10', jpeg: Buffer.of(255, 216, 255) }

/** Calls this port of the device, as the tunnel's calls do. */
const wayTo =
  (port: number): Post =>
  async (call, body, timeoutMs = 30_000) =>
    readAnswer(
      await post({
        url: new URL(`http://127.0.0.1:${port}${call.path}`),
        body: Buffer.from(JSON.stringify(body)),
        timeoutMs,
        signal: new AbortController().signal,
      }),
      call.response,
    ) as never

async function answer(status: number, body: object): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const ask = (way: Post | undefined, offers = true) => askHubWith(() => way, { has: () => offers })(question, 20_000)

test('a hub that cannot be reached is asked again soon', async () => {
  const again = { by: 'hub', outcome: 'unsure', retryAfterMs: 10_000 }
  expect(await ask(undefined)).toMatchObject(again)
  expect(await ask(wayTo(9))).toMatchObject(again)
})

test('a hub without a second look is a problem, and is not asked', async () => {
  const fault = 'The hub offers no second look.'
  expect(await ask(wayTo(9), false)).toEqual({ by: 'hub', outcome: 'unsure', reason: fault, fault })
})

test('a refusal without a time is final', async () => {
  const port = await answer(409, { error: 'second_look_unavailable', message: 'This hub offers no second look.' })
  expect(await ask(wayTo(port))).toEqual({
    by: 'hub',
    outcome: 'unsure',
    reason: 'The hub did not answer: This hub offers no second look.',
  })
})

test('a pause is a problem with its reason, and lasts an hour at most', async () => {
  const reason = 'The pictures of this day are spent.'
  const port = await answer(200, { by: 'hub', outcome: 'unsure', reason, retryAfterSeconds: 80_000 })
  expect(await ask(wayTo(port))).toEqual({
    by: 'hub',
    outcome: 'unsure',
    reason,
    fault: reason,
    retryAfterMs: 3_600_000,
  })
})
