import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type Client } from '@hedgerow/client'
import { createApiAs } from './api-client.ts'
import { startChild, type Child, type ChildOptions, type Exit } from './child-process.ts'
import { freePortRange, freeTcpPort, freeUdpPort } from './free-ports.ts'
import { commandOf, STARTED_DATABASE } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** Node's arguments to start a hub, as in `npm run hub`, systemd and archives. */
export const HUB_COMMAND = commandOf('hedgerow-hub')

export type Credentials = { username: string; password: string }

/** A hub for one test: a real process on the pinned Node, with its own data directory and ports. */
export type Hub = {
  /** `http://localhost:PORT`, so that gateways get origins like `http://gw-ID.localhost:PORT`. */
  readonly url: string
  readonly port: number
  readonly vpnPort: number
  readonly dataDir: string
  /** The first admin: from the environment, or as the hub printed it. */
  readonly admin: Credentials
  /** Calls as the first admin. */
  readonly api: Client
  /** Makes calls without a session. */
  readonly visitor: Client
  apiAs(credentials: Credentials): Client
  /** The running process: its id, its output, and its end. */
  process(): Child
  output(): string
  /** Kills the process without a graceful stop. Its data directory stays. */
  kill9(): Promise<void>
  /** Starts it again on the same data directory and ports, after `kill9` or while it runs. */
  restart(): Promise<void>
  /** Sends SIGTERM and removes its data directory. */
  stop(): Promise<Exit>
}

/** The first admin of `STARTED_DATABASE`. */
export const STARTED_ADMIN: Credentials = { username: 'admin', password: 'a hedge between two fields' }

export type HubOptions = {
  env?: Record<string, string>
  /** Begins without a database; so does a hub that keeps it elsewhere, or whose settings shape what it first holds. */
  isFirstStart?: boolean
  /** The first admin, when `env` names a file for it. */
  admin?: Credentials
  detached?: boolean
  /** A program instead of the sources on this Node, and its first arguments. */
  command?: readonly [string, ...string[]]
  /** How many files and sockets the process may have open (`ulimit -n`). */
  openFiles?: number
}

const SHAPES_A_FIRST_START = /^HUB_(?:ADMIN|DATA|VPN_ENDPOINT|PUBLIC_URL|GATEWAY_ORIGIN)/

/**
 * Whether the hub takes the database of one that has started, where `TEST_STARTED_HUBS` is on: tables, certificates and
 * the first admin's hash are a third of the processor time of a first start.
 */
function takesStarted({ env = {}, command, isFirstStart = false }: HubOptions): boolean {
  const isShaped = Object.keys(env).some((name) => SHAPES_A_FIRST_START.test(name))
  return process.env['TEST_STARTED_HUBS'] === 'on' && command === undefined && !isFirstStart && !isShaped
}

export async function startHub(options: HubOptions = {}): Promise<Hub> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-hub-'))
  const port = options.env?.HUB_PORT ? Number(options.env.HUB_PORT) : await freeTcpPort()
  const vpnPort = options.env?.HUB_VPN_PORT ? Number(options.env.HUB_VPN_PORT) : await freeUdpPort()
  const gatewayPorts = await freePortRange(10)
  const env = {
    HUB_HOST: '127.0.0.1',
    HUB_PORT: String(port),
    HUB_HTTPS_PORT: 'off',
    HUB_DATA_DIR: dataDir,
    HUB_VPN_PORT: String(vpnPort),
    HUB_VPN_ENDPOINT_HOST: '127.0.0.1',
    HUB_GATEWAY_PORTS: `${gatewayPorts.first}-${gatewayPorts.last}`,
    // Allows a run with another build of the portal than the tree's.
    ...(process.env.HUB_WEB_DIR ? { HUB_WEB_DIR: process.env.HUB_WEB_DIR } : {}),
    ...options.env,
  }
  const url = `http://localhost:${port}`
  const start = () => startReadyHub({ env, detached: options.detached ?? false }, port, options)
  const hasStarted = takesStarted(options)
  if (hasStarted) await copyFile(STARTED_DATABASE, join(dataDir, 'hub.sqlite'))
  let child = await start()
  const admin = options.admin ?? (hasStarted ? STARTED_ADMIN : await adminOf(env, child))
  const api = createApiAs(url, admin)

  const stop = async () => {
    const exit = child.hasEnded() ? await child.ended : await child.stop()
    await rm(dataDir, { recursive: true, force: true })
    return exit
  }
  return {
    url,
    port,
    vpnPort,
    dataDir,
    admin,
    api,
    visitor: createClient(url),
    apiAs: (credentials) => createApiAs(url, credentials),
    process: () => child,
    output: () => child.output(),
    async kill9() {
      child.signal('SIGKILL')
      await child.ended
    },
    async restart() {
      if (!child.hasEnded()) await child.stop()
      child = await start()
    },
    stop,
  }
}

async function startReadyHub(
  options: ChildOptions,
  port: number,
  { command: [program, ...args] = [process.execPath, ...HUB_COMMAND], openFiles }: HubOptions,
): Promise<Child> {
  const child =
    openFiles === undefined
      ? await startChild(program, args, options)
      : await startChild('sh', ['-c', 'ulimit -n "$0" && exec "$@"', String(openFiles), program, ...args], options)
  const ready = async () => child.hasEnded() || (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  await waitFor(ready, { for: 'the hub to be ready', timeoutMs: 60_000 }).catch(async (cause: unknown) => {
    await child.stop(0)
    throw new Error(`The hub did not become ready. It said:\n${child.output()}`, { cause })
  })
  if (child.hasEnded()) throw new Error(`The hub ended at its start. It said:\n${child.output()}`)
  return child
}

async function adminOf(env: Record<string, string>, child: Child): Promise<Credentials> {
  if (env.HUB_ADMIN_PASSWORD) return { username: env.HUB_ADMIN_USERNAME ?? 'admin', password: env.HUB_ADMIN_PASSWORD }
  // A hub in a container can be ready before its runtime has passed the output on.
  const [, password] = await child.says(PRINTED_PASSWORD).catch(async (cause: unknown) => {
    await child.stop(0)
    throw cause
  })
  return { username: env.HUB_ADMIN_USERNAME ?? 'admin', password: password! }
}

const PRINTED_PASSWORD = /^ *Password: (\S+)\n/m

/** The generated password of the first admin in a hub's output. */
export function printedPassword(output: string): string | undefined {
  return PRINTED_PASSWORD.exec(output)?.[1]
}
