import { isIPv6 } from 'node:net'
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import type { Config } from '../config.ts'

type Interfaces = NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>

/**
 * The network interfaces of this machine; empty where the system hides them, as in a unit that allows no AF_NETLINK.
 */
export function machineInterfaces(): Interfaces {
  try {
    return networkInterfaces()
  } catch {
    return {}
  }
}

/**
 * The hub's addresses for people on other machines and for gateways: only its public one if it has one, else one for
 * each address of this machine that it listens on. Empty when it listens for this machine only.
 */
export function addressesForOthers(
  { host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>,
  { port, httpsPort }: { port: number; httpsPort: number | undefined },
  interfaces: Interfaces,
): string[] {
  if (publicUrl !== undefined) return [publicUrl]
  const own = Object.values(interfaces).flatMap((addresses = []) => addresses)
  const outside = own.filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address))
  const isListenedOn = ({ address, family }: (typeof own)[number]) =>
    host === undefined || host === '::' || (host === '0.0.0.0' ? family === 'IPv4' : host === address)
  const listening = outside.filter(isListenedOn).map(({ address }) => address)
  const hosts = [...new Set(listening)].map((address) => (isIPv6(address) ? `[${address}]` : address))
  return hosts.flatMap((name) => [
    `http://${name}:${port}`,
    ...(httpsPort === undefined ? [] : [`https://${name}:${httpsPort}`]),
  ])
}

/** The address for links in messages. */
export function portalUrlOf(config: Pick<Config, 'host' | 'publicUrl'>, port: number): string {
  const ports = { port, httpsPort: undefined }
  return addressesForOthers(config, ports, machineInterfaces())[0] ?? `http://localhost:${port}`
}
