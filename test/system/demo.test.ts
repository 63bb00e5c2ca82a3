import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hubStats, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { createApiAs, type Api } from '../harness/api-client.ts'
import { startChild, type Child } from '../harness/child-process.ts'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { waitFor } from '../harness/wait-for.ts'

const DEMO = join(import.meta.dirname, '..', '..', 'scripts', 'demo.ts')

let demo: Child
let url: string
let api: Api

beforeAll(async () => {
  demo = await startChild(process.execPath, [DEMO])
  const [, address = ''] = await demo.says(/^Hub: (http:\/\/localhost:\d+)$/m, 90_000)
  const [, username = '', password = ''] = await demo.says(/^Sign in: (admin) \/ (\S+)$/m)
  url = address
  api = createApiAs(url, { username, password })
}, 120_000)

afterAll(() => demo?.stop())

test('two gateways are online and one waits for approval', async () => {
  const gateways = await api(listGateways)
  expect(gateways.map(({ name, status }) => [name, status])).toEqual([
    ['Barn', 'online'],
    ['North orchard', 'online'],
  ])
  const pending = await api(listPendingRegistrations)
  expect(pending.map(({ deviceName }) => deviceName)).toEqual(['River gate'])
})

test('the portal is served, and the detections arrive', async () => {
  const page = await fetch(url)
  expect(page.headers.get('content-type')).toContain('text/html')
  const withThreats = async () => (await api(hubStats)).threats > 0
  expect(await waitFor(withThreats, { for: 'an alert of today' })).toBe(true)
})

test('a gateway’s page opens through its tunnel, also after the hub was killed', async () => {
  const [barn] = await api(listGateways)
  const pageOfBarn = async () => (await (await openGatewayUi(url, api, barn!.id)).send('/')).text
  expect(await pageOfBarn()).toContain('Barn')

  const [, pid = ''] = await demo.says(/kill -9 (\d+)/)
  process.kill(Number(pid), 'SIGKILL')
  await demo.says(/The hub is back as process \d+/)
  const isBack = async () => (await pageOfBarn()).includes('Barn')
  expect(await waitFor(isBack, { for: 'the page of the barn' })).toBe(true)
})

test('Ctrl-C ends all of it', async () => {
  const [, pid = ''] = await demo.says(/is back as process (\d+)/)
  demo.signal('SIGINT')
  expect(await demo.ended).toEqual({ code: 0, signal: null })
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('a hub ends by itself when its demo was killed', async () => {
  const start = `
    const { startHub } = await import(${JSON.stringify(import.meta.resolve('../harness/hub.ts'))})
    const hub = await startHub({ detached: true })
    console.log(hub.url, hub.dataDir)`
  const starter = await startChild(process.execPath, ['--input-type=module', '--eval', start])
  const [, address = '', dataDir = ''] = await starter.says(/^(http:\S+) (\S+)$/m)
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  starter.signal('SIGKILL')
  const isGone = async () =>
    await fetch(`${address}/readyz`).then(
      () => false,
      () => true,
    )
  expect(await waitFor(isGone, { for: 'the hub to be gone' })).toBe(true)
  // It may still be writing after it stopped answering.
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
})
