/**
 * wireguard-go in one namespace, and two ways to it: a second wireguard-go in a second namespace, or our interface on
 * the host, each over a veth pair of its own. Needs root, TUN and Debian's packages; `whatIsMissing` says which.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PublicKey } from '@hedgerow/wireguard'
import { generateKeyPair, openInterface, type WireGuardInterface } from '@hedgerow/wireguard/node'
import { createNetworkNamespace, type NetworkNamespace } from '../test/harness/network-namespace.ts'
import { missingPrivilege } from '../test/harness/privileges.ts'
import { openWireGuardGo } from '../test/harness/wireguard-go.ts'

const PORT = 51_820
export const [SERVER, LINUX, OURS] = ['10.78.0.1', '10.78.0.2', '10.78.0.3']
const [CABLE_SERVER, CABLE_CLIENT] = ['198.19.1.1', '198.19.1.2']
const [SERVER_DEVICE, CLIENT_DEVICE] = [`hws${process.pid}`, `hwc${process.pid}`]

export type Pair = {
  server: NetworkNamespace
  client: NetworkNamespace
  ours: WireGuardInterface
  /** Bytes of IP packets received from the tunnel on either Linux side. */
  receivedBy(side: 'server' | 'client'): Promise<number>
  /** The same on our side. */
  receivedByUs(): number
  remove(): Promise<void>
}

export const whatIsMissing = (): string | undefined =>
  missingPrivilege('root', 'tun', 'command ip', 'command wg', 'command wireguard-go')

export async function openPair(): Promise<Pair> {
  const directory = await mkdtemp(join(tmpdir(), 'hedgerow-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true })]
  const remove = async (): Promise<void> => {
    for (const stop of stops.toReversed()) await stop()
  }
  try {
    const [server, client] = [await createNetworkNamespace(), await createNetworkNamespace()]
    stops.push(server.remove, client.remove)
    await cable(server, client)
    const [serverKeys, clientKeys, ourKeys] = [generateKeyPair(), generateKeyPair(), generateKeyPair()]
    for (const [namespace, device, keys, address] of [
      [server, SERVER_DEVICE, serverKeys, SERVER],
      [client, CLIENT_DEVICE, clientKeys, LINUX],
    ] as const) {
      const keyFile = join(directory, address)
      await writeFile(keyFile, keys.privateKey, { mode: 0o600 })
      await openWireGuardGo(namespace, { device, keyFile, port: PORT, address })
    }
    const allow = (publicKey: PublicKey, address: string) => ['peer', publicKey, 'allowed-ips', `${address}/32`]
    await server.run('wg', ['set', SERVER_DEVICE, ...allow(clientKeys.publicKey, LINUX)])
    await server.run('wg', ['set', SERVER_DEVICE, ...allow(ourKeys.publicKey, OURS)])
    const endpoint = `${CABLE_SERVER}:${PORT}`
    await client.run('wg', ['set', CLIENT_DEVICE, ...allow(serverKeys.publicKey, SERVER), 'endpoint', endpoint])

    let receivedBytes = 0
    const ours = await openInterface({
      privateKey: ourKeys.privateKey,
      onPacket: (packet) => (receivedBytes += packet.length),
    })
    stops.push(() => ours.close())
    ours.addPeer({
      publicKey: serverKeys.publicKey,
      allowedIps: [`${SERVER}/32`],
      endpoint: { address: server.address, port: PORT },
    })

    return {
      server,
      client,
      ours,
      receivedByUs: () => receivedBytes,
      async receivedBy(side) {
        const [namespace, device] = side === 'server' ? [server, SERVER_DEVICE] : [client, CLIENT_DEVICE]
        return Number(await namespace.run('cat', [`/sys/class/net/${device}/statistics/rx_bytes`]))
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A cable from one namespace to the other. */
async function cable(server: NetworkNamespace, client: NetworkNamespace): Promise<void> {
  await server.run('ip', ['link', 'add', 'direct', 'type', 'veth', 'peer', 'name', 'direct', 'netns', client.name])
  for (const [namespace, address] of [
    [server, CABLE_SERVER],
    [client, CABLE_CLIENT],
  ] as const) {
    await namespace.run('ip', ['address', 'add', `${address}/30`, 'dev', 'direct'])
    await namespace.run('ip', ['link', 'set', 'direct', 'up'])
  }
}
