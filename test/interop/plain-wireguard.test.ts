import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addGateway, gatewayVpnConfig, GATEWAY_PORT, listGateways } from '@hedgerow/contract'
import type { Child } from '../harness/child-process.ts'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { createNetworkNamespace, type NetworkNamespace } from '../harness/network-namespace.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'
import { parseWgQuick } from '../harness/wg-quick.ts'
import { startWireGuardGo } from '../harness/wireguard-go.ts'

const DOWNLOAD = randomBytes(3 * 1024 * 1024)

const isSkipped = skipWithout(
  'a device with plain WireGuard',
  'root',
  'tun',
  'command ip',
  'command wg',
  'command wireguard-go',
  'command nginx',
)

describe.skipIf(isSkipped)('a device with plain WireGuard', () => {
  let namespace: NetworkNamespace
  let hub: Hub
  let gatewayId: string
  let address: string
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hedgerow-nginx-'))
    namespace = await createNetworkNamespace()
    hub = await startHub({ env: { HUB_VPN_ENDPOINT_HOST: namespace.hostAddress } })
  })

  afterAll(async () => {
    await hub?.stop()
    await namespace?.remove()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  const vpnConfig = async () => (await hub.api(gatewayVpnConfig, { params: { id: gatewayId } })).config
  const listed = async () => (await hub.api(listGateways)).find(({ id }) => id === gatewayId)

  test('joins the tunnel with the configuration from the hub', async () => {
    const added = await hub.api(addGateway, { body: { name: 'Orchard router', location: 'North', description: '' } })
    gatewayId = added.id
    address = added.vpnInternalIp
    expect(added).toMatchObject({ kind: 'wireguard', status: 'offline' })

    const config = await vpnConfig()
    expect(config).toMatch(/^PrivateKey = [A-Za-z0-9+/]{43}=$/m)
    expect(config).toContain(`Endpoint = ${namespace.hostAddress}:${hub.vpnPort}`)

    await startNginx(namespace, folder)
    await joinTunnel(namespace, folder, config)
    const reason = await waitFor(
      async () => {
        const { status, statusReason } = (await listed())!
        return status === 'offline' ? undefined : statusReason
      },
      { for: 'the first handshake' },
    )
    expect(reason).toMatch(/^VPN handshake \d+ s ago/)
  })

  test('serves its own pages through the gateway UI', async () => {
    const ui = await openGatewayUi(hub.url, hub.api, gatewayId)
    expect(ui.origin).toBe(`http://gw-${gatewayId}.localhost:${hub.port}`)

    const page = await ui.send('/')
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.text).toContain('The orchard router answers')
    expect(page.text).toContain(`at ${address}`)
  })

  test('a download of 3 MiB arrives unchanged', async () => {
    const ui = await openGatewayUi(hub.url, hub.api, gatewayId)
    const { status, body } = await ui.send('/download')
    expect(status).toBe(200)
    expect(sha256(body)).toBe(sha256(DOWNLOAD))
  })

  test('an upload of 3 MiB arrives unchanged', async () => {
    const ui = await openGatewayUi(hub.url, hub.api, gatewayId)
    const put = await ui.send('/files/upload', { method: 'PUT', body: DOWNLOAD })
    expect(put.status).toBe(201)
    expect(sha256((await ui.send('/files/upload')).body)).toBe(sha256(DOWNLOAD))
  })

  test('the hub deletes the private key after the first handshake', async () => {
    const config = await waitFor(async () => /^PrivateKey = <.*>$/m.exec(await vpnConfig())?.[0], {
      for: 'the private key to be forgotten',
    })
    expect(config).toBe('PrivateKey = <kept on the gateway>')
  })

  test('is back after the hub was killed and started again, without any change on the device', async () => {
    await hub.kill9()
    await hub.restart()
    const page = await waitFor(
      async () => {
        const answer = await (await openGatewayUi(hub.url, hub.api, gatewayId)).send('/')
        return answer.status === 200 ? answer.text : undefined
      },
      { for: 'the page through the tunnel' },
    )
    expect(page).toContain('The orchard router answers')
  })

  test('counts as online, because the hub checks its /api/health through the tunnel', async () => {
    await waitFor(async () => (await listed())?.status === 'online', { for: 'the check of 30 s', timeoutMs: 120_000 })
    expect((await listed())!.statusReason).toMatch(/\/api\/health answers$/)
  })
})

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The effect of `wg-quick up`, on wireguard-go. */
async function joinTunnel(namespace: NetworkNamespace, folder: string, text: string): Promise<Child> {
  const name = `wg${randomBytes(3).toString('hex')}`
  const config = parseWgQuick(text)
  const ip = (...args: string[]) => namespace.run('ip', args)
  const child = await startWireGuardGo(namespace, name)
  const file = join(folder, `${name}.conf`)
  await writeFile(file, config.setconf, { mode: 0o600 })
  await namespace.run('wg', ['setconf', name, file])
  for (const own of config.addresses) await ip('address', 'add', own, 'dev', name)
  await ip('link', 'set', name, 'mtu', config.mtu ?? '1420', 'up')
  for (const range of config.allowedIps) await ip('route', 'replace', range, 'dev', name)
  return child
}

/** A typical device's web server: it listens on every address of the namespace. */
async function startNginx(namespace: NetworkNamespace, folder: string): Promise<Child> {
  await writeFile(join(folder, 'download'), DOWNLOAD)
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {}
     http {
       access_log off;
       client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
       uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
       client_max_body_size 10m;
       server {
         listen ${GATEWAY_PORT};
         location = / { default_type text/html; return 200 "<h1>The orchard router answers</h1> at $server_addr"; }
         location = /api/health { default_type application/json; return 200 '{"status":"ok"}'; }
         location = /download { root ${folder}; }
         location /files/ { alias ${folder}/files/; dav_methods PUT; create_full_put_path on; }
       }
     }`,
  )
  const child = await namespace.start('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')])
  await waitFor(
    async () => {
      await namespace.run('bash', ['-c', `: < /dev/tcp/127.0.0.1/${GATEWAY_PORT}`])
      return true
    },
    { for: 'nginx to listen' },
  )
  return child
}
