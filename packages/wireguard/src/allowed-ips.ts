/**
 * Cryptokey routing (§2): which peer a destination belongs to, and which a source must come from. Longest prefix wins.
 * One hash table per prefix length in use, so a fleet of /32s costs one look-up however large it is.
 */

import type { Prefix } from './address.ts'
import { formatPrefix, maskOfByte } from './address.ts'

const V4_HEADER = 20
const V6_HEADER = 40

type Table<Owner> = { length: number; entries: Map<string | number, { owner: Owner; text: string }> }
type Family<Owner> = Table<Owner>[]

export type AllowedIps<Owner> = {
  /** A prefix belongs to one owner: inserting it again moves it. */
  insert(prefix: Prefix, owner: Owner): void
  removeOwner(owner: Owner): void
  /** The owner of the address of 4 or 16 bytes at `offset` in `bytes`. */
  lookup(bytes: Uint8Array, offset: number, size: 4 | 16): Owner | undefined
  /** Canonical text, in the order of insertion. */
  prefixesOf(owner: Owner): string[]
}

export function createAllowedIps<Owner>(): AllowedIps<Owner> {
  const v4: Family<Owner> = []
  const v6: Family<Owner> = []
  const byOwner = new Map<Owner, Map<string, Prefix>>()

  function insert(prefix: Prefix, owner: Owner): void {
    const family = prefix.address.length === 4 ? v4 : v6
    let table = family.find(({ length }) => length === prefix.length)
    if (table === undefined) {
      table = { length: prefix.length, entries: new Map() }
      family.push(table)
      family.sort((a, b) => b.length - a.length)
    }
    const key = keyOf(prefix.address, 0, prefix.address.length, prefix.length)
    const text = formatPrefix(prefix)
    const before = table.entries.get(key)
    if (before !== undefined) byOwner.get(before.owner)?.delete(text)
    table.entries.set(key, { owner, text })
    const owned = byOwner.get(owner) ?? new Map<string, Prefix>()
    byOwner.set(owner, owned.set(text, prefix))
  }

  function removeOwner(owner: Owner): void {
    for (const { address, length } of byOwner.get(owner)?.values() ?? []) {
      const family = address.length === 4 ? v4 : v6
      const index = family.findIndex((table) => table.length === length)
      const entries = family[index]?.entries
      entries?.delete(keyOf(address, 0, address.length, length))
      if (entries?.size === 0) family.splice(index, 1)
    }
    byOwner.delete(owner)
  }

  function lookup(bytes: Uint8Array, offset: number, size: 4 | 16): Owner | undefined {
    for (const { length, entries } of size === 4 ? v4 : v6) {
      const entry = entries.get(keyOf(bytes, offset, size, length))
      if (entry !== undefined) return entry.owner
    }
    return undefined
  }

  return { insert, removeOwner, lookup, prefixesOf: (owner) => [...(byOwner.get(owner)?.keys() ?? [])] }
}

/** The bytes under the mask: one integer for IPv4, one character for each byte of IPv6. */
function keyOf(bytes: Uint8Array, offset: number, size: number, length: number): string | number {
  if (size === 4) {
    const address =
      ((bytes[offset] ?? 0) << 24) |
      ((bytes[offset + 1] ?? 0) << 16) |
      ((bytes[offset + 2] ?? 0) << 8) |
      (bytes[offset + 3] ?? 0)
    // A shift by 32 is one by 0.
    return length === 0 ? 0 : address & (-1 << (32 - length))
  }
  let key = ''
  for (let i = 0; i * 8 < length; i++) key += String.fromCharCode((bytes[offset + i] ?? 0) & maskOfByte(length, i))
  return key
}

export type InnerPacket = {
  /** Bytes of the packet itself: what follows is padding. */
  length: number
  addressSize: 4 | 16
  sourceOffset: number
  destinationOffset: number
}

const v4Offsets = { addressSize: 4, sourceOffset: 12, destinationOffset: 16 } as const
const v6Offsets = { addressSize: 16, sourceOffset: 8, destinationOffset: 24 } as const

/**
 * Reads the fields of an IPv4 or IPv6 packet that routing needs; undefined when its header or its length cannot be
 * right.
 */
export function readInnerPacket(packet: Uint8Array): InnerPacket | undefined {
  const version = (packet[0] ?? 0) >> 4
  if (version === 4 && packet.length >= V4_HEADER) {
    const length = ((packet[2] ?? 0) << 8) | (packet[3] ?? 0)
    return length >= V4_HEADER && length <= packet.length ? { length, ...v4Offsets } : undefined
  }
  if (version === 6 && packet.length >= V6_HEADER) {
    const length = V6_HEADER + (((packet[4] ?? 0) << 8) | (packet[5] ?? 0))
    return length <= packet.length ? { length, ...v6Offsets } : undefined
  }
  return undefined
}
