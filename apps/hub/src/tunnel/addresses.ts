/**
 * The tunnel's addresses: pure IPv4 CIDR arithmetic, strict about how an address is written (four decimal numbers
 * without leading zeros). The hub has the first address of the network; gateways get the lowest free one after it.
 */
export type Network = {
  /** `a.b.c.d/n`, host bits clear. */
  cidr: string
  prefixLength: number
  /** The hub's own address. */
  hubAddress: string
  /** As numbers: the network's own address and its broadcast address, which no host may have. */
  first: number
  last: number
}

const OCTET = /^(0|[1-9]\d{0,2})$/
/** At least room for the hub and one gateway; at most the largest private network (RFC 1918). */
const PREFIX_LENGTH_MIN = 8
const PREFIX_LENGTH_MAX = 30

/** An address as a number below 2^32; undefined for any other spelling. */
export function parseIpv4(text: string): number | undefined {
  const octets = text.split('.')
  if (octets.length !== 4) return undefined
  let address = 0
  for (const octet of octets) {
    if (!OCTET.test(octet) || Number(octet) > 255) return undefined
    address = address * 256 + Number(octet)
  }
  return address
}

export function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

/** A network of /8 to /30 whose host bits are clear; undefined for anything else. */
export function parseNetwork(cidr: string): Network | undefined {
  const [address = '', length = '', rest] = cidr.split('/')
  const first = parseIpv4(address)
  if (first === undefined || rest !== undefined || !OCTET.test(length)) return undefined
  const prefixLength = Number(length)
  if (prefixLength < PREFIX_LENGTH_MIN || prefixLength > PREFIX_LENGTH_MAX) return undefined
  const size = 2 ** (32 - prefixLength)
  if (first % size !== 0) return undefined
  return { cidr, prefixLength, hubAddress: formatIpv4(first + 1), first, last: first + size - 1 }
}

/** Whether a gateway may have this address in this network: neither its ends nor the hub's own. */
export function isGatewayAddress(network: Network, text: string): boolean {
  const address = parseIpv4(text)
  return address !== undefined && address > network.first + 1 && address < network.last
}

/** The lowest address that a gateway may have and that is not in `taken`; undefined when there is none. */
export function lowestFreeAddress(network: Network, taken: ReadonlySet<string>): string | undefined {
  for (let address = network.first + 2; address < network.last; address++) {
    const text = formatIpv4(address)
    if (!taken.has(text)) return text
  }
  return undefined
}

/** The addresses that are taken: all, or those `among` these. */
export type ReadTaken = (among?: readonly string[]) => Promise<ReadonlySet<string>>

/** By pool: the last given address, and how many were taken then. All lower addresses were taken too. */
const givenLast = new WeakMap<object, { cidr: string; address: string; count: number }>()
const TRIED_AT_ONCE = 64

/**
 * The lowest free address, without reading all of them each time; undefined when there is none. `count` is the number
 * of taken ones.
 */
export async function giveLowestFree(
  network: Network,
  { pool, count, readTaken }: { pool: object; count: number; readTaken: ReadTaken },
): Promise<string | undefined> {
  const last = givenLast.get(pool)
  // Exactly one more is taken: that address is, and none became free. Otherwise all are read.
  const isNext = last?.cidr === network.cidr && last.count + 1 === count
  const tried = isNext ? addressesAfter(network, last.address) : []
  const takenOfTried = tried.length > 0 ? await readTaken(tried) : new Set<string>()
  const address =
    tried.find((candidate) => !takenOfTried.has(candidate)) ?? lowestFreeAddress(network, await readTaken())
  if (address !== undefined) givenLast.set(pool, { cidr: network.cidr, address, count })
  return address
}

function addressesAfter(network: Network, text: string): string[] {
  const next = (parseIpv4(text) ?? network.last) + 1
  const room = Math.max(0, network.last - next)
  return Array.from({ length: Math.min(TRIED_AT_ONCE, room) }, (_, i) => formatIpv4(next + i))
}
