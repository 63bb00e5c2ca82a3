import { BlockList, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** An IPv4 network of the device, with the device's own address in it. */
export type OwnNetwork = { address: string; netmask: string }

export function ownNetworks(): OwnNetwork[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ family, internal, address, netmask }) =>
      family === 'IPv4' && !internal ? [{ address, netmask }] : [],
    ),
  )
}

/** The private networks of RFC 1918; others may be anybody's. */
export function isPrivateAddress(address: string): boolean {
  return isIPv4(address) && PRIVATE.check(address)
}

const PRIVATE = new BlockList()
PRIVATE.addSubnet('10.0.0.0', 8)
PRIVATE.addSubnet('172.16.0.0', 12)
PRIVATE.addSubnet('192.168.0.0', 16)

const LARGEST_MASK = numberOf('255.255.255.0')

/** The other addresses of a network; of a large one the 254 around the device. */
export function neighboursOf({ address, netmask }: OwnNetwork): string[] {
  const own = numberOf(address)
  const mask = (numberOf(netmask) | LARGEST_MASK) >>> 0
  const [first, last] = [(own & mask) >>> 0, (own | ~mask) >>> 0]
  const hosts: string[] = []
  for (let host = first + 1; host < last; host++) if (host !== own) hosts.push(textOf(host))
  return hosts
}

export function isIn({ address, netmask }: OwnNetwork, other: string): boolean {
  const mask = numberOf(netmask)
  return isIPv4(other) && ((numberOf(address) ^ numberOf(other)) & mask) === 0
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) >>> 0
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((bits) => (address >>> bits) & 255).join('.')
}
