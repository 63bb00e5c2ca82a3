import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approveRegistration, listPendingRegistrations, renewCertificate } from '@hedgerow/contract'
import type { Answer } from 'dns-packet'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { issueAuthority, issueServerCertificate } from '../../apps/hub/src/certificates/issue.ts'
import { startGateway, type Gateway, type GatewayOptions } from '../../apps/gateway/src/gateway.ts'
import { startDnsServer, type DnsServer } from '../harness/dns-server.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const SERVICE = '_hedgerow._tcp.example.test'
/** Not among the names of the hub's certificate: a pinned key is valid for any name. */
const HUB_NAME = 'hub.example.test'

describe('a device with only a domain, and a hub with a certificate of its own CA', () => {
  let hub: Hub
  let httpsPort: number
  let hubFingerprint: string
  let dns: DnsServer
  let dataDir: string
  let gateway: Gateway | undefined

  beforeAll(async () => {
    httpsPort = await freeTcpPort()
    hub = await startHub({ env: { HUB_HTTPS_PORT: String(httpsPort) } })
    dns = await startDnsServer(zone(hub.port, 'scheme=http'))
    dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-zero-touch-'))
    await start()
    await registered()
    hubFingerprint = gateway!.state().hubFingerprint!
    await end()
  })
  afterAll(() => Promise.all([hub.stop(), dns.stop()]))
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-zero-touch-'))
  })
  afterEach(end)

  async function end(): Promise<void> {
    await gateway?.stop()
    gateway = undefined
    await rm(dataDir, { recursive: true, force: true })
  }

  function zone(port: number, ...hints: string[]): Answer[] {
    return [
      { type: 'SRV', name: SERVICE, data: { target: HUB_NAME, port, priority: 10, weight: 60 } },
      { type: 'A', name: HUB_NAME, data: '127.0.0.1' },
      ...hints.map((data): Answer => ({ type: 'TXT', name: SERVICE, data: [data] })),
    ]
  }

  async function start(options: Partial<GatewayOptions> = {}): Promise<void> {
    gateway = await startGateway({
      name: 'Out of the box',
      dataDir,
      host: '127.0.0.1',
      port: 0,
      hubDomain: 'example.test',
      searchDomains: [],
      dnsServers: [dns.address],
      log: pino({ level: 'silent' }),
      pace: { retryFirstMs: 100, retryMaxMs: 200 },
      ...options,
    })
  }
  const conditionOf = (step: string) => gateway!.state().conditions.find((condition) => condition.step === step)!
  const registered = () => waitFor(() => conditionOf('registered').state === 'done', { for: 'the registration' })
  const failure = async () => {
    await waitFor(() => conditionOf('hubFound').state === 'failed', { for: 'the search to fail' })
    return conditionOf('hubFound').detail
  }

  test('an SRV line to the HTTP port names the missing TXT line', async () => {
    dns.serve(zone(hub.port))
    await start()
    expect(await failure()).toBe(
      `https://${HUB_NAME}:${hub.port}: it does not speak TLS: add the zone line ${SERVICE}. TXT "scheme=http", ` +
        "or let the SRV line name the hub's HTTPS port (8443 unless it was changed)",
    )
    dns.serve(zone(hub.port, 'scheme=http'))
    await registered()
  })

  test('an SRV line to the HTTPS port without a pin names the line that pins it; the device then joins', async () => {
    dns.serve(zone(httpsPort))
    await start()
    expect(await failure()).toContain(
      `add the zone line ${SERVICE}. TXT "fp=FINGERPRINT" with the hub's fingerprint, or name the CA in ` +
        'GATEWAY_HUB_CA_FILE',
    )
    dns.serve(zone(httpsPort, `fp=${hubFingerprint}`))
    await registered()
    expect(gateway!.state()).toMatchObject({ hubUrl: `https://${HUB_NAME}:${httpsPort}`, hubFingerprint })
    const pending = await hub.api(listPendingRegistrations)
    expect(pending.map(({ fingerprint }) => fingerprint)).toContain(gateway!.state().fingerprint)
  })

  test('scheme=http beside the HTTPS port says which line to remove', async () => {
    dns.serve(zone(httpsPort, 'scheme=http'))
    await start()
    expect(await failure()).toContain(`remove the zone line ${SERVICE}. TXT "scheme=http"`)
  })

  test('a closed port, a target without address and a missing record name their lines', async () => {
    dns.serve(zone(await freeTcpPort()))
    await start()
    expect(await failure()).toContain("the SRV line must name the hub's port: 8443 for HTTPS")
    dns.serve(zone(hub.port).filter(({ type }) => type !== 'A'))
    await waitFor(() => conditionOf('hubFound').detail.includes(`add the zone line ${HUB_NAME}. A ADDRESS`), {
      for: 'the missing address to be named',
    })
    dns.serve([])
    await waitFor(() => conditionOf('hubFound').detail.includes(`add the zone line ${SERVICE}. SRV 10 60 8443`), {
      for: 'the missing record to be named',
    })
  })

  test('GATEWAY_HUB_FINGERPRINT pins it too, also for an address', async () => {
    await start({ hubUrl: new URL(`https://localhost:${httpsPort}`), hubFingerprint })
    await registered()
    await end()
    dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-zero-touch-'))
    await start({ hubUrl: new URL(`https://127.0.0.1:${httpsPort}`) })
    expect(await failure()).toContain("set GATEWAY_HUB_FINGERPRINT to the hub's fingerprint")
  })

  test('a certificate that the hub renews is accepted in the next session', async () => {
    dns.serve(zone(httpsPort, `fp=${hubFingerprint}`))
    await start()
    await registered()
    await hub.api(renewCertificate, { params: { id: 'hub-tls' } })
    await gateway!.stop()
    await start()
    await registered()
    expect(gateway!.state().hubUrl).toBe(`https://${HUB_NAME}:${httpsPort}`)
  })

  test('an attacker with another certificate is refused and gets only public keys', async () => {
    const between = await startManInTheMiddle(httpsPort)
    try {
      dns.serve(zone(between.port, `fp=${hubFingerprint}`))
      await start()
      expect(await failure()).toContain('The right hub answers, but the TLS certificate is not its own')
      expect(conditionOf('registered').state).toBe('waiting')
      const requests = between.read().match(/^POST \S+/gm)!
      expect(new Set(requests)).toEqual(new Set(['POST /api/v1/gateway/register/challenge']))
      expect(between.read()).not.toContain('deviceName')
      expect(between.read()).not.toContain('sealed')
      // The same device joins without the attacker.
      dns.serve(zone(httpsPort, `fp=${hubFingerprint}`))
      await registered()
    } finally {
      await between.stop()
    }
  })

  test('a relay that forwards is accepted; once it intercepts, the open session sends it nothing', async () => {
    const between = await startManInTheMiddle(httpsPort)
    const relay = await startRelay(httpsPort)
    try {
      dns.serve(zone(relay.port, `fp=${hubFingerprint}`))
      await start({ pace: { retryFirstMs: 100, retryMaxMs: 200, approvedRecheckMs: 50 } })
      await registered()
      const { fingerprint } = gateway!.state()
      const pending = (await hub.api(listPendingRegistrations)).find((one) => one.fingerprint === fingerprint)!
      await hub.api(approveRegistration, { params: { registrationId: pending.registrationId } })
      await waitFor(() => conditionOf('approved').state === 'done', { for: 'the approval' })
      relay.leadTo(between.port)
      await waitFor(() => conditionOf('hubFound').state === 'failed', { for: 'the session to break' })
      expect(conditionOf('hubFound').detail).toContain('the TLS certificate is not its own')
      expect(between.read()).not.toContain('/status')
      expect(between.read()).not.toContain('x-gateway-signature')
    } finally {
      await relay.stop()
      await between.stop()
    }
  })

  test('a hub that does not sign its certificate, such as an older one, needs the CA', async () => {
    const other = await startHub()
    const between = await startManInTheMiddle(other.port, (port) => connect({ host: '127.0.0.1', port }))
    try {
      dns.serve(zone(other.port, 'scheme=http'))
      await start()
      await registered()
      await gateway!.stop()
      dns.serve(zone(between.port))
      await start()
      expect(await failure()).toContain('the hub did not sign it (an older hub, or a proxy in front of it)')
    } finally {
      await between.stop()
      await other.stop()
    }
  })
})

const overTls = (port: number) => connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })

/** Terminates TLS with a certificate of its own, reads everything, and forwards it to the hub and back. */
async function startManInTheMiddle(hubPort: number, reach: (port: number) => Socket = overTls) {
  const authority = await issueAuthority(Date.now())
  const { certificate, privateKey } = await issueServerCertificate(authority, [HUB_NAME, 'localhost'], Date.now())
  const sockets = new Set<Socket>()
  let read = ''
  const server = createTlsServer({ cert: certificate, key: privateKey }, (socket) => {
    const onward = reach(hubPort)
    for (const one of [socket, onward]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        socket.destroy()
        onward.destroy()
      })
    }
    socket.on('data', (chunk: Buffer) => (read += chunk.toString('latin1')))
    socket.pipe(onward).pipe(socket)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    read: () => read,
    async stop() {
      for (const socket of sockets) socket.destroy()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

/** Forwards bytes, to the hub at first. */
async function startRelay(firstPort: number) {
  let target = firstPort
  const server = createServer((socket) => {
    const onward = connect({ host: '127.0.0.1', port: target })
    for (const one of [socket, onward])
      one
        .on('error', () => {})
        .on('close', () => {
          socket.destroy()
          onward.destroy()
        })
    socket.pipe(onward).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port: number) => (target = port),
    async stop() {
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
