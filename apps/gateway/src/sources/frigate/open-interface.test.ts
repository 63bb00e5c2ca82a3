import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { startFrigate } from '../../../../../test/harness/frigate.ts'
import { openAddresses, watchOpenInterfaces } from './open-interface.ts'
import { frigateSettings } from './schema.ts'

const life: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of life.splice(0).reverse()) await end()
})

function watch(url: string): () => string[] {
  const watched = watchOpenInterfaces(
    () => [{ name: 'nvr', url: new URL(url) }],
    () => undefined,
  )
  life.push(watched.stop)
  return watched.problems
}

describe('an interface where everybody is an admin', () => {
  test("is a problem on Frigate's port without sign-in, and none on the other", async () => {
    const frigate = await startFrigate()
    life.push(frigate.stop)
    const [open, guarded] = [watch(frigate.url), watch(frigate.secureUrl)]
    await expect
      .poll(open)
      .toEqual([
        expect.stringMatching(/the application nvr .* is an admin of Frigate there: use port 8971 and proxySecret\.$/),
      ])
    expect(open()[0]!.length).toBeLessThanOrEqual(200)
    await expect.poll(() => frigate.requests.filter(({ isInternal }) => !isInternal).length).toBe(1)
    expect(guarded()).toEqual([])
  })

  test.each([
    ['another application', '{"name": "router"}'],
    ['one that says no JSON', '<h1>Welcome</h1>'],
    ['one that answers 3 MB', 'x'.repeat(3 << 20)],
  ])('is no problem at %s', async (_what, body) => {
    let answered = 0
    const server = createServer((_request, response) => {
      response.on('close', () => (answered += 1))
      response.end(body)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    life.push(() => void server.close())
    const problems = watch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await expect.poll(() => answered).toBe(1)
    expect(problems()).toEqual([])
  })
})

describe('the check of gateway.yaml warns', () => {
  const settings = (given: Record<string, unknown>) => frigateSettings.parse({ url: 'http://127.0.0.1:5000', ...given })

  const none = /^$/
  test.each<[string, ReturnType<typeof settings> | undefined, string | undefined, RegExp]>([
    ['of the open port shown by Connect', undefined, 'http://127.0.0.1:5000', /is an admin there\. Use its port 8971/],
    ['of the open port as interface', settings({ interface: 'http://127.0.0.1:5000' }), undefined, /Use its port 8971/],
    ['of the open port as a source', settings({}), undefined, /Allow only this device to reach it\.$/],
    ['of nothing on the other port', settings({ url: 'https://127.0.0.1:8971' }), 'https://127.0.0.1:8971', none],
    ['of nothing without Frigate', undefined, 'http://127.0.0.1:3000', none],
  ])('%s', (_what, given, target, expected) => {
    expect(
      openAddresses(given, target === undefined ? [] : [{ name: 'nvr', url: new URL(target) }]).join('\n'),
    ).toMatch(expected)
  })
})
