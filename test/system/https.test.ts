import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  approveRegistration,
  listCertificates,
  listGateways,
  login,
  listPendingRegistrations,
} from '@hedgerow/contract'
import { afterEach, expect, test } from 'vitest'
import { AGENT_COMMAND } from '../harness/agent.ts'
import { startChild } from '../harness/child-process.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { HUB_COMMAND, startHub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start() {
  const httpsPort = await freeTcpPort()
  const hub = await startHub({ env: { HUB_HTTPS_PORT: String(httpsPort) } })
  cleanups.push(() => hub.stop())
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-https-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return { hub, httpsPort, folder }
}

async function startAgent(httpsPort: number, folder: string, env: Record<string, string>) {
  const flags = ['--hub', `https://localhost:${httpsPort}`, '--name', 'Gate', '--data', folder, '--port', '0']
  const agent = await startChild(process.execPath, [...AGENT_COMMAND, ...flags], {
    env: { GATEWAY_HOST: '127.0.0.1', ...env },
  })
  cleanups.push(() => agent.stop())
  return agent
}

test("a gateway enrols over https with the hub's own CA, and not without it", async () => {
  const { hub, httpsPort, folder } = await start()
  const stranger = await startAgent(httpsPort, join(folder, 'stranger'), {})
  await stranger.says(/hub found: failed/)
  expect(stranger.output()).toContain('GATEWAY_HUB_CA_FILE')

  const [ca] = await hub.api(listCertificates)
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, ca!.pem)
  await startAgent(httpsPort, join(folder, 'gate'), { GATEWAY_HUB_CA_FILE: caFile })
  const pending = await waitFor(
    async () => {
      const waiting = await hub.api(listPendingRegistrations)
      return waiting.length === 1 ? waiting : undefined
    },
    { for: 'the registration' },
  )
  await hub.api(approveRegistration, { params: { registrationId: pending[0]!.registrationId } })
  await waitFor(async () => (await hub.api(listGateways))[0]?.status === 'online', {
    for: 'the gateway to be online',
  })
})

test('live events also work over https, by HTTP/1.1 and HTTP/2, and SIGTERM ends such streams gracefully', async () => {
  const { hub, httpsPort } = await start()
  const [ca] = await hub.api(listCertificates)
  const signedIn = await hub.visitor(login, { body: hub.admin })
  if (!('accessToken' in signedIn)) throw new Error('a second factor is requested')
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({
      host: '127.0.0.1',
      servername: 'localhost',
      port: httpsPort,
      path: '/api/v1/hub/events',
      ca: ca!.pem,
      headers: { authorization: `Bearer ${signedIn.accessToken}` },
    })
      .on('response', resolve)
      .on('error', reject)
      .end()
  })
  expect(response.statusCode).toBe(200)
  response.resume()
  const session = connectHttp2(`https://localhost:${httpsPort}`, { ca: ca!.pem })
  const stream = session.request({
    ':path': '/api/v1/hub/events',
    authorization: `Bearer ${signedIn.accessToken}`,
  })
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  expect(headers).toMatchObject({ ':status': 200, 'content-type': expect.stringContaining('text/event-stream') })
  stream.resume()
  const streamEnded = once(stream, 'end')
  const ended = new Promise((resolve) => response.once('end', resolve))
  hub.process().signal('SIGTERM')
  // A stream that the hub cuts after its grace time is aborted and does not end like this.
  await ended
  await streamEnded
  expect(stream.rstCode).toBe(0)
  expect(await hub.process().ended).toEqual({ code: 0, signal: null })
})

test('a busy HTTPS port stops the start, and the error names its variable', async () => {
  const { hub, httpsPort, folder } = await start()
  expect(hub.output()).toContain(`https://localhost:${httpsPort}`)
  const second = await startChild(process.execPath, HUB_COMMAND, {
    env: {
      HUB_HOST: '127.0.0.1',
      HUB_PORT: String(await freeTcpPort()),
      HUB_HTTPS_PORT: String(httpsPort),
      HUB_VPN_BACKEND: 'off',
      HUB_DATA_DIR: folder,
    },
  })
  cleanups.push(() => second.stop(0))
  expect(await second.ended).toEqual({ code: 1, signal: null })
  expect(second.output()).toContain(`Port ${httpsPort} is already in use`)
  expect(second.output()).toContain('HUB_HTTPS_PORT')
  expect(second.output(), 'the next start shows one').not.toContain('Password')
  const third = await startChild(process.execPath, HUB_COMMAND, {
    env: {
      HUB_HOST: '127.0.0.1',
      HUB_PORT: String(await freeTcpPort()),
      HUB_HTTPS_PORT: 'off',
      HUB_VPN_BACKEND: 'off',
      HUB_DATA_DIR: folder,
    },
  })
  cleanups.push(() => third.stop())
  await third.says(/Password: \S+\n[^]*Hub: /)
})
