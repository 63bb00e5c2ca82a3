/** The kernel's form of an endpoint: sockaddr_in or sockaddr_in6 of Linux. */

import { networkInterfaces } from 'node:os'
import type { NetworkInterfaceInfo } from 'node:os'
import { formatAddress, parseAddress } from '../address.ts'
import type { Endpoint } from '../outputs.ts'

const AF_INET = 2
const AF_INET6 = 10
/** The prefix of an IPv4 address on a socket of both families (RFC 4291 §2.5.5.2). */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/**
 * A sockaddr for a socket of `family`; undefined for an address that only a resolver understands, such as one with a
 * zone.
 */
export function socketAddress({ address, port }: Endpoint, family: 4 | 6): Uint8Array | undefined {
  const parsed = parseAddress(address)
  if (parsed === undefined || (family === 4 && parsed.length !== 4)) return undefined
  const name = new Uint8Array(family === 4 ? 16 : 28)
  const view = new DataView(name.buffer)
  view.setUint16(0, family === 4 ? AF_INET : AF_INET6, true)
  view.setUint16(2, port)
  if (family === 4) name.set(parsed, 4)
  else if (parsed.length === 16) name.set(parsed, 8)
  else name.set([...MAPPED, ...parsed], 8)
  return name
}

/**
 * Reads an endpoint that the kernel wrote at `at`: an IPv4 address stays one on a socket of both families, and a zone
 * gets its interface's name.
 */
export function readSocketAddress(view: DataView, at: number): Endpoint {
  const port = view.getUint16(at + 2)
  const bytes = (from: number, length: number): Uint8Array => new Uint8Array(view.buffer, at + from, length)
  if (view.getUint16(at, true) === AF_INET) return { address: formatAddress(bytes(4, 4)), port }
  const address = bytes(8, 16)
  if (MAPPED.every((byte, i) => byte === address[i])) return { address: formatAddress(bytes(20, 4)), port }
  const zone = view.getUint32(at + 24, true)
  return { address: formatAddress(address) + (zone === 0 ? '' : `%${interfaceName(zone)}`), port }
}

const interfaceNames = new Map<number, string>()

/** Cached, because anyone on the link can cause the look-up. */
function interfaceName(index: number): string {
  let name = interfaceNames.get(index)
  if (name === undefined) {
    name = findInterfaceName(index) ?? String(index)
    interfaceNames.set(index, name)
  }
  return name
}

function findInterfaceName(index: number): string | undefined {
  try {
    const isIt = (address: NetworkInterfaceInfo): boolean => address.family === 'IPv6' && address.scopeid === index
    return Object.entries(networkInterfaces()).find(([, addresses]) => addresses?.some(isIt))?.[0]
  } catch {
    // No descriptor is free for the system call.
    return undefined
  }
}
