/**
 * The networks that an address belongs to. Every limit, fair queue and list of sources counts by these, so that all of
 * them agree on what one source is. Pure.
 */
import { isIP } from 'node:net'
import { canonicalAddress } from './source-address.ts'

/**
 * `share`: how many times the narrowest network's share such a network may have. A customer's IPv6 network is a /64 at
 * least and a /48 at most (RFC 6177), and has more neighbours the wider it is.
 */
export type Network = { cidr: string; share: number }
type Level = { bits: number; share: number }

const LIMITED: Record<4 | 6, readonly Level[]> = {
  4: [{ bits: 32, share: 1 }],
  6: [
    { bits: 64, share: 1 },
    { bits: 56, share: 1.5 },
    { bits: 48, share: 2 },
  ],
}
/**
 * One provider's network holds many unrelated customers, so no limit counts by it; it decides only which entry of a
 * full queue is dropped.
 */
const PROVIDERS: Record<4 | 6, Level> = { 4: { bits: 24, share: 4 }, 6: { bits: 32, share: 4 } }

/** The networks that limits count by, narrowest first. */
export function networksOf(address: string): Network[] {
  return namesOf(address, (family) => LIMITED[family])
}

/** The networks of `networksOf`, and the provider's. */
export function crowdsOf(address: string): Network[] {
  return namesOf(address, (family) => [...LIMITED[family], PROVIDERS[family]])
}

/** The smallest network that counts: an IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  return networksOf(address)[0]?.cidr ?? address
}

/** What one customer of a provider has at most: an IPv4 address, or the /48 of an IPv6 address. */
export function customerOf(address: string): string {
  return networksOf(address).at(-1)?.cidr ?? address
}

/**
 * The index of the entry to drop from a full queue. `queue` has the `crowdsOf` each entry in order of arrival, the
 * newcomer last. The crowd is the network with the most entries for its share; within it, the fullest of the narrower
 * networks; its newest entry is dropped. So a crowd excludes itself, and newcomers from elsewhere get in. When every
 * address is alone, the first one is dropped.
 */
export function whoGivesWay(queue: readonly (readonly Network[])[]): number {
  const entries = queue.map((networks, index) => ({ index, networks }))
  const counts = new Map<string, { count: number; crowding: number }>()
  for (const { networks } of entries)
    for (const { cidr, share } of networks) {
      const count = (counts.get(cidr)?.count ?? 0) + 1
      counts.set(cidr, { count, crowding: count / share })
    }
  const [crowd] = [...counts].reduce((most, one) => (one[1].crowding > most[1].crowding ? one : most))
  if (counts.get(crowd)?.count === 1) return 0

  let left = entries.filter(({ networks }) => networks.some(({ cidr }) => cidr === crowd))
  for (let level = (left[0]?.networks.length ?? 0) - 1; level >= 0; level--) {
    const groups = Map.groupBy(left, ({ networks }) => networks[level]?.cidr)
    left = [...groups.values()].reduce((most, group) => (group.length >= most.length ? group : most))
  }
  return left.at(-1)?.index ?? 0
}

function namesOf(address: string, levelsOf: (family: 4 | 6) => readonly Level[]): Network[] {
  const canonical = canonicalAddress(address)
  // A request without a socket has no address.
  if (canonical === undefined) return [{ cidr: address, share: 1 }]
  if (isIP(canonical) === 4) return levelsOf(4).map(({ bits, share }) => ({ cidr: network4(canonical, bits), share }))
  const groups = groupsOf(canonical)
  return levelsOf(6).map(({ bits, share }) => ({ cidr: network6(groups, bits), share }))
}

function network4(address: string, bits: number): string {
  if (bits === 32) return address
  return `${address
    .split('.')
    .slice(0, bits / 8)
    .join('.')}${'.0'.repeat(4 - bits / 8)}/${bits}`
}

function network6(groups: readonly number[], bits: number): string {
  const prefix = groups.slice(0, Math.ceil(bits / 16))
  const last = prefix.length - 1
  prefix[last] = (prefix[last] ?? 0) & (0xffff << (prefix.length * 16 - bits)) & 0xffff
  while (prefix.at(-1) === 0) prefix.pop()
  return `${prefix.map((group) => group.toString(16)).join(':')}::/${bits}`
}

/** The eight groups of an IPv6 address in its canonical spelling. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const groups = (text: string) =>
    text
      .split(':')
      .filter(Boolean)
      .flatMap((group) => {
        if (!group.includes('.')) return [Number.parseInt(group, 16)]
        const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
        return [a * 256 + b, c * 256 + d]
      })
  const [left, right] = [groups(head), groups(tail ?? '')]
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}
