/**
 * Trusted addresses and ranges, and whether a request came from one of them. Spelling is strict (as for `net.isIP`),
 * every address has one form (`::ffff:a.b.c.d` is `a.b.c.d`), and an IPv6 range never contains an IPv4 address. Pure.
 */
import { BlockList, isIP } from 'node:net'
import { canonicalAddress } from '../access/source-address.ts'

/** How many leading bits of a mapped address precede its IPv4 part (RFC 4291 §2.5.5.2). */
const MAPPED_PREFIX_LENGTH = 96

type Range = { address: string; prefixLength: number; family: 'ipv4' | 'ipv6' }

/** The one spelling of an address; undefined for an invalid one or one with a zone. */
export function canonicalIp(text: string): string | undefined {
  return text.includes('%') ? undefined : canonicalAddress(text)
}

/** The one spelling of `address/prefix`; undefined for an invalid one. */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text)
  return range && `${range.address}/${range.prefixLength}`
}

/** Whether two ranges hold the same addresses, in any spelling. */
export function isSameRange(one: string, other: string): boolean {
  const [a, b] = [parseRange(one), parseRange(other)]
  if (!a || !b || a.family !== b.family || a.prefixLength !== b.prefixLength) return false
  return blockListOf([a]).check(b.address, b.family)
}

export type TrustedSource = { kind: 'address' | 'range'; entry: string }
/** The entry that contains this address; undefined when none does. */
export type FindTrusted = (address: string) => TrustedSource | undefined

/** Ignores invalid entries. */
export function createFindTrusted(lists: { ipWhitelist: string[]; networkRanges: string[] }): FindTrusted {
  const addresses = new Map(lists.ipWhitelist.map((entry) => [canonicalIp(entry), entry]))
  const ranges = lists.networkRanges.flatMap((entry) => {
    const range = parseRange(entry)
    return range ? [{ ...range, entry }] : []
  })
  const all = blockListOf(ranges)

  return (text) => {
    const address = canonicalIp(text)
    if (address === undefined) return undefined
    const listed = addresses.get(address)
    if (listed !== undefined) return { kind: 'address', entry: listed }
    const family = familyOf(address)
    if (!all.check(address, family)) return undefined
    const found = ranges.find((range) => range.family === family && blockListOf([range]).check(address, family))
    return found && { kind: 'range', entry: found.entry }
  }
}

function parseRange(text: string): Range | undefined {
  const [written = '', length = '', ...rest] = text.split('/')
  const address = canonicalIp(written)
  if (address === undefined || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined
  const family = familyOf(address)
  const isMapped = family === 'ipv4' && isIP(written) === 6
  const prefixLength = Number(length) - (isMapped ? MAPPED_PREFIX_LENGTH : 0)
  if (prefixLength < 0 || prefixLength > (family === 'ipv4' ? 32 : 128)) return undefined
  return { address, prefixLength, family }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function blockListOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList()
  for (const { address, prefixLength, family } of ranges) list.addSubnet(address, prefixLength, family)
  return list
}
