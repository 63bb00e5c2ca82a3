/**
 * Two ways to one server on Linux's TCP behind wireguard-go in a namespace: from our WireGuard and TCP on the host, and
 * from Linux's TCP over a second wireguard-go in a second namespace. Needs root. All Linux ends use CUBIC, whatever the
 * machine's default is, so that all follow the same rules.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import type { Child } from '../test/harness/child-process.ts'
import { createNetworkNamespace, type NetworkNamespace } from '../test/harness/network-namespace.ts'
import { missingPrivilege } from '../test/harness/privileges.ts'
import { openWireGuardGo } from '../test/harness/wireguard-go.ts'
import type { ClientResult, ClientTask, Measurement } from './tunnel-client.ts'

const execute = promisify(execFile)
const SUBNET = '10.79.0'
const SERVER = `${SUBNET}.1`
const LINUX = `${SUBNET}.2`
const OURS = `${SUBNET}.3`
const [SERVER_DEVICE, CLIENT_DEVICE] = [`hgs${process.pid}`, `hgc${process.pid}`]
const PORT = 51_820
/** Connects the two namespaces without the host in between. */
export const [DIRECT_SERVER, DIRECT_CLIENT] = ['198.19.0.1', '198.19.0.2']

const script = (name: string): string => join(import.meta.dirname, name)

export type TunnelPair = {
  linux(measurement: Measurement): Promise<ClientResult>
  ours(measurement: Measurement): Promise<ClientResult>
  remove(): Promise<void>
}

/** Throws a sentence that says what this machine lacks. */
export async function openTunnelPair(): Promise<TunnelPair> {
  const missing = missingPrivilege('root', 'tun', 'command ip', 'command wg', 'command wireguard-go')
  if (missing !== undefined) throw new Error(`This bench compares with Linux over wireguard-go, and here ${missing}.`)
  const directory = await mkdtemp(join(tmpdir(), 'hedgerow-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true })]
  const remove = async (): Promise<void> => {
    for (const stop of stops.toReversed()) await stop()
  }
  try {
    const [server, client] = [await createNetworkNamespace(), await createNetworkNamespace()]
    stops.push(server.remove, client.remove)
    const keys = { server: generateKeyPair(), linux: generateKeyPair(), ours: generateKeyPair() }
    await cable(server, client)
    const devices: Child[] = []
    for (const [namespace, device, pair, address] of [
      [server, SERVER_DEVICE, keys.server, SERVER],
      [client, CLIENT_DEVICE, keys.linux, LINUX],
    ] as const) {
      const keyFile = join(directory, address)
      await writeFile(keyFile, pair.privateKey, { mode: 0o600 })
      devices.push(await openWireGuardGo(namespace, { device, keyFile, port: PORT, address }))
      // Set by route, because a namespace may choose as default only what the machine allows for all users.
      await namespace.run('ip', ['route', 'replace', `${SUBNET}.0/24`, 'dev', device, 'congctl', 'cubic'])
    }

    const allow = (peer: string, address: string): string[] => ['peer', peer, 'allowed-ips', `${address}/32`]
    for (const [pair, address] of [
      [keys.linux, LINUX],
      [keys.ours, OURS],
    ] as const)
      await server.run('wg', ['set', SERVER_DEVICE, ...allow(pair.publicKey, address)])
    const endpoint = `${DIRECT_SERVER}:${PORT}`
    await client.run('wg', ['set', CLIENT_DEVICE, ...allow(keys.server.publicKey, SERVER), 'endpoint', endpoint])
    const listening = await server.start(process.execPath, [script('tunnel-server.ts')])
    await listening.says(/listening/)

    const ours = {
      privateKey: keys.ours.privateKey,
      peer: keys.server.publicKey,
      address: OURS,
      endpoint: { address: server.address, port: PORT },
    }
    const runTask = async (task: ClientTask, prefix: string[]): Promise<ClientResult> => {
      const [command, ...args] = [...prefix, process.execPath, script('tunnel-client.ts'), JSON.stringify(task)]
      const { stdout } = await execute(command, args)
      return JSON.parse(/^result (.*)$/m.exec(stdout)![1]!) as ClientResult
    }
    return {
      linux: (measurement) =>
        runTask({ ...measurement, server: SERVER, beside: devices[1]!.pid }, ['ip', 'netns', 'exec', client.name]),
      ours: (measurement) => runTask({ ...measurement, server: SERVER, tunnel: ours }, []),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A cable from one namespace to the other. */
export async function cable(server: NetworkNamespace, client: NetworkNamespace): Promise<void> {
  await server.run('ip', ['link', 'add', 'direct', 'type', 'veth', 'peer', 'name', 'direct', 'netns', client.name])
  await server.run('ip', ['address', 'add', `${DIRECT_SERVER}/30`, 'dev', 'direct'])
  await client.run('ip', ['address', 'add', `${DIRECT_CLIENT}/30`, 'dev', 'direct'])
  for (const namespace of [server, client]) await namespace.run('ip', ['link', 'set', 'direct', 'up'])
}
