import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import {
  API_BASE,
  approveRegistration,
  hubEvents,
  listGateways,
  listPendingRegistrations,
  login,
  validateSession,
} from '@hedgerow/contract'
import { startChild } from '../harness/child-process.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startGateway } from '../harness/gateway.ts'
import { applicationsOf, openGatewayUi } from '../harness/gateway-ui-client.ts'
import { HUB_COMMAND, printedPassword, startHub, type Hub } from '../harness/hub.ts'
import { joinPlayedGateway, joinPlayedRouter } from '../harness/played-gateway.ts'
import { waitFor } from '../harness/wait-for.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-lifecycle-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the hub's main file with this mistake in the environment. */
async function startMistaken(env: Record<string, string>) {
  const child = await startChild(process.execPath, HUB_COMMAND, {
    env: {
      HUB_HOST: '127.0.0.1',
      HUB_PORT: String(await freeTcpPort()),
      HUB_HTTPS_PORT: 'off',
      HUB_DATA_DIR: await temporaryFolder(),
      ...env,
    },
  })
  cleanups.push(() => child.stop(0))
  return { exit: await child.ended, output: child.output() }
}

test('SIGTERM drains within 10 s: a page sent through a tunnel arrives, open requests and streams end', async () => {
  const slow = createServer((_, response) => {
    response.write('the first half, ')
    setTimeout(() => response.end('the second half'), 1_500)
  })
  await once(slow.listen(0, '127.0.0.1'), 'listening')
  cleanups.push(async () => slow.close())
  const hub = await startHub()
  cleanups.push(() => hub.stop())
  const target = new URL(`http://127.0.0.1:${(slow.address() as AddressInfo).port}`)
  const barn = await startGateway(hub, { name: 'Barn', uiTarget: target })
  cleanups.push(() => barn.stop())
  const [registration] = await waitFor(() => pendingOf(hub, 1), { for: 'the registration' })
  const { gatewayId } = await hub.api(approveRegistration, {
    params: { registrationId: registration!.registrationId },
  })
  const waiting = await startGateway(hub, { name: 'Still waiting' })
  cleanups.push(() => waiting.stop())
  await waitFor(() => pendingOf(hub, 1), { for: 'the second registration' })
  await applicationsOf(hub.api, gatewayId)
  const ui = await openGatewayUi(hub.url, hub.api, gatewayId, 'ui-target')

  const { accessToken } = (await hub.visitor(login, { body: hub.admin })) as { accessToken: string }
  const live = await fetch(`${hub.url}${API_BASE}${hubEvents.path}`, {
    headers: { authorization: `Bearer ${accessToken}` },
  })

  const underWay = ui.send('/slow')
  await once(slow, 'request')
  hub.process().signal('SIGTERM')
  expect(await live.text(), 'a stream of live events ends').toContain(':')
  expect((await underWay).text).toBe('the first half, the second half')
  // It ends itself with code 1 when it takes longer than 10 s.
  expect(await hub.process().ended).toEqual({ code: 0, signal: null })
})

test('while gateways answer 101 to ordinary requests, another one enrols, and the hub stops', async () => {
  const hub = await startHub()
  cleanups.push(() => hub.stop())
  let calls = 0
  const switchProtocols = (stream: Duplex) => {
    stream.once('data', () => {
      calls++
      stream.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
    })
  }
  // The hub checks this one's health by itself; the other one is called when somebody opens its page.
  const router = await joinPlayedRouter(hub, switchProtocols)
  cleanups.push(router.stop)
  const gateway = await joinPlayedGateway(hub, switchProtocols)
  cleanups.push(gateway.stop)
  await waitFor(() => calls > 0, { for: 'a health check' })
  const ui = await openGatewayUi(hub.url, hub.api, gateway.id)
  expect((await ui.send('/')).status).toBe(502)

  const barn = await startGateway(hub, { name: 'Barn' })
  cleanups.push(() => barn.stop())
  const [registration] = await waitFor(() => pendingOf(hub, 1), { for: 'the registration' })
  const { gatewayId } = await hub.api(approveRegistration, {
    params: { registrationId: registration!.registrationId },
  })
  const isOnline = async () => (await hub.api(listGateways)).find(({ id }) => id === gatewayId)?.status === 'online'
  await waitFor(isOnline, { for: 'its first heartbeat' })
  let isAsked = false
  const other = await joinPlayedRouter(hub, () => (isAsked = true))
  cleanups.push(other.stop)
  await waitFor(() => isAsked, { for: 'the health check of another one' })

  hub.process().signal('SIGTERM')
  expect(await hub.process().ended).toEqual({ code: 0, signal: null })
})

test('SIGTERM to `npm start` reaches the hub, and no process remains', async () => {
  const port = await freeTcpPort()
  const npm = await startChild('npm', ['start'], {
    env: {
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
      HUB_HOST: '127.0.0.1',
      HUB_PORT: String(port),
      HUB_HTTPS_PORT: 'off',
      HUB_VPN_BACKEND: 'off',
      HUB_DATA_DIR: await temporaryFolder(),
    },
  })
  cleanups.push(() => npm.stop(0))
  await npm.says(new RegExp(`^Hub: http://.*:${port}$`, 'm'))
  npm.signal('SIGTERM')
  await npm.ended
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed')
})

async function pendingOf(hub: Hub, count: number) {
  const pending = await hub.api(listPendingRegistrations)
  return pending.length === count ? pending : undefined
}

test.each([
  ['HUB_PORT', 'eighty'],
  ['HUB_PORT', '70000'],
  ['HUB_VPN_PORT', '-1'],
  ['HUB_VPN_BACKEND', 'carrier-pigeon'],
  ['HUB_GATEWAY_PORTS', '8199-8100'],
  ['HUB_GATEWAY_ORIGIN', 'https://gateways.example.net'],
  ['HUB_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['HUB_DATABASE_URL', 'mysql://localhost/hub'],
  ['HUB_PROT', '8080'],
])('%s=%s stops the start with code 1 and is named', async (name, value) => {
  const { exit, output } = await startMistaken({ [name]: value })
  expect(exit).toEqual({ code: 1, signal: null })
  expect(output).toContain(name)
  expect(output).not.toMatch(/^\s+at .+:\d+:\d+\)?$/m)
})

test('a missing secret file stops the start, and the error names its variable', async () => {
  const { exit, output } = await startMistaken({ HUB_ADMIN_PASSWORD_FILE: '/nonexistent/password' })
  expect(exit.code).toBe(1)
  expect(output).toContain('HUB_ADMIN_PASSWORD_FILE')
})

test('the first admin’s generated password is printed only at the first start, and works', async () => {
  const hub = await startHub({ isFirstStart: true })
  cleanups.push(() => hub.stop())
  const password = printedPassword(hub.output())
  expect(password).toMatch(/^\S{12,}$/)
  expect(hub.output().split(password!)).toHaveLength(2)

  await hub.restart()
  expect(hub.output()).not.toContain(password)
  expect(printedPassword(hub.output())).toBeUndefined()
  await expect(hub.api(validateSession)).resolves.toMatchObject({ username: 'admin', role: 'admin' })
})

test('HUB_ADMIN_USERNAME and HUB_ADMIN_PASSWORD_FILE name the first admin, and nothing is printed', async () => {
  const password = 'a hedge between two fields'
  const file = join(await temporaryFolder(), 'password')
  await writeFile(file, `${password}\n`)
  const hub = await startHub({
    env: { HUB_ADMIN_USERNAME: 'rosa', HUB_ADMIN_PASSWORD_FILE: file },
    admin: { username: 'rosa', password },
  })
  cleanups.push(() => hub.stop())
  expect(hub.output()).not.toContain(password)
  expect(printedPassword(hub.output())).toBeUndefined()
  await expect(hub.visitor(login, { body: { username: 'rosa', password } })).resolves.toMatchObject({
    user: { username: 'rosa', role: 'admin' },
  })
})

test('at a terminal the first start asks for the first admin’s address, and the hub works meanwhile', async () => {
  const [port, dataDir] = [await freeTcpPort(), await temporaryFolder()]
  const command = [process.execPath, ...HUB_COMMAND].map((word) => `'${word}'`).join(' ')
  // script(1) gives the hub a terminal.
  const person = spawn('script', ['-qfec', command, '/dev/null'], {
    env: {
      ...process.env,
      HUB_HOST: '127.0.0.1',
      HUB_PORT: String(port),
      HUB_HTTPS_PORT: 'off',
      HUB_VPN_BACKEND: 'off',
      HUB_DATA_DIR: dataDir,
    },
  })
  let output = ''
  person.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(person, 'exit')
  cleanups.push(async () => person.kill('SIGHUP') && ended)
  const says = (words: string) => expect.poll(() => output, { timeout: 60_000 }).toContain(words)
  await says('Email (Enter for none): ')
  const beta = async () => (await fetch(`http://127.0.0.1:${port}/beta`)).text()
  expect(await beta()).not.toContain('mailto:')
  person.stdin.write('rosa at farm\n')
  await expect.poll(() => output.split('Email (Enter for none): ').length).toBe(3)
  person.stdin.write('rosa@farm.example\n')
  await says('/beta has the address rosa@farm.example.')
  expect(await beta()).toContain('href="mailto:rosa@farm.example?subject=')
  person.stdin.write('\u0003')
  await ended
})

test('a second hub on the same port says that the port is taken', async () => {
  const hub = await startHub()
  cleanups.push(() => hub.stop())
  const { exit, output } = await startMistaken({ HUB_PORT: String(hub.port), HUB_VPN_BACKEND: 'off' })
  expect(exit.code).toBe(1)
  expect(output).toContain(String(hub.port))
})
