/**
 * Two ways to one nginx behind wireguard-go in a namespace, like that of a device with plain WireGuard: through a hub,
 * a process of its own on the host, and through a second nginx over a second wireguard-go in a second namespace. Needs
 * root, and `wrk`, nginx, wireguard-go and wireguard-tools of Debian; with its caddy, a third way replaces the second
 * nginx.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addGateway, GATEWAY_PORT, gatewayVpnConfig } from '@hedgerow/contract'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import { startChild, type Child } from '../test/harness/child-process.ts'
import { openGatewayUi } from '../test/harness/gateway-ui-client.ts'
import { HUB_COMMAND, startHub, type Hub } from '../test/harness/hub.ts'
import { createNetworkNamespace, type NetworkNamespace } from '../test/harness/network-namespace.ts'
import { missingPrivilege } from '../test/harness/privileges.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { openWireGuardGo } from '../test/harness/wireguard-go.ts'
import type { LoadTask } from './proxy-load.ts'
import { APPLICATION_PORT } from './proxy-far-end.ts'
import { cable, DIRECT_SERVER } from './tunnel-pair.ts'
import { wrkScript, type WrkResult, type WrkTask } from './proxy-wrk.ts'

const execute = promisify(execFile)
const SUBNET = '10.79.1'
const [SERVER, LINUX] = [`${SUBNET}.1`, `${SUBNET}.2`]
const [SERVER_DEVICE, CLIENT_DEVICE] = [`hps${process.pid}`, `hpc${process.pid}`]
const VPN_PORT = 51_820
const NGINX_PORT = 8_080
const CADDY_PORT = 8_081
/** A session may have 256 requests at once: six sessions suffice for 1,000 streams and some more requests. */
const SESSIONS = 6
/** In memory, so that no disk is measured. */
const FOLDERS = '/dev/shm'

const DOWNLOAD_BYTES = 64 << 20
export const UPLOAD_BYTES = 2 << 20
const PAGE_BYTES = 1_000

/** One way to the page: the port of the requests, and the processes that run for it. */
export type Route = {
  /** The processes of its near end. */
  pids: readonly number[]
  wrk(task: WrkTask): Promise<WrkResult>
  /** Starts the load process; returns its results. */
  load(task: Omit<LoadTask, 'port' | 'host' | 'cookies'>): Promise<Child>
}

export type ProxyPair = {
  hub: Hub
  throughHub: Route
  throughNginx: Route
  /** Undefined where Caddy is not installed. */
  throughCaddy: Route | undefined
  remove(): Promise<void>
}

/** Throws a sentence that says what this machine lacks. */
export async function openProxyPair(hubFlags: readonly string[]): Promise<ProxyPair> {
  const commands = ['ip', 'wg', 'wireguard-go', 'nginx', 'wrk'].map((name) => `command ${name}` as const)
  const missing = missingPrivilege('root', 'tun', ...commands)
  if (missing !== undefined) throw new Error(`This bench compares with nginx over wireguard-go, and here ${missing}.`)
  const folder = await mkdtemp(join(FOLDERS, 'hedgerow-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })]
  const remove = async (): Promise<void> => {
    for (const stop of stops.toReversed()) await stop()
  }
  try {
    const [server, client] = [await createNetworkNamespace(), await createNetworkNamespace()]
    stops.push(server.remove, client.remove)
    await cable(server, client)
    const hub = await startHub({
      env: { HUB_MAX_CONNECTIONS_PER_ADDRESS: '4000', HUB_LOG_LEVEL: 'warn' },
      command: [process.execPath, ...hubFlags, ...HUB_COMMAND],
    })
    stops.push(hub.stop)
    const { gatewayId, device } = await joinTunnels(hub, { server, client, folder })
    await startFarEnd(server, folder)
    const nginx = await startReference(client, folder)
    const caddy = await startCaddy(client, folder)

    const pages = await Promise.all(
      Array.from({ length: SESSIONS }, () => openGatewayUi(hub.url, hub.apiAs(hub.admin), gatewayId)),
    )
    const host = new URL(pages[0]!.origin).host
    const cookies = pages.map(({ cookie }) => cookie)
    const isServed = async () => (await pages[0]!.send('/page')).status === 200
    await waitFor(isServed, { for: 'the page through the hub' })
    await waitFor(() => client.run('wg', ['show', CLIENT_DEVICE, 'latest-handshakes']), { for: 'the reference' })
    const routeBy = (port: number, pids: readonly number[], prefix: readonly string[] = []): Route => ({
      pids,
      async wrk(task) {
        const script = join(folder, 'script.lua')
        await writeFile(script, wrkScript(task, { host, cookies }))
        const [command, ...args] = [...prefix, 'wrk', '-t', '1', '-c', String(task.connections)]
        const timing = ['-d', `${task.seconds}s`, '--timeout', '10s', '-s', script, `http://127.0.0.1:${port}`]
        const { stdout } = await execute(command!, [...args, ...timing])
        return JSON.parse(/^result (.*)$/m.exec(stdout)![1]!) as WrkResult
      },
      load(task) {
        const whole: LoadTask = { ...task, port, host, cookies }
        const script = join(import.meta.dirname, 'proxy-load.ts')
        const [command, ...args] = [...prefix, process.execPath, script, JSON.stringify(whole)]
        return startChild(command!, args)
      },
    })
    const inClient = ['ip', 'netns', 'exec', client.name]
    return {
      hub,
      throughHub: routeBy(hub.port, [hub.process().pid]),
      throughNginx: routeBy(NGINX_PORT, [nginx.pid, device.pid], inClient),
      throughCaddy: caddy && routeBy(CADDY_PORT, [caddy.pid, device.pid], inClient),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

type Ends = { server: NetworkNamespace; client: NetworkNamespace; folder: string }

/** One wireguard-go at the far end for the hub's tunnel, with the hub's configuration, and one for the reference's. */
async function joinTunnels(hub: Hub, { server, client, folder }: Ends) {
  const { id } = await hub.api(addGateway, { body: { name: 'Bench', location: '', description: '' } })
  const { config } = await hub.api(gatewayVpnConfig, { params: { id } })
  const value = (key: string): string => new RegExp(`^${key} = (\\S+)$`, 'm').exec(config)![1]!
  const reference = generateKeyPair()
  const far = { privateKey: value('PrivateKey'), publicKey: '' }
  const devices: Child[] = []
  for (const [namespace, device, privateKey, address] of [
    [server, SERVER_DEVICE, far.privateKey, SERVER],
    [client, CLIENT_DEVICE, reference.privateKey, LINUX],
  ] as const) {
    const keyFile = join(folder, address)
    await writeFile(keyFile, privateKey, { mode: 0o600 })
    devices.push(await openWireGuardGo(namespace, { device, keyFile, port: VPN_PORT, address }))
    await namespace.run('ip', ['route', 'replace', `${SUBNET}.0/24`, 'dev', device, 'congctl', 'cubic'])
  }
  far.publicKey = (await server.run('wg', ['show', SERVER_DEVICE, 'public-key'])).trim()
  const presharedKey = join(folder, 'psk')
  await writeFile(presharedKey, value('PresharedKey'), { mode: 0o600 })
  const [hubAddress] = value('AllowedIPs').split(',')
  const hubPeer = ['peer', value('PublicKey'), 'preshared-key', presharedKey, 'allowed-ips', hubAddress!]
  const hubEndpoint = ['endpoint', `${server.hostAddress}:${hub.vpnPort}`, 'persistent-keepalive', '25']
  await server.run('ip', ['address', 'add', value('Address'), 'dev', SERVER_DEVICE])
  await server.run('ip', ['route', 'replace', hubAddress!, 'dev', SERVER_DEVICE, 'congctl', 'cubic'])
  await server.run('wg', ['set', SERVER_DEVICE, 'peer', reference.publicKey, 'allowed-ips', `${LINUX}/32`])
  await server.run('wg', ['set', SERVER_DEVICE, ...hubPeer, ...hubEndpoint])
  const endpoint = `${DIRECT_SERVER}:${VPN_PORT}`
  await client.run('wg', [
    'set',
    CLIENT_DEVICE,
    'peer',
    far.publicKey,
    'allowed-ips',
    `${SERVER}/32`,
    'endpoint',
    endpoint,
  ])
  return { gatewayId: id, device: devices[1]! }
}

/** nginx with a small page, a large file, a place for uploads, and a program with WebSockets and event streams. */
async function startFarEnd(server: NetworkNamespace, folder: string): Promise<void> {
  const root = join(folder, 'www')
  await mkdir(root)
  await writeFile(join(root, 'page'), 'x'.repeat(PAGE_BYTES))
  await writeFile(join(root, 'large'), Buffer.alloc(DOWNLOAD_BYTES, 'x'))
  const program = await server.start(process.execPath, [join(import.meta.dirname, 'proxy-far-end.ts')])
  await program.says(/listening/)
  await startNginx(
    server,
    join(folder, 'far'),
    `map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
     server {
       listen ${GATEWAY_PORT};
       root ${root};
       client_max_body_size 0;
       location /upload { dav_methods PUT; create_full_put_path on; }
       location /program/ {
         proxy_pass http://127.0.0.1:${APPLICATION_PORT};
         proxy_http_version 1.1;
         proxy_buffering off;
         proxy_set_header Upgrade $http_upgrade;
         proxy_set_header Connection $connection_upgrade;
       }
     }`,
  )
}

const UPGRADE = 'proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection;'

/** A common reverse proxy: it keeps connections and streams bodies. */
async function startReference(client: NetworkNamespace, folder: string): Promise<Child> {
  const server = (location: string, settings: string): string => `
    location ${location} {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      ${settings}
    }`
  return startNginx(
    client,
    join(folder, 'reference'),
    `upstream gateway { server ${SERVER}:${GATEWAY_PORT}; keepalive 512; }
     server {
       listen 127.0.0.1:${NGINX_PORT};
       client_max_body_size 0;
       proxy_request_buffering off;
       proxy_max_temp_file_size 0;
       ${server('/', "proxy_set_header Connection '';")}
       ${server('/program/', `proxy_buffering off; ${UPGRADE}`)}
     }`,
  )
}

/** What people pick, as it is but for as many kept connections. */
async function startCaddy(client: NetworkNamespace, folder: string): Promise<Child | undefined> {
  const missing = missingPrivilege('command caddy')
  if (missing !== undefined) {
    console.log('skipped: Caddy (apt-get install caddy)')
    return undefined
  }
  const file = join(folder, 'Caddyfile')
  await writeFile(
    file,
    `{
       admin off
     }
     :${CADDY_PORT} {
       bind 127.0.0.1
       reverse_proxy ${SERVER}:${GATEWAY_PORT} {
         transport http {
           keepalive_idle_conns 512
           keepalive_idle_conns_per_host 512
         }
       }
     }`,
  )
  const child = await client.start('caddy', ['run', '--adapter', 'caddyfile', '--config', file])
  await listens(child, client, CADDY_PORT)
  return child
}

async function startNginx(namespace: NetworkNamespace, folder: string, servers: string): Promise<Child> {
  await mkdir(folder)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  // Debian's nginx gives up root for a user of its own, which needs access to the folder.
  await writeFile(
    file,
    `user root; daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${folder}/nginx.pid;
    error_log stderr warn;
     events { worker_connections 8000; }
     http { access_log off; sendfile on; tcp_nodelay on; ${temporary.join(' ')} ${servers} }`,
  )
  await chmod(folder, 0o755)
  const child = await namespace.start('nginx', ['-p', folder, '-e', 'stderr', '-c', file])
  await listens(child, namespace, NGINX_PORT)
  return child
}

async function listens(child: Child, namespace: NetworkNamespace, port: number): Promise<void> {
  await waitFor(async () => child.hasEnded() || (await namespace.run('ss', ['-ltn'])).includes(`:${port}`), {
    for: `port ${port}`,
  })
  if (child.hasEnded()) throw new Error(`The server of port ${port} ended: ${child.output()}`)
}
